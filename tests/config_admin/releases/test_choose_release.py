"""Conversations that are under way when a release comes, and gradual releases: real turns."""

import json
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from audit.replay.replay import find_replay_difference
from config_admin import models as m
from config_admin.drafts.open_draft import open_draft
from config_admin.drafts.publish_draft import publish_draft
from config_admin.releases import head
from config_admin.releases.active import Snapshots, snapshots
from config_admin.releases.audience import AudienceSpec
from config_admin.releases.change_set import change_set
from config_admin.releases.models import CeReleaseMove
from config_admin.releases.undo import revert_release, roll_back
from config_admin.transfer.files import export_configuration
from convengine.engine.turn.conversation import Conversation
from convengine.engine.turn.turn import TurnRequest
from convengine.server.sessions.models import CeConversation, CeConversationHistory
from convengine.server.turns.answer import TurnAnswer
from convengine.server.turns.take_turn import take_turn
from tests.api import make_key
from tests.record import events

pytestmark = [pytest.mark.django_db, pytest.mark.dialects]


def say(conversation_id: str, text: str) -> TurnAnswer:
    answer = take_turn(TurnRequest(conversation_id, text))
    assert isinstance(answer, TurnAnswer)
    return answer


def read_text(answer: TurnAnswer) -> Any:
    return answer.payload.value if answer.payload else answer.error


@pytest.fixture
def shop() -> None:
    """An intent whose state WEIGHING waits, and answers for each state."""
    with change_set():
        m.CeResponse.objects.all().delete()
        m.CeIntent.objects.create(intent_code="PARCEL", description="parcels")
        m.CeIntentClassifier.objects.create(
            intent_code="PARCEL", state_code="WEIGHING", rule_type="CONTAINS", pattern="parcel"
        )
        for intent, state, text in (
            ("PARCEL", "WEIGHING", "How heavy is it?"),
            ("PARCEL", "IDLE", "Your parcel is fine."),
            ("UNKNOWN", "UNKNOWN", "Pardon?"),
        ):
            add_response(intent, state, text)


def add_response(intent: str, state: str, text: str) -> None:
    m.CeResponse.objects.create(intent_code=intent, state_code=state, response_type="EXACT", exact_text=text)


def remove_state() -> int:
    with change_set():
        m.CeIntentClassifier.objects.filter(intent_code="PARCEL").update(state_code="IDLE")
        m.CeResponse.objects.filter(intent_code="PARCEL", state_code="WEIGHING").delete()
    return head.newest()


def rename_intent(old: str, new: str) -> None:
    created_at = m.CeIntent.objects.get(pk=old).created_at
    m.CeIntent.objects.filter(pk=old).delete()
    m.CeIntent.objects.bulk_create([m.CeIntent(intent_code=new, description="x")])
    m.CeIntent.objects.filter(pk=new).update(created_at=created_at)
    for model in (m.CeIntentClassifier, m.CeResponse):
        model.objects.filter(intent_code=old).update(intent_code=new)


def set_policy(value: str) -> None:
    with change_set():
        m.CeConfig.objects.create(config_type="Releases", config_key="RUNNING", config_value=value)


def last_turn(conversation_id: str) -> CeConversationHistory:
    return CeConversationHistory.objects.filter(conversation_id=conversation_id).latest("turn_no")


def test_no_open_conversation_fails_when_a_release_removes_its_state(shop: None) -> None:
    conversations = [str(uuid.uuid4()) for _ in range(50)]
    for conversation_id in conversations:
        assert read_text(say(conversation_id, "my parcel")) == "How heavy is it?"
    before, after = head.newest(), remove_state()

    answers = [say(conversation_id, "two kilos") for conversation_id in conversations]

    assert {read_text(answer) for answer in answers} == {"How heavy is it?"}
    assert {answer.config_version for answer in answers} == {before}
    chosen = events("RELEASE_CHOSEN", conversation_id=conversations[0])
    assert [event.payload_json["reason"] for event in chosen] == ["NO_ANSWER"]
    assert find_replay_difference(last_turn(conversations[0])) is None
    # A new conversation, and one that leaves the state, have the new release.
    assert say(str(uuid.uuid4()), "my parcel").config_version == after


def test_a_move_takes_them_to_the_new_state(shop: None) -> None:
    conversations = [str(uuid.uuid4()) for _ in range(50)]
    for conversation_id in conversations:
        say(conversation_id, "my parcel")
    after = remove_state()
    CeReleaseMove.objects.create(
        config_version=after, from_intent="PARCEL", from_state="WEIGHING", to_intent="PARCEL", to_state="IDLE"
    )
    answers = [say(conversation_id, "two kilos") for conversation_id in conversations]

    assert {(read_text(answer), answer.config_version) for answer in answers} == {("Your parcel is fine.", after)}
    (moved,) = events("CONVERSATION_MOVED", conversation_id=conversations[0])
    assert moved.payload_json["fromState"] == "WEIGHING"
    turn = last_turn(conversations[0])
    assert (turn.state_before, turn.state_code) == ("WEIGHING", "IDLE")
    assert find_replay_difference(turn) is None


