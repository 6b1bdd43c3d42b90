"""*Teach this*: an unknown message becomes a phrase, tried before it is live."""

from typing import Any

import pytest
from django.contrib.auth.models import Permission, User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from audit.inbox.job import update_inbox
from audit.models import CeAccessLog, CeInboxGroup
from config_admin.models import CeDraft, CeIntentClassifier
from config_admin.releases import head
from config_admin.releases.change_set import change_set
from convengine.engine.turn.turn import TurnRequest
from convengine.engine.understanding.phrases import models
from convengine.server.admin_site.record_columns import teach_url
from convengine.server.phrase_models.store import DatabaseStore
from convengine.server.sessions.models import CeConversation, CeConversationHistory
from convengine.server.turns.take_turn import take_turn
from tests.sign_in import sign_in
from tests.worlds import create_help_desk

pytestmark = pytest.mark.django_db


@pytest.fixture
def analyst() -> Client:
    return sign_in("ann", "analyst", "qa")


@pytest.fixture
def group() -> CeInboxGroup:
    create_help_desk()
    CeIntentClassifier.objects.create(
        intent_code="FEES", state_code="IDLE", rule_type="PHRASE", pattern="how much is the monthly membership"
    )
    for text in ("library memberships", "library memberships", "library membershp"):
        take_turn(TurnRequest(str(CeConversation().conversation_id), text))
    list(update_inbox())
    return CeInboxGroup.objects.get()


def send(client: Client, url: str, **values: Any) -> Any:
    """Send the page as a browser would: what it shows, with other values."""
    shown = client.get(url) if "tried" not in values else None
    context = shown.context if shown else {}
    sent = {"reason": "asked twice"}
    if shown:
        sent["phrase"] = [phrase.text for phrase in context["choice"].phrases]
        sent["use"] = [str(number) for number in range(len(sent["phrase"]))]
        sent["intent"] = context["choice"].intent
        sent["tried"] = context["effect"].digest if context.get("effect") else ""
    return client.post(url, sent | values)


def test_a_group_is_taught_with_one_more_click(analyst: Client, group: CeInboxGroup) -> None:
    url = teach_url(group=group.pk, intent="FEES")
    page = analyst.get(url)
    assert page.context["suggestions"][0].intent == "FEES"
    assert [message.text for message in page.context["effect"].changed] == [
        "library memberships",
        "library membershp",
    ]
    before = head.newest()
    answer = send(analyst, url, _save="1")
    assert (answer.status_code, answer["Location"]) == (302, reverse("admin:audit_ceaudit_inbox"))
    assert head.newest() == before + 1
    assert CeIntentClassifier.objects.filter(pattern="library memberships", state_code="IDLE").exists()
    group.refresh_from_db()
    assert (group.status, group.decision) == ("UNDERSTOOD", "Taught as FEES by ann")
    list(update_inbox())
    group.refresh_from_db()
    assert group.status == "UNDERSTOOD"


def test_taught_phrases_are_compared_with_the_others_when_somebody_asks(analyst: Client, group: CeInboxGroup) -> None:
    url = teach_url(group=group.pk, intent="FEES")
    CeIntentClassifier.objects.create(
        intent_code="HOURS", state_code="IDLE", rule_type="PHRASE", pattern="what time is it"
    )
    assert analyst.get(url).context["compared"] is None

    page = send(analyst, url, _compare="1")

    compared = page.context["compared"]
    assert {phrase.text for phrase in compared.new} == {"library memberships", "library membershp"}
    assert {phrase.intent for phrase in compared.new} == {"Hours"}
    assert b"Nearest other intent" in page.content
    assert b'name="_save"' in page.content


