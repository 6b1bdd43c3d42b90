from typing import Any

import pytest

from audit.record.implied import strip_implied, whole
from convengine.engine.pipeline.timing import NOBODY_ASKED, describe_steps
from convengine.engine.rules.phase_events import build_flags
from convengine.engine.turn.codec import to_plain
from convengine.engine.turn.enums import RulePhase
from convengine.engine.turn.trail import FOLDED_KEYS, AuditEvent
from tests.api import Caller
from tests.worlds import create_help_desk

STEPS = [
    {"step": "RulesStep", "startedAtMs": 0.1, "durationMs": 2.5, "success": False},
    {"step": "Ask", "startedAtMs": 2.61, "durationMs": 0.29, "success": True},
]
SEEN = {"context": {"$folded": "context"}, "schemaJson": {"$folded": "schemaJson"}}
RULES_STEP = "convengine.engine.steps.rules.step.RulesStep"
EVENTS: list[tuple[str, dict[str, Any]]] = [
    ("STEP_ENTER", {"step": "RulesStep", "stepClass": RULES_STEP}),
    ("STEP_ENTER", {"step": "AskStep", "stepClass": "helpdesk.steps.AskStep"}),
    (
        "STEP_EXIT",
        {"step": "RulesStep", "stepClass": RULES_STEP, "outcome": "Continue", "durationMs": 0},
    ),
    (
        "STEP_EXIT",
        {"step": "RulesStep", "stepClass": RULES_STEP, "outcome": "Stop", "durationMs": 7},
    ),
    ("STEP_ERROR", {"step": "RulesStep", "stepClass": RULES_STEP, "errorType": "KeyError"}),
    (
        "PIPELINE_TIMING",
        {**describe_steps(STEPS), "stepList": STEPS, "wallMs": 3.0, **NOBODY_ASKED, "status": "FAILED"},
    ),
    ("PIPELINE_TIMING", {"totalMs": 99, "steps": "as told", "stepList": STEPS}),
    ("RULE_MATCH (RulesStep)", {"ruleId": 1, **SEEN, **build_flags(RulePhase.PRE_RESPONSE_RESOLUTION, "RulesStep")}),
    (
        "RULE_MATCH (RulesStep)",
        {"ruleId": 1, **SEEN, "context": {"a": 1}, **build_flags(RulePhase.PRE_RESPONSE_RESOLUTION, "RulesStep")},
    ),
    ("RULE_NO_MATCH (X)", {**build_flags(RulePhase.POST_AGENT_INTENT, "X"), "ruleExecutionOrigin": "ELSEWHERE"}),
    (
        "RULE_NO_MATCH (X)",
        {
            "intent": "A", "state": "B", "evaluatedState": "B", "pass": 1, "candidates": [
                {"id": 1, "matched": False, "reason": "TYPE_CONDITION_NOT_MET", "operands": [
                    {"path": "$.a", "result": True}, {"path": "$.b", "result": False}]},
                {"id": 4, "matched": False, "reason": "TYPE_CONDITION_NOT_MET"},
                {"id": 2, "matched": False, "reason": "CONFIG_ROW_INVALID"}, {"id": 3, "matched": False},
            ],
            "key": {"phase": "POST_AGENT_INTENT", "intent": "A", "state": "B"},
            **build_flags(RulePhase.POST_AGENT_INTENT, "X"),
        },
    ),
    (
        "RULE_MATCH (X)",
        {
            "ruleId": 1, "intent": "A", "state": "B", "pass": 2, "candidates": [{"id": 1, "matched": True}], **SEEN,
            "key": {"phase": "POST_AGENT_INTENT", "intent": "A", "state": "BEFORE"},
            **build_flags(RulePhase.POST_AGENT_INTENT, "X"),
        },
    ),
    ("USER_INPUT", {"text": "hello"}),
    ("DECISION", {"kind": "RESPONSE", "winner": 7, "candidates": [{"id": 7, "matched": True}]}),
    ("DECISION", {"kind": "RESPONSE", "winner": 7, "candidates": [{"id": 6, "matched": False}]}),
    ("DECISION", {"kind": "POLICY", "winner": None, "candidates": []}),
    ("ASSISTANT_OUTPUT", {"output": "hello", "responseType": "EXACT", **SEEN}),
    ("ASSISTANT_OUTPUT", {"output": "no", "responseType": "POLICY"}),
    (
        "PIPELINE_TIMING",
        {"stepList": STEPS, **describe_steps(STEPS), "wallMs": 3.0, "llmMs": 7, "llmCalls": 2, "toolMs": 0},
    ),
]  # fmt: skip


@pytest.mark.parametrize(("stage", "payload"), EVENTS)
def test_what_was_left_out_comes_back(stage: str, payload: dict[str, Any]) -> None:
    assert whole(stage, strip_implied(stage, payload)) == payload


@pytest.mark.parametrize(("stage", "payload"), EVENTS)
def test_what_was_stored_whole_stays_so(stage: str, payload: dict[str, Any]) -> None:
    assert whole(stage, payload) == payload


def test_a_built_in_step_that_went_on_at_once_says_its_name_only() -> None:
    assert strip_implied(*EVENTS[2]) == {"step": "RulesStep"}


def test_a_step_of_the_deployment_says_where_it_lives() -> None:
    assert strip_implied(*EVENTS[1]) == EVENTS[1][1]


def test_a_rule_says_its_phase_and_the_rest_follows() -> None:
    assert strip_implied(*EVENTS[7]) == {"ruleId": 1, "rulePhase": "PRE_RESPONSE_RESOLUTION"}


HEARD: list[AuditEvent] = []
hear = HEARD.append


@pytest.mark.django_db
def test_readers_see_every_event_as_it_was_told(settings: Any) -> None:
    settings.CONVENGINE = {**settings.CONVENGINE, "TRAIL_LISTENERS": ["tests.audit.record.test_implied.hear"]}
    HEARD.clear()
    create_help_desk()
    caller = Caller()
    caller.say("hours", inputParams={"vip": True})

    shown = [(event["stage"], plainly(event["payload"])) for event in caller.get().json()["results"]]

    assert len(shown) > 30
    assert shown == [(event.stage, plainly(to_plain(event.payload))) for event in HEARD]


def plainly(payload: dict[str, Any]) -> dict[str, Any]:
    """The payload without what is folded."""
    return {key: value for key, value in payload.items() if key not in {*FOLDED_KEYS, "_meta"}}


def test_steps_as_they_were_stored_once_are_read() -> None:
    stored = {"stepList": [["RulesStep", 0.1, 2.5, False]]}

    assert whole("PIPELINE_TIMING", stored)["stepList"] == STEPS[:1]


@pytest.mark.parametrize("name", ["My Step", "A|B", "é Ünï", "Step", "", "a.", "StepStep", "!"])
def test_any_name_of_a_step_comes_back(name: str) -> None:
    steps = [{"step": name, "startedAtMs": 0.0, "durationMs": 1.25, "success": False}, STEPS[0]]
    payload = {**describe_steps(steps), "stepList": steps}

    assert whole("PIPELINE_TIMING", to_plain(strip_implied("PIPELINE_TIMING", payload))) == payload