def test_an_undone_release_moves_nobody(shop: None) -> None:
    conversation_id = str(uuid.uuid4())
    say(conversation_id, "my parcel")
    after = remove_state()
    CeReleaseMove.objects.create(
        config_version=after, from_intent="PARCEL", from_state="WEIGHING", to_intent="PARCEL", to_state="IDLE"
    )
    with change_set():
        add_response("PARCEL", "WEIGHING", "How heavy is it?")
        m.CeIntentClassifier.objects.filter(intent_code="PARCEL").update(state_code="WEIGHING")
    assert read_text(say(conversation_id, "two kilos")) == "How heavy is it?"
    assert not events("CONVERSATION_MOVED", conversation_id=conversation_id)


def test_a_conversation_that_waits_finishes_on_its_release(shop: None) -> None:
    set_policy("END_OF_FORM")
    waiting, idle = str(uuid.uuid4()), str(uuid.uuid4())
    say(waiting, "my parcel")
    say(idle, "what?")
    CeConversation.objects.filter(pk=waiting).update(lifecycle="AWAITING_USER")
    before = head.newest()
    m.CeResponse.objects.filter(state_code="WEIGHING").update(exact_text="What does it weigh?")
    m.CeResponse.objects.filter(state_code="UNKNOWN").update(exact_text="Sorry?")

    answer = say(waiting, "two kilos")
    assert (answer.config_version, read_text(answer)) == (before, "How heavy is it?")
    (chosen,) = events("RELEASE_CHOSEN", conversation_id=waiting)
    assert chosen.payload_json == {**chosen.payload_json, "reason": "END_OF_FORM", "newest": head.newest()}
    assert read_text(say(idle, "hm")) == "Sorry?"
    # It does not wait any more.
    CeConversation.objects.filter(pk=waiting).update(lifecycle="RUNNING")
    assert read_text(say(waiting, "two kilos")) == "What does it weigh?"


def test_a_session_stays_on_the_release_that_it_began_on(shop: None) -> None:
    set_policy("END_OF_SESSION")
    conversation_id = str(uuid.uuid4())
    say(conversation_id, "what?")
    before = head.newest()
    for text in ("Sorry?", "Excuse me?"):
        m.CeResponse.objects.filter(state_code="UNKNOWN").update(exact_text=text)
        assert (answer := say(conversation_id, "hm")).config_version == before
        assert read_text(answer) == "Pardon?"
    assert find_replay_difference(last_turn(conversation_id)) is None
    CeConversation.objects.filter(pk=conversation_id).update(lifecycle="COMPLETE")
    assert read_text(say(conversation_id, "hm")) == "Excuse me?"


def test_a_turn_on_an_older_release_costs_no_more_statements(shop: None) -> None:
    set_policy("END_OF_SESSION")
    conversation_id = str(uuid.uuid4())
    say(conversation_id, "what?")
    with CaptureQueriesContext(connection) as usual:
        say(conversation_id, "hm")
    m.CeResponse.objects.filter(state_code="UNKNOWN").update(exact_text="Sorry?")
    say(conversation_id, "hm")
    with CaptureQueriesContext(connection) as held:
        say(conversation_id, "hm")
    assert len(held) == len(usual)
    assert events("RELEASE_CHOSEN", conversation_id=conversation_id)


def test_an_older_release_that_cannot_be_loaded_stops_nobody(shop: None, monkeypatch: pytest.MonkeyPatch) -> None:
    set_policy("END_OF_SESSION")
    before, after, compile_snapshot = head.newest(), remove_state(), Snapshots._compile

    def refuse_older(self: Snapshots, key: Any, *rest: Any) -> Any:
        if key[0] == before:
            raise ValueError("unknown column")
        return compile_snapshot(self, key, *rest)

    monkeypatch.setattr(Snapshots, "_compile", refuse_older)
    row = Conversation("1", "default", "api", "ada", intent_code="PARCEL", state_code="WEIGHING")
    snapshot, choice = Snapshots().choose(head.read(), row, before)
    assert (snapshot.config_version, choice) == (after, None)