def test_a_comparison_takes_the_same_queries_for_any_number_of_phrases(
    analyst: Client, group: CeInboxGroup, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(models, "_models", models._Models())
    models.use_store(DatabaseStore())
    url = teach_url(group=group.pk, intent="FEES")

    def count() -> int:
        sent = {"intent": "FEES", "phrase": ["library memberships"], "use": ["0"], "_compare": "1"}
        # What a new release takes once is not the comparison's.
        analyst.post(url, sent)
        with CaptureQueriesContext(connection) as queries:
            assert analyst.post(url, sent).context["compared"].new
        return len(queries)

    texts = [f"what time is it in city {number}" for number in range(40)]
    CeIntentClassifier.objects.create(intent_code="HOURS", state_code="IDLE", rule_type="PHRASE", pattern=texts.pop())
    few = count()
    with change_set(reason="phrases"):
        CeIntentClassifier.objects.bulk_create(
            CeIntentClassifier(intent_code="HOURS", state_code="IDLE", rule_type="PHRASE", pattern=text)
            for text in texts
        )
    assert count() == few


def test_what_was_not_tried_is_not_saved(analyst: Client, group: CeInboxGroup) -> None:
    url, before = teach_url(group=group.pk, intent="FEES"), head.newest()
    answer = send(analyst, url, _save="1", intent="HOURS")
    assert answer.context["is_outdated"]
    assert send(analyst, url, _save="1", reason=" ").context["reason_missing"]
    assert send(analyst, url, _save="1", more="another wording").context["is_outdated"]
    assert head.newest() == before


def test_phrases_are_added_to_a_draft(analyst: Client, group: CeInboxGroup) -> None:
    url, before = teach_url(group=group.pk, intent="FEES"), head.newest()
    asked = send(analyst, url, _to_draft="1")
    assert (asked.status_code, b"Save in a draft" in asked.content) == (409, True)
    answer = send(analyst, url, _to_draft="1", _draft_title="Membership")
    assert answer.status_code == 302
    assert (head.newest(), CeDraft.objects.get().edits.count()) == (before, 2)
    group.refresh_from_db()
    assert (group.status, group.decision) == ("OPEN", "Taught as FEES in the draft “Membership” by ann")


def test_any_intent_is_chosen_by_its_name(analyst: Client, group: CeInboxGroup) -> None:
    url = teach_url(group=group.pk)
    assert "effect" not in analyst.get(url).context
    tried = send(analyst, url, intent="other", other="HOURS (HOURS)", _try="1")
    assert tried.context["effect"].lesson.intent == "HOURS"
    typed = send(analyst, url, intent="FEES", other="HOURS (HOURS)", _try="1")
    assert typed.context["effect"].lesson.intent == "HOURS"
    back = send(analyst, url, intent="FEES", other="HOURS (HOURS)", other_before="HOURS (HOURS)", _try="1")
    assert back.context["effect"].lesson.intent == "FEES"
    wrong = send(analyst, url, intent="other", other="HOUR", _try="1")
    assert wrong.context["choice"].problem == "No intent is called “HOUR”. Did you mean HOURS?"
    none = send(analyst, url, intent="HOURS", use=[], _try="1")
    assert none.context["choice"].problem == "Tick at least one wording, or write one."


def test_a_turn_is_taught_and_its_reading_is_logged(analyst: Client, group: CeInboxGroup) -> None:
    turn = CeConversationHistory.objects.get(user_input="library membershp")
    url = teach_url(message_of=turn.pk, intent="FEES")
    assert send(analyst, url, _save="1")["Location"].endswith("/FEES/workspace/")
    assert CeAccessLog.objects.filter(kind="ROW", conversation_id=turn.conversation_id, reader="ann").exists()
    again = analyst.get(url)
    assert again.context["choice"].problem == "The intent has these phrases already."


def test_only_who_reads_messages_and_adds_phrases_teaches(group: CeInboxGroup) -> None:
    url = teach_url(group=group.pk)
    assert sign_in("quinn", "qa").get(url).status_code == 403
    assert sign_in("nobody").get(url).status_code == 403
    writer = sign_in("abe")
    User.objects.get(username="abe").user_permissions.set(
        Permission.objects.filter(codename="add_ceintentclassifier", content_type__app_label="config_admin")
    )
    blind = writer.get(f"{url}&intent=FEES")
    assert b"You may not read messages." in blind.content
    assert b"membersh" not in blind.content


def test_a_group_that_does_not_exist_is_said(analyst: Client) -> None:
    for values in ({"group": 99}, {"message_of": 99}, {"message_of": "x"}, {}):
        assert b"There is no message to teach here." in analyst.get(teach_url(**values)).content


def test_a_phrase_that_is_switched_off_is_named_instead_of_saved_twice(analyst: Client, group: CeInboxGroup) -> None:
    row = CeIntentClassifier.objects.create(
        intent_code="FEES", state_code="IDLE", rule_type="PHRASE", pattern="library memberships", enabled=False
    )
    url = teach_url(group=group.pk, intent="FEES")

    answer = send(analyst, url, _save="1")

    problem = f"The intent has “library memberships” (phrase {row.pk}) already, switched off."
    assert answer.context["choice"].problem.startswith(problem)
    assert f'href="/admin/config_admin/ceintentclassifier/{row.pk}/change/">Open the row' in answer.content.decode()
    assert CeIntentClassifier.objects.filter(pattern="library memberships").count() == 1
    wording = {"phrase": ["library membershp"], "use": ["0"], "intent": "FEES"}
    tried = analyst.post(url, wording).context["effect"].digest
    analyst.post(url, wording | {"tried": tried, "reason": "a wording more", "_save": "1"})
    assert CeIntentClassifier.objects.filter(pattern="library membershp").exists()
