"""Scenario files are played before they are offered; what fails is refused in plain words."""

import subprocess
from typing import Any

import pytest

from audit.export.scenario import trial
from audit.export.scenario.recorded_turns import NotExportable

DOCUMENT = {"id": "a-talk", "title": "A talk", "model": False, "turns": [{"user": "hi", "expect": {"success": True}}]}


def refusal(monkeypatch: Any, where: str, expected: Any, got: Any, turn: int | None = 1) -> str:
    failure = {"turn": turn, "where": where, "expected": expected, "got": got}
    monkeypatch.setattr(trial, "_play", lambda document: [failure])
    with pytest.raises(NotExportable) as refused:
        trial.check_scenario(DOCUMENT, [4])
    return str(refused.value)


@pytest.mark.long
def test_a_file_is_played_in_a_process_of_its_own() -> None:
    answer = {"response": {"equals": "Never said."}}

    with pytest.raises(NotExportable, match=r"^Turn 4 does not play as it was recorded: "):
        trial.check_scenario({**DOCUMENT, "turns": [{"user": "hi", "expect": answer}]}, [4])


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
def test_the_reason_names_the_turn_and_the_difference(
    monkeypatch: Any, where: str, expected: Any, got: Any, words: str
) -> None:
    text = refusal(monkeypatch, where, expected, got)

    assert text.startswith("Turn 4 does not play as it was recorded: ")
    assert words in text
    assert "so the file is not offered" in text


def test_rows_that_cannot_be_stored_are_named(monkeypatch: Any) -> None:
    text = refusal(monkeypatch, "tables", "rows", "ce_rule: no", None)

    assert text == "The rows of the release cannot be stored in a scenario: “ce_rule: no”."


def test_a_process_that_takes_too_long_or_dies_is_a_refusal(monkeypatch: Any) -> None:
    def expire(*args: Any, **options: Any) -> Any:
        raise subprocess.TimeoutExpired("scenarios", 1)

    def die(*args: Any, **options: Any) -> Any:
        return subprocess.CompletedProcess([], 1, "", "Traceback")

    for run, words in ((expire, "Playing 1 turns took more than"), (die, "The file could not be played")):
        monkeypatch.setattr(subprocess, "run", run)
        with pytest.raises(NotExportable, match=words):
            trial.check_scenario(DOCUMENT, [1])
