"""Who is erased leaves no word behind, the chain stays whole, and what only looks like it is found."""

import uuid
from io import StringIO
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest
from django.apps import apps
from django.contrib.auth.models import User
from django.core.management import call_command
from django.core.management.base import CommandError
from django.db import models, transaction
from django.utils import timezone

from audit.erasure import erase
from audit.erasure.erase import EraseOrder
from audit.feedback.store import FeedbackInput, store_feedback
from audit.integrity import anchor, verify
from audit.models import CeAccessLog, CeAudit, CeErasure, CeLedger, CeSavedSearch, CeTurnIndex
from audit.record.retention import cut_row
from audit.record.turn_log import add_outside
from audit.seal import ERASED, Seal
from convengine.engine.errors import ConversationClosed
from convengine.engine.steps.tools.stages import MCP_USER_FEEDBACK
from convengine.server.channels.models import CeChannel, CeChannelMessage, CeOptOut
from convengine.server.database.sql import database_time
from convengine.server.queued.models import CeQueuedMessage
from convengine.server.sessions.models import CeConversation, CeConversationHistory, CeThread
from tests.api import Caller
from tests.threads import rename_participant
from tests.worlds import create_help_desk

pytestmark = [pytest.mark.django_db, pytest.mark.dialects, pytest.mark.usefixtures("changeable_turns")]
ADA = EraseOrder("ada", "Article 17, ticket 4711")
SECRET = "Rumpelstiltskin"
#: Tables that name conversations and that erasing need not empty itself: they hold nothing of anybody.
_KEPT = {
    "CeErasure",
    "CeLedger",
    "CeChainBase",
    "CeAccessLog",
    "CeConversation",
    "CeConversationHistory",
    "CeAudit",
    "CeLlmCallLog",
    # It has what an erased turn keeps: intent, form, hour.
    "CeOutcome",
    # Its own app erases it.
    "CeTestCase",
}


@pytest.fixture
def caller() -> Caller:
    create_help_desk()
    found = Caller()
    for text in ("hours", f"my name is {SECRET}", "fees"):
        found.say(text, inputParams={"name": SECRET})
    rename_participant(found.conversation_id, SECRET)
    CeThread.objects.create(workspace_id="default", channel="api", remote_jid=SECRET)
    CeQueuedMessage.objects.create(
        message_id=found.conversation_id,
        conversation_id=found.conversation_id,
        order_key=found.conversation_id,
        request={"message": SECRET},
        created_at=timezone.now(),
        next_attempt_at=timezone.now(),
    )
    CeAccessLog.objects.create(reader="ben", kind="SEARCH", search=f"participant={SECRET}")
    return found


def erase_ada(caller: Caller, **options: Any) -> None:
    for _ in erase.erase_participant(SECRET, ADA, **options):
        pass


def findings(caller: Caller) -> list[tuple[str, int | None]]:
    return [(one.code, one.turn_no) for one in verify.verify_conversation(uuid.UUID(caller.conversation_id)).findings]


def dump_all_values() -> str:
    """All values of all tables, as one text."""
    kept = []
    for model in apps.get_models():
        if model._meta.app_label in ("audit", "ce_sessions", "ce_executors", "ce_webhooks", "ce_queued", "ce_channels"):
            kept += [str(list(model._default_manager.values_list()))]
    return "\n".join(kept)


def test_nothing_of_the_person_is_left_and_the_chain_is_whole(caller: Caller) -> None:
    assert SECRET in dump_all_values()
    heads = list(CeConversation.objects.values_list("chain_head", flat=True))

    erase_ada(caller)

    assert SECRET not in dump_all_values()
    report = verify.verify_conversation(uuid.UUID(caller.conversation_id))
    assert report.findings == []
    assert (report.turns, report.erased) == (3, 3)
    assert list(CeConversation.objects.values_list("chain_head", flat=True)) == heads
    assert list(CeConversationHistory.objects.values_list("status", flat=True)) == ["OK"] * 3
    assert CeTurnIndex.objects.exists()
    sealed = CeConversationHistory.objects.values_list("seal", flat=True)
    assert all(Seal.read(seal).cuts == ERASED for seal in sealed)


