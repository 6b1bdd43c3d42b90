"""The pages that run turns again, and the file that is saved from them, as somebody of QA opens them."""

import re
from typing import Any

import pytest
import yaml
from django.test import Client
from django.urls import reverse

from audit.export.scenario import document as scenario_document
from audit.models import CeAccessLog, CeAudit
from config_admin.models import CeResponse
from convengine.engine.turn.codec import loads
from convengine.play.expectations import Miss
from convengine.server.extensions.registry import TaskEntry, registry
from convengine.server.sessions.models import CeConversationHistory, CePendingActionExecution
from convengine.server.threads.hand_over import answer_as_person
from tests.api import Caller
from tests.record import change_payload, events
from tests.sign_in import sign_in

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("changeable_turns")]


@pytest.fixture
def qa() -> Client:
    return sign_in("quentin", "qa")


def page(client: Client, caller: Caller, path: str) -> str:
    """The words of a page."""
    response: Any = client.get(f"/admin/audit/ceaudit/{caller.conversation_id}/{path}")
    assert response.status_code == 200, response
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", response.content.decode()))


def test_a_turn_is_equal_on_its_own_release_whatever_changed_since(caller: Caller, qa: Client) -> None:
    caller.say("hours")
    CeResponse.objects.all().delete()

    assert "All 79 events and the answer are the same." in page(qa, caller, "turn/1/replay/")
    kinds = CeAccessLog.objects.order_by("access_id").values_list("reader", "kind", "turn_no")
    assert list(kinds) == [("quentin", "REPLAY", 1)]


def test_a_record_that_says_otherwise_is_shown_beside_what_the_turn_does(caller: Caller, qa: Client) -> None:
    caller.say("hours")
    (event,) = events("RESPONSE_EXACT", turn_no=1)
    change_payload(caller.conversation_id, 1, event.seq, text="Ten to six.")

    text = page(qa, caller, "turn/1/replay/")

    assert "1 of" in text
    assert "The stored record or the program has changed." in text
    assert "RESPONSE_EXACT" in text


def test_nothing_is_written_and_no_effect_is_caused(caller: Caller, qa: Client) -> None:
    caller.say("hours")
    registry.add_task("counter", TaskEntry({"run": lambda call: pytest.fail("called")}))
    before = [CeAudit.objects.count(), CeConversationHistory.objects.count(), CePendingActionExecution.objects.count()]

    page(qa, caller, "turn/1/replay/")

    registry.tasks.pop("counter")
    after = [CeAudit.objects.count(), CeConversationHistory.objects.count(), CePendingActionExecution.objects.count()]
    assert after == before


def test_all_turns_of_a_conversation_stand_in_a_list(caller: Caller, qa: Client) -> None:
    caller.say("hours")
    caller.say("fees")
    CeConversationHistory.objects.filter(turn_no=2).update(replayable=False, replay_note="REDACT_KEYS took a part.")

    text = page(qa, caller, "replay/")

    assert "1 of 2 turns have the same events." in text
    assert "REDACT_KEYS took a part." in text


def test_an_answer_from_outside_is_the_same(caller: Caller, qa: Client) -> None:
    caller.say("hours")
    answer_as_person(caller.conversation_id, "default", "Ada here.", "Ada")
    caller.say("fees")

    assert "3 of 3 turns have the same events." in page(qa, caller, "replay/")
    assert "same result" in (text := page(qa, caller, "turn/2/replay/"))
    assert "The answer came from outside, so nothing ran again." in text


def test_another_release_is_tried_with_what_if_of_the_conversation(caller: Caller, qa: Client) -> None:
    caller.say("hours")
    address = f"{reverse('admin:audit_ceaudit_what_if')}?id={caller.conversation_id}"

    assert address in qa.get(f"/admin/audit/ceaudit/{caller.conversation_id}/replay/").content.decode()
    assert f'value="{caller.conversation_id}"' in qa.get(address).content.decode()


def test_a_turn_is_saved_as_a_file(caller: Caller, qa: Client) -> None:
    caller.say("hours")
    caller.say("fees")

    response = qa.get(f"/admin/audit/ceaudit/{caller.conversation_id}/scenario/?first=2&last=2")

    assert response["Content-Disposition"].endswith('-turns-2-2.yaml"')
    document = yaml.safe_load(response.content)
    assert [turn["user"] for turn in document["turns"]] == ["fees"]
    assert document["id"] in response["Content-Disposition"]
    assert CeAccessLog.objects.get().kind == "SCENARIO"


def test_a_file_that_does_not_pass_is_not_offered(caller: Caller, qa: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    miss = Miss("expect.response.equals", "Ten.", "Twelve.")
    monkeypatch.setattr(scenario_document, "find_misses", lambda expect, turn: [miss])
    caller.say("hours")
    caller.say("fees")

    response = qa.get(f"/admin/audit/ceaudit/{caller.conversation_id}/scenario/?first=2&last=2")

    assert "Content-Disposition" not in response
    assert "Turn 2 does not play as it was recorded: the answer is “Twelve.”, and was “Ten.”." in (
        response.content.decode()
    )


def test_turns_that_cannot_be_saved_say_why(caller: Caller, qa: Client) -> None:
    caller.say("hours")
    CeConversationHistory.objects.update(replayable=False, replay_note="REDACT_KEYS took a part.")

    response = qa.get(f"/admin/audit/ceaudit/{caller.conversation_id}/scenario/")

    assert response["Content-Type"].startswith("text/html")
    assert "Turn 1 cannot be played again: REDACT_KEYS took a part." in response.content.decode()
    wrong = qa.get(f"/admin/audit/ceaudit/{caller.conversation_id}/scenario/?first=x")
    assert "is not a turn number" in wrong.content.decode()


def test_a_conversation_becomes_a_test_without_its_configuration(qa: Client, caller: Caller) -> None:
    caller.say("hours")
    caller.say("fees")
    page = qa.get(f"/admin/audit/ceaudit/{caller.conversation_id}/scenario/?as=test&first=1&last=1")
    document = loads(page.context["scenario"])
    assert not document.keys() & {"tables", "settings", "id"}
    assert document["turns"][0]["expect"].keys() >= {"intent", "state", "response"}
    editor = qa.post(page.context["test_url"], {"document": page.context["scenario"]})
    assert b"as expected" in editor.content
    assert b"not as expected" not in editor.content
