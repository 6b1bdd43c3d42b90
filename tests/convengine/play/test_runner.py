"""Worlds of a few lines, played for real: what passes, what fails and how it is told."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from convengine.play import database
from convengine.play.runner import CAPABILITIES, Failure, RunOptions, ScenarioReport, run
from convengine.server.deployment import conf
from convengine.server.interfaces.turn_reader import turn_reader

pytestmark = pytest.mark.django_db(transaction=True)

INTENT = {"intent_code": "FAQ", "description": "Questions"}
CLASSIFIER = {"intent_code": "FAQ", "state_code": "IDLE", "rule_type": "REGEX", "pattern": "fees"}
RESPONSE = {"intent_code": "FAQ", "state_code": "IDLE", "response_type": "EXACT", "exact_text": "No fees."}
UNKNOWN = {"intent_code": "UNKNOWN", "state_code": "UNKNOWN", "response_type": "EXACT", "exact_text": "Sorry?"}
TABLES: dict[str, list[dict[str, Any]]] = {
    "ce_intent": [INTENT],
    "ce_intent_classifier": [CLASSIFIER],
    "ce_response": [RESPONSE, UNKNOWN],
}
#: Asked for the intent where no classifier hits, and never sure.
UNSURE = {"when": {"purpose": "intent"}, "reply": {"intent": "FAQ", "confidence": 0.1}}
ASKS = {"phase": "POST_CLASSIFIER_INTENT", "rule_type": "EXACT", "match_pattern": "ANY", "action": "SET_TASK"}


def rule(**values: Any) -> dict[str, Any]:
    return {"intent_code": "ANY", "state_code": "ANY", "rule_type": "EXACT", "match_pattern": "ANY", **values}


def play_turns(folder: Path, *turns: dict[str, Any], replay: bool = True, **world: Any) -> ScenarioReport:
    path = folder / "world.yaml"
    tables = {**TABLES, **world.pop("tables", {})}
    written = {"id": "world", "title": "W", "tables": tables, "llm": [UNSURE], "turns": list(turns), **world}
    path.write_text(yaml.safe_dump(written))
    with database.allow_emptying():
        return run(path, RunOptions(replay=replay))


def test_a_world_that_holds_passes(tmp_path: Path) -> None:
    report = play_turns(tmp_path, {"user": "fees", "expect": {"response": {"equals": "No fees."}, "intent": "FAQ"}})

    assert (report.outcome, report.failures) == ("passed", [])


def test_what_does_not_hold_is_told_with_turn_place_expected_and_got(tmp_path: Path) -> None:
    report = play_turns(
        tmp_path,
        {"user": "fees", "expect": {"intent": "FAQ"}},
        {"user": "fees", "expect": {"intent": "OTHER", "state": "X"}},
    )

    assert report.outcome == "failed"
    assert report.failures == [
        Failure(2, "expect.intent", "OTHER", "FAQ"),
        Failure(2, "expect.state", "X", "IDLE"),
    ]


def test_a_file_that_is_no_scenario_fails_and_says_why(tmp_path: Path) -> None:
    report = play_turns(tmp_path, {"user": "fees", "expect": {"intnt": "FAQ"}})

    assert report.outcome == "failed"
    assert report.failures[0].where == "file"
    assert report.failures[0].actual.startswith("turns[0].expect.intnt: unknown key `intnt`")


def test_rows_that_cannot_be_stored_fail_the_file(tmp_path: Path) -> None:
    report = play_turns(tmp_path, {"user": "fees"}, tables={"ce_intent": [INTENT, INTENT]})

    assert [(failure.turn, failure.where) for failure in report.failures] == [(None, "tables")]


@pytest.mark.parametrize(
    "world",
    [
        {"conversation": {"intent_code": ""}},
        {"conversation": {"last_turn_no": 10**30}},
        {
            "tables": {
                "ce_policy": [{"policy_id": 10**30, "rule_type": "REGEX", "pattern": "x", "response_text": "No."}]
            }
        },
    ],
)
def test_a_beginning_that_cannot_be_stored_fails_the_file(tmp_path: Path, world: Any) -> None:
    report = play_turns(tmp_path, {"user": "fees"}, **world)

    assert [(failure.turn, failure.where) for failure in report.failures] == [(None, "tables")]


def test_an_edit_that_cannot_be_stored_fails_its_turn(tmp_path: Path) -> None:
    report = play_turns(
        tmp_path, {"user": "fees"}, {"user": "fees", "before": [{"insert": "ce_intent", "row": INTENT}]}
    )

    assert [(failure.turn, failure.where) for failure in report.failures] == [(2, "before")]


def test_a_scenario_that_requires_what_the_product_does_not_declare_is_skipped(tmp_path: Path) -> None:
    report = play_turns(tmp_path, {"user": "fees", "expect": {"intent": "WRONG"}}, requires=["b", "a", *CAPABILITIES])

    assert (report.outcome, report.reason, report.failures) == ("skipped", "requires a, b", [])


def test_the_product_declares_that_force_signals_beat_collection(tmp_path: Path) -> None:
    assert play_turns(tmp_path, {"user": "fees"}, requires=["force_beats_collection"]).outcome == "passed"


def test_shipped_rows_are_gone(tmp_path: Path) -> None:
    report = play_turns(
        tmp_path,
        {"user": "hm", "expect": {"http_status": 500, "error": {"code": "RESPONSE_MAPPING_NOT_FOUND"}}},
        tables={"ce_response": [RESPONSE]},
    )

    assert report.failures == []


def test_each_conversation_has_its_own_state(tmp_path: Path) -> None:
    sets = rule(phase="PRE_RESPONSE_RESOLUTION", action="SET_INPUT_PARAM", action_value='{"seen": true}')
    report = play_turns(
        tmp_path,
        {"user": "fees", "expect": {"input_params": {"seen": True}}},
        {"user": "hm", "conversation": "b", "expect": {"intent": "UNKNOWN"}},
        {"user": "hm", "conversation": "a", "expect": {"intent": "UNKNOWN"}},
        {"user": "hm", "expect": {"persisted": {"intent_code": "FAQ"}}},
        tables={"ce_rule": [{**sets, "intent_code": "FAQ"}]},
    )

    assert report.failures == []


def test_the_conversation_begins_as_the_file_says(tmp_path: Path) -> None:
    start = {"intent_code": "FAQ", "state_code": "IDLE", "context": {"a": 1}, "input_params": {"vip": True}}
    report = play_turns(
        tmp_path,
        {"user": "fees", "expect": {"context": {"$.a": 1}, "input_params": {"vip": True, "tier": "gold"}},
         "input_params": {"tier": "gold"}},
        {"user": "fees", "reset": True, "expect": {"context": {"$.a": {"absent": True}}}},
        conversation=start,
    )  # fmt: skip

    assert report.failures == []


def test_a_conversation_may_have_a_past(tmp_path: Path) -> None:
    past = [{"user": "hi", "assistant": "Hello."}, {"user": "fees", "assistant": "No fees."}]
    report = play_turns(
        tmp_path,
        {"user": "fees", "expect": {"intent": "FAQ", "persisted": {"last_turn_no": 3, "turn_count": 3}}},
        conversation={"intent_code": "FAQ", "state_code": "IDLE", "history": past},
    )

    assert report.failures == []


def test_a_turn_may_have_no_message(tmp_path: Path) -> None:
    assert play_turns(tmp_path, {"user": None, "expect": {"intent": "UNKNOWN"}}).failures == []


def test_edits_are_live_on_the_next_turn(tmp_path: Path) -> None:
    changed = {"update": "ce_response", "where": {"intent_code": "FAQ"}, "set": {"exact_text": "Five euros."}}
    report = play_turns(
        tmp_path,
        {"user": "fees", "expect": {"response": {"equals": "No fees."}}},
        {"user": "fees", "before": [changed], "expect": {"response": {"equals": "Five euros."}}},
        {"user": "fees", "before": [{"delete": "ce_intent_classifier", "where": {}}], "expect": {"intent": "FAQ"}},
        {"user": "fees", "conversation": "b", "expect": {"intent": "UNKNOWN"}},
    )

    assert report.failures == []


TASK = rule(phase="PRE_RESPONSE_RESOLUTION", action="SET_TASK", action_value="mail:send")
SENDS = {"bean": "mail", "method": "send", "returns": {"ok": True}, "sets_context": {"sent": True}}


def test_a_scripted_task_runs_and_is_counted_for_its_turn_only(tmp_path: Path) -> None:
    report = play_turns(
        tmp_path,
        {"user": "fees", "expect": {"task_calls": [{"bean": "mail", "method": "send"}], "context": {"$.sent": True}}},
        {"user": "hm", "conversation": "b", "expect": {"task_calls": []}},
        tables={"ce_rule": [{**TASK, "intent_code": "FAQ"}]},
        tasks=[SENDS],
    )

    assert report.failures == []


def test_a_task_that_raises_is_counted_as_called(tmp_path: Path) -> None:
    report = play_turns(
        tmp_path,
        {"user": "fees", "expect": {"task_calls": [{"bean": "mail", "method": "send"}],
         "audit_stages_in_order": [{"stage": "RULE_ERROR", "payload": {"$.errorMessage": {"contains": "no route"}}}]}},
        tables={"ce_rule": [TASK]},
        tasks=[{"bean": "mail", "method": "send", "raises": "no route"}],
    )  # fmt: skip

    assert report.failures == []


@pytest.mark.parametrize("tasks", [[], [{**SENDS, "method": "other"}]])
def test_a_task_without_a_stub_is_an_unscripted_call(tmp_path: Path, tasks: list[Any]) -> None:
    report = play_turns(tmp_path, {"user": "fees"}, tables={"ce_rule": [TASK]}, tasks=tasks)

    assert [(failure.turn, failure.where) for failure in report.failures] == [(1, "unscripted call")]
    assert "mail" in report.failures[0].actual


ACTION = {
    "intent_code": "FAQ",
    "state_code": "IDLE",
    "action_key": "send",
    "bean_name": "mail",
    "method_names": "send",
}


@pytest.mark.parametrize("tasks", [[], [{**SENDS, "method": "other"}]])
def test_an_action_without_a_stub_is_an_unscripted_call(tmp_path: Path, tasks: list[Any]) -> None:
    report = play_turns(
        tmp_path,
        {"user": "yes", "expect": {"task_calls": [], "input_params": {"pending_action_result": "FAILED"}}},
        tables={"ce_pending_action": [ACTION]},
        conversation={"intent_code": "FAQ", "state_code": "IDLE"},
        tasks=tasks,
    )

    assert [(failure.turn, failure.where) for failure in report.failures] == [(1, "unscripted call")]
    assert "mail" in report.failures[0].actual


def test_settings_and_levels_of_the_world_are_in_force_and_no_others(tmp_path: Path, settings: Any) -> None:
    settings.CONVENGINE = {**settings.CONVENGINE, "SETTING_DEFAULTS": {("AUDIT", "LEVEL"): "ERROR_ONLY"}}
    standard = {"audit": {"level": "STANDARD", "persist_meta": False}}

    report = play_turns(
        tmp_path,
        {"user": "fees", "expect": {"audit_stages_absent": ["STEP_ENTER"], "audit_stages_in_order": ["ENGINE_RETURN"],
                                    "audit_meta_absent": True}},
        settings=standard,
    )  # fmt: skip

    assert report.failures == []
    assert conf.get("SETTING_DEFAULTS") == {("AUDIT", "LEVEL"): "ERROR_ONLY"}


def test_a_rate_limit_of_the_world_is_in_force(tmp_path: Path) -> None:
    limit = {"audit": {"rate_limit": {"enabled": True, "max_events": 1, "window_ms": 60_000}}}

    expect = {"audit_counts": {"STEP_ENTER": 1}}
    assert play_turns(tmp_path, {"user": "fees", "expect": expect}, settings=limit, replay=False).failures == []


def test_each_turn_is_replayed_when_asked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(turn_reader(), "find_replay_difference", lambda record: Differs())

    replayed = play_turns(tmp_path, {"user": "fees"})
    assert replayed.failures == [Failure(1, "replay, event 3", ("A", {}), None)]
    assert play_turns(tmp_path, {"user": "fees"}, replay=False).outcome == "passed"


class Differs:
    seq = 3
    recorded = ("A", {})
    replayed = None


def test_a_turn_that_says_why_it_cannot_be_replayed_is_left_alone(tmp_path: Path) -> None:
    assert play_turns(tmp_path, {"user": "fees", "input_params": {"token": "secret"}}).outcome == "passed"


def test_a_world_does_not_see_the_one_before_it(tmp_path: Path) -> None:
    play_turns(
        tmp_path,
        {"user": "fees"},
        tables={"ce_policy": [{"rule_type": "REGEX", "pattern": ".", "response_text": "No."}]},
    )

    assert play_turns(tmp_path, {"user": "fees", "expect": {"intent": "FAQ"}}).failures == []