def test_the_erasure_itself_is_recorded(caller: Caller) -> None:
    erase_ada(caller)

    row = CeErasure.objects.get()
    assert (row.by, row.reason, row.last_turn_no) == ("ada", "Article 17, ticket 4711", 3)
    assert row.is_genuine()
    event = CeAudit.objects.get()
    assert (event.stage, event.turn_no, event.payload_json["by"]) == ("DATA_ERASED", None, "ada")
    assert CeConversationHistory.additions.count() == 1


def test_an_erasure_does_not_cover_that_the_channel_was_forged(caller: Caller) -> None:
    CeConversation.objects.update(channel="sms")
    erase_ada(caller)

    assert findings(caller) == [("CONVERSATION_CHANGED", None)]


def test_an_anchor_of_before_still_fits(caller: Caller, tmp_path: Any) -> None:
    call_command("audit_anchor", str(tmp_path / "heads"), stdout=StringIO())
    erase_ada(caller)

    assert list(anchor.compare_anchor(tmp_path / "heads")) == []


def test_what_was_begun_is_ended_by_whoever_comes_next(caller: Caller, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(erase, "TURNS_PER_TRANSACTION", 1)
    work = erase.erase_participant(SECRET, ADA)
    for counts in work:
        if "turns" in counts:
            break
    work.close()
    assert findings(caller) == []
    assert CeConversationHistory.objects.exclude(user_input=None).count() == 2

    for _ in erase.finish_erasures():
        pass

    assert SECRET not in dump_all_values()
    assert findings(caller) == []
    assert erase.list_unfinished() == []


def test_erasing_twice_is_erasing_once(caller: Caller) -> None:
    for _ in range(2):
        for _ in erase.erase_conversation(uuid.UUID(caller.conversation_id), ADA):
            pass

    assert CeErasure.objects.count() == 1
    assert CeAudit.objects.count() == 1
    with pytest.raises(erase.NothingToErase):
        list(erase.erase_conversation(uuid.uuid4(), ADA))


def test_an_erased_conversation_takes_no_turn(caller: Caller) -> None:
    erase_ada(caller)

    assert caller.post({"conversationId": caller.conversation_id, "message": "hours"}).json()["errorCode"] == (
        "CONVERSATION_CLOSED"
    )


def test_nobody_rates_what_was_erased(caller: Caller) -> None:
    erase_ada(caller)

    with pytest.raises(ConversationClosed, match="erased"):
        store_feedback(
            uuid.UUID(caller.conversation_id), None, "participant", FeedbackInput("THUMBS_UP", comment=SECRET)
        )
    assert SECRET not in dump_all_values()


def test_what_is_told_after_an_erasure_is_erased_with_it_and_is_no_damage(caller: Caller) -> None:
    erase_ada(caller)
    with transaction.atomic():
        add_outside([(caller.conversation_id, MCP_USER_FEEDBACK, {"comment": SECRET})], database_time(), 1)

    for _ in erase.finish_erasures():
        pass

    assert SECRET not in dump_all_values()
    assert findings(caller) == []
    assert erase.list_unfinished() == []
    assert [row.reason for row in CeErasure.objects.all()] == ["Article 17, ticket 4711"] * 2


def test_searches_go_as_they_stand_in_addresses(caller: Caller) -> None:
    name = "+49 151/7"
    CeConversation.objects.filter(pk=caller.conversation_id).update(remote_jid=name)
    asked, other = urlencode({"participant": name}), urlencode({"participant": "+49 2"})
    ada = User.objects.create_user("ada")
    for number, query in enumerate((asked, other)):
        CeAccessLog.objects.create(reader="ben", kind="SEARCH", search=query)
        CeSavedSearch.objects.create(name=str(number), owner=ada, query=query)

    for _ in erase.erase_participant(name, ADA):
        pass

    assert set(CeAccessLog.objects.values_list("search", flat=True)) == {"", other, f"participant={SECRET}"}
    assert list(CeSavedSearch.objects.values_list("query", flat=True)) == [other]


def test_an_erasure_cuts_certain_searches_and_lists_the_others(caller: Caller) -> None:
    participant = "Anna Schmidt"
    CeThread.objects.create(workspace_id="default", channel="whatsapp", remote_jid=participant)
    certain, maybe, other = (
        CeAccessLog.objects.create(reader="ben", kind="SEARCH", search=f"participant={name}")
        for name in ("anna+schmidt", "anna", "joanna")
    )
    saved = CeSavedSearch.objects.create(name="hers", owner=User.objects.create_user("ben"), query="participant=anna")
    assert verify.verify_other_tables().findings == []

    list(erase.erase_participant(participant, ADA))

    texts = dict(CeAccessLog.objects.values_list("pk", "search"))
    assert (texts[certain.pk], texts[maybe.pk], texts[other.pk]) == ("", "participant=anna", "participant=joanna")
    listed = [entry.details["undecided"] for entry in CeLedger.objects.all() if "undecided" in entry.details]
    assert listed == [[maybe.pk], [saved.pk]]
    assert verify.verify_other_tables().findings == []

    for option, row in (("--searches", maybe), ("--saved-searches", saved)):
        options = [option, str(row.pk), "--by", "ada", "--reason", "she asked", "--yes"]
        call_command("audit_erase", *options, stdout=StringIO())
    assert CeAccessLog.objects.get(pk=maybe.pk).search == ""
    assert not CeSavedSearch.objects.exists()
    assert verify.verify_other_tables().findings == []


@pytest.mark.parametrize("whole", [True, False])
def test_searches_with_words_of_erased_turns_are_to_be_decided_whatever_the_participant_is_called(whole: bool) -> None:
    create_help_desk()
    guest, other = Caller(), Caller()
    guest.say("My fees go to Ottilie Quist, 12 Larkspur Lane, order 48392")
    other.say("hours for Bogdan")
    queries = {
        "q=quist": True,
        "text=larkspur+lane": True,
        "participant=ottilie": True,
        "text=ottil*": True,
        "q=order+48392": True,
        "query=refund+QUIST": True,
        "q=fees": False,
        "q=no+fees": False,
        "text=bogdan": False,
        "q=my": False,
        "q=quis": False,
        "intent=QUIST": False,
    }
    entries = {CeAccessLog.objects.create(reader="ben", kind="SEARCH", search=query).pk: query for query in queries}
    saved = CeSavedSearch.objects.create(name="hers", owner=User.objects.create_user("ben"), query="text=quist")
    key = uuid.UUID(guest.conversation_id)
    participant = CeConversation.objects.get(pk=key).remote_jid
    for _ in range(2):
        list(erase.erase_participant(participant, ADA) if whole and participant else erase.erase_conversation(key, ADA))

    listed: dict[str, list[int]] = {}
    for entry in CeLedger.objects.filter(kind=CeLedger.Kind.ERASURE):
        listed.setdefault(entry.table_name, []).extend(entry.details.get("undecided", []))
    expected = [query for query, is_listed in queries.items() if is_listed]
    assert sorted(entries[pk] for pk in listed["ce_access_log"]) == sorted(expected)
    assert listed["ce_saved_search"] == [saved.pk]
    assert verify.verify_other_tables().findings == []


def test_an_edit_that_looks_like_an_erasure_is_found(caller: Caller) -> None:
    record = CeConversationHistory.objects.get(turn_no=2)
    silent = dict.fromkeys(
        ("user_input", "assistant_output", "facts", "recording", "error_message", "replay_note", "events")
    )
    cut_row(record, silent, ERASED)

    assert findings(caller) == [("ERASED_WITHOUT_RECORD", 2)]
    CeErasure.objects.create(
        conversation_id=caller.conversation_id, by="eve", reason="none", last_turn_no=3, last_addition=0, proof="0" * 64
    )
    assert findings(caller) == [("ERASED_WITHOUT_RECORD", 2)]


def test_words_put_into_an_erased_turn_are_found(caller: Caller) -> None:
    erase_ada(caller)
    CeConversationHistory.objects.filter(turn_no=2).update(user_input="I agree.")

    assert findings(caller) == [("RECORD_CHANGED", 2)]


def test_every_table_that_names_conversations_is_known_to_erasing() -> None:
    naming = {
        model.__name__
        for model in apps.get_models()
        if any(field.name in ("conversation", "conversation_id") for field in model._meta.get_fields())
        and not isinstance(model._meta.pk, models.ForeignKey)
    }
    source = Path(erase.__file__).read_text()

    assert {name for name in naming if name not in source and name not in _KEPT} == set()


def test_the_command_says_first_and_does_when_told_so(caller: Caller) -> None:
    out = StringIO()
    options = ["--participant", SECRET, "--by", "ada", "--reason", "asked"]
    call_command("audit_erase", *options, stdout=out)
    assert "1 conversation would be erased" in out.getvalue()
    assert not CeErasure.objects.exists()

    call_command("audit_erase", *options, "--yes", stdout=out)
    assert "3 turns" in out.getvalue()
    assert SECRET not in dump_all_values()
    with pytest.raises(CommandError, match="Nothing is stored"):
        call_command("audit_erase", *options, "--yes")


def test_waiting_messages_of_the_person_are_erased(caller: Caller) -> None:
    CeQueuedMessage.objects.create(
        message_id=uuid.uuid4(),
        order_key=uuid.uuid4(),
        thread={"workspace_id": "default", "channel": "shop", "remote_jid": SECRET, "opener": None},
        request={"message": "my secret is 42"},
        created_at=timezone.now(),
        next_attempt_at=timezone.now(),
    )

    erase_ada(caller)

    assert not CeQueuedMessage.objects.exists()


@pytest.fixture
def channel(db: None) -> CeChannel:
    """A channel that sent messages to the participant and another one, who both opted out."""
    channel = CeChannel.objects.create(name="shop", provider="telegram")
    for recipient in (SECRET, "somebody else"):
        CeOptOut.objects.create(channel=channel, recipient=recipient, created_at=timezone.now())
        send_on(channel, recipient)
    return channel


def send_on(channel: CeChannel, recipient: str, conversation_id: str = "") -> None:
    CeChannelMessage.objects.create(
        channel=channel,
        source_id=uuid.uuid4(),
        part=0,
        conversation_id=conversation_id,
        recipient=recipient,
        text=f"Hello {recipient}",
        body={"text": f"Hello {recipient}"},
        created_at=timezone.now(),
        next_attempt_at=timezone.now(),
    )


def list_recipients() -> list[set[str]]:
    return [set(table.objects.values_list("recipient", flat=True)) for table in (CeChannelMessage, CeOptOut)]


def test_messages_and_the_opt_out_of_the_person_are_erased(caller: Caller, channel: CeChannel) -> None:
    send_on(channel, "another name of the same person", caller.conversation_id)

    erase_ada(caller)

    assert list_recipients() == [{"somebody else"}, {"somebody else"}]
    assert SECRET not in dump_all_values()


@pytest.mark.parametrize("within", [{"workspace": "another"}, {"channel": "another"}])
def test_messages_of_other_channels_stay(channel: CeChannel, within: dict[str, str]) -> None:
    with pytest.raises(erase.NothingToErase):
        list(erase.erase_participant(SECRET, ADA, **within))
    assert all(SECRET in recipients for recipients in list_recipients())


def test_a_person_of_whom_only_the_opt_out_is_stored_can_be_erased(channel: CeChannel) -> None:
    CeChannelMessage.objects.all().delete()

    list(erase.erase_participant(SECRET, ADA, "default", "shop"))

    assert list_recipients() == [set(), {"somebody else"}]


def test_the_erasure_of_one_conversation_leaves_the_opt_out(caller: Caller, channel: CeChannel) -> None:
    send_on(channel, SECRET, caller.conversation_id)

    list(erase.erase_conversation(uuid.UUID(caller.conversation_id), ADA))

    assert list(CeChannelMessage.objects.filter(recipient=SECRET).values_list("conversation_id", flat=True)) == [""]
    assert CeOptOut.objects.filter(recipient=SECRET).exists()
