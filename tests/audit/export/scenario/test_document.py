"""Scenario files are played before they are offered; what fails is refused in plain words."""

import subprocess
from typing import Any

import pytest

from audit.export.scenario import document as scenario_document
from audit.export.scenario.document import build_scenario
from audit.export.scenario.recorded_turns import NotExportable, read_recorded_turns
from config_admin.models import CeResponse
from config_admin.releases.change_set import change_set
from convengine.play.expectations import Miss
from convengine.server.sessions.models import CeConversation, CeConversationHistory
from tests.api import Caller
from tests.worlds import create_help_desk


def set_fees(text: str) -> None:
    with change_set():
        CeResponse.objects.filter(intent_code="FEES").update(exact_text=text)


@pytest.fixture
def conversation(db: None) -> CeConversation:
    """Two turns, with an edit between them."""
    create_help_desk()
    caller = Caller()
    caller.say("hours")
    set_fees("Ten.")
    caller.say("what fees are there")
    return CeConversation.objects.get(pk=caller.conversation_id)


def test_each_turn_is_played_on_its_release_in_this_process_and_stores_nothing(
    conversation: CeConversation, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(subprocess, "Popen", None)
    # What is live now does not count.
    set_fees("Twelve.")
    before = CeConversationHistory.objects.count()

    document = scenario_document.build_passing_scenario(conversation)

    assert [turn["expect"]["response"]["equals"] for turn in document["turns"]][1:] == ["Ten."]
    assert scenario_document.build_passing_scenario(conversation, 2)["turns"][0]["user"] == "what fees are there"
    assert CeConversationHistory.objects.count() == before


def test_an_answer_of_several_texts_is_expected_without_its_words(db: None) -> None:
    create_help_desk()
    set_fees("Ten.\n{% or %}\nIt is ten.")
    caller = Caller()
    caller.say("what fees are there")
    conversation = CeConversation.objects.get(pk=caller.conversation_id)

    [turn] = scenario_document.build_passing_scenario(conversation)["turns"]

    assert turn["expect"]["response"] == {"type": "TEXT"}


def test_a_turn_that_arrives_meanwhile_is_left_out(
    conversation: CeConversation, monkeypatch: pytest.MonkeyPatch
) -> None:
    def build(*given: Any) -> Any:
        Caller(conversation_id=str(conversation.pk)).say("hours")
        return build_scenario(*given)

    monkeypatch.setattr(scenario_document, "build_scenario", build)

    assert len(scenario_document.build_passing_scenario(conversation)["turns"]) == 2


def test_a_turn_that_plays_otherwise_is_named(conversation: CeConversation) -> None:
    document = build_scenario(conversation, read_recorded_turns(conversation, None, None), "saved")
    document["turns"][1]["expect"]["response"]["equals"] = "Never said."
    played = list(conversation.turns.order_by("turn_no").values_list("turn_no", "config_version"))

    with pytest.raises(NotExportable, match=r"Turn 2 does not .* the answer is “Ten.”, and was “N"):
        scenario_document.check_scenario(document, played, conversation)


@pytest.mark.parametrize(
    ("where", "expected", "got", "words"),
    [
        ("expect.response.equals", "Yes.", "No.", "the answer is “No.”, and was “Yes.”"),
        ("expect.state", "A", "B", "the state is “B”, and was “A”"),
        ("expect.task_calls", [], [{"bean": "a"}], "the list of task calls is “[{\"bean\": \"a\"}]”, and was “[]”"),
        ("expect.audit_stages_in_order[2]", "USER_INPUT", [], "the event “User input”, which is missing"),
        ("expect.http_status", 500, 200, "it failed, and succeeds when it is played"),
        ("expect.success", True, False, "it succeeded, and fails when it is played"),
        ("unscripted call", "an entry", "a call of tool x", "it makes a call that is not recorded, “a call of tool x”"),
    ],
)  # fmt: skip
def test_the_reason_names_the_turn_and_the_difference(where: str, expected: Any, got: Any, words: str) -> None:
    text = scenario_document._describe_failure(4, Miss(where, expected, got))

    assert text.startswith("Turn 4 does not play as it was recorded: ")
    assert words in text
    assert "so the file is not offered" in text