def rename_and_remove_state(old: str, new: str) -> None:
    """The intent gets another code, and its conversations lose their state."""
    m.CeResponse.objects.filter(state_code="WEIGHING").delete()
    m.CeIntentClassifier.objects.filter(intent_code=old).update(state_code="IDLE")
    rename_intent(old, new)


@pytest.mark.parametrize("audience", [None, AudienceSpec(channels=["api"])])
def test_no_conversation_fails_when_a_draft_renames_its_intent_and_removes_its_state(
    shop: None, audience: AudienceSpec | None
) -> None:
    conversation_id = str(uuid.uuid4())
    say(conversation_id, "my parcel")
    draft = m.CeDraft.objects.create(title="Rename")
    with open_draft(draft.pk, None, writing=True), change_set():
        rename_and_remove_state("PARCEL", "BOX")
    publish_draft(draft.pk, audience=audience)
    assert read_text(say(conversation_id, "two kilos")) == "How heavy is it?"


def import_file(tmp_path: Path, older: int, newer: int) -> None:
    file = tmp_path / "configuration.yaml"
    file.write_bytes(export_configuration(older, with_base=False))
    call_command("config_import", str(file), "--mode", "replace", "--apply", "--json")


def import_by_api(tmp_path: Path, older: int, newer: int) -> None:
    bundle = json.loads(export_configuration(older, form="json", with_base=False))
    call_api("import", bundle=bundle, mode="replace", reason="x", apply=True)


def restore_by_api(tmp_path: Path, older: int, newer: int) -> None:
    call_api(f"releases/{older}/restore", reason="x")


def call_api(path: str, **body: Any) -> None:
    headers = {"Authorization": f"Api-Key {make_key(scopes=['config'])}"}
    answer = Client().post(f"/api/v1/config/{path}", json.dumps(body), "application/json", headers=headers)
    assert answer.status_code == 200, answer.content


def restore_by_command(tmp_path: Path, older: int, newer: int) -> None:
    call_command("config_rollback", str(older))


def undo(tmp_path: Path, older: int, newer: int) -> None:
    revert_release(newer, checked=False)


def take_back_in_a_draft(tmp_path: Path, older: int, newer: int) -> None:
    draft = m.CeDraft.objects.create(title="Back")
    with open_draft(draft.pk, None, writing=True):
        roll_back(older, checked=False)
    publish_draft(draft.pk)


@pytest.mark.parametrize(
    "way", [import_file, import_by_api, restore_by_api, restore_by_command, undo, take_back_in_a_draft]
)
def test_no_open_conversation_fails_when_intent_and_state_are_changed_outside_of_a_draft(
    shop: None, tmp_path: Path, way: Callable[[Path, int, int], None]
) -> None:
    """For half of them the state goes too."""
    older = head.newest()
    with change_set():
        rename_intent("PARCEL", "BOX")
        m.CeResponse.objects.filter(intent_code="BOX", state_code="WEIGHING").update(state_code="ON_SCALE")
        m.CeIntentClassifier.objects.filter(intent_code="BOX").update(state_code="ON_SCALE")
    newer = head.newest()
    stranded, renamed = ([str(uuid.uuid4()) for _ in range(25)] for _ in range(2))
    for conversation_id in (*stranded, *renamed):
        assert say(conversation_id, "my parcel").session.intent == "BOX"
    CeConversation.objects.filter(pk__in=renamed).update(state_code="IDLE")

    way(tmp_path, older, newer)

    assert head.newest() > newer
    held = [say(conversation_id, "two kilos") for conversation_id in stranded]
    assert {(read_text(answer), answer.config_version) for answer in held} == {("How heavy is it?", newer)}
    moved = [say(conversation_id, "two kilos") for conversation_id in renamed]
    # A file has no times of creation, so that an import deletes one intent and adds another.
    is_import = way in (import_file, import_by_api)
    where = ("BOX", newer) if is_import else ("PARCEL", head.newest())
    assert {read_text(answer) for answer in moved} == {"Your parcel is fine."}
    assert {(answer.session.intent, answer.config_version) for answer in moved} == {where}
    assert find_replay_difference(last_turn(renamed[0])) is None


def test_a_conversation_whose_turns_are_removed_goes_on_under_the_new_code(shop: None) -> None:
    conversation_id = str(uuid.uuid4())
    say(conversation_id, "my parcel")
    older = head.newest()
    with change_set():
        rename_intent("PARCEL", "BOX")
    roll_back(older)
    CeConversation.objects.filter(pk=conversation_id).update(intent_code="BOX")
    row = Conversation("1", "default", "api", "ada", intent_code="BOX", state_code="WEIGHING", turn_count=3)
    _, choice = snapshots.choose(head.read(), row, None)
    assert choice is not None
    assert choice.move == ("PARCEL", "WEIGHING")
