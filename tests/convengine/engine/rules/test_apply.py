from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from convengine.engine.rules import apply
from convengine.engine.rules.apply import RUN_RULES, run_phase
from convengine.engine.turn import rows
from convengine.engine.turn.enums import RulePhase
from convengine.engine.turn.ports import TaskAnswer
from convengine.engine.turn.session import Session
from convengine.engine.turn.trail import FOLDED
from convengine.engine.turn.turn import DecidingRow, Turn
from tests.builders import make_config, make_intent, make_rule, make_session, make_snapshot, make_turn, payload, stages
from tests.fakes.ports import RecordingTasks

LOAN = make_intent("LOAN")


def run(
    *all_rows: rows.Row,
    phase: RulePhase = RulePhase.PRE_RESPONSE_RESOLUTION,
    source: str = "RulesStep",
    tasks: RecordingTasks | None = None,
    **session: Any,
) -> tuple[Session, Turn]:
    """Run a phase for LOAN/IDLE, user text "go on", unless said otherwise."""
    turn = make_turn(make_snapshot(LOAN, *all_rows), tasks=tasks)
    before = make_session(**{"intent": "LOAN", "state": "IDLE", "user_text": "go on", **session})
    return run_phase(phase, source, before, turn), turn


def list_payloads(turn: Turn, stage: str) -> list[Mapping[str, Any]]:
    return [event.payload for event in turn.trail.events if event.stage.startswith(stage)]


def test_P2_7_6_V1_a_state_change_runs_a_pass_for_the_new_state() -> None:
    session, turn = run(
        make_rule(intent_code="LOAN", state_code="IDLE"),
        make_rule(intent_code="LOAN", state_code="DONE", action="SET_INPUT_PARAM", action_value="seen"),
    )

    assert session.state == "DONE"
    assert session.input_params["seen"] is True
    assert [match["pass"] for match in list_payloads(turn, "RULE_MATCH")] == [1, 2]


def test_P2_7_6_V7_the_list_of_a_pass_stays_as_it_was_at_its_start() -> None:
    session, turn = run(
        make_rule(state_code="GATE", priority=10, action_value="CONFIRMATION"),
        make_rule(state_code="GATE", priority=11, action="SET_INPUT_PARAM", action_value="awaiting_confirmation"),
        state="GATE",
    )

    assert session.state == "CONFIRMATION"
    assert session.input_params["awaiting_confirmation"] is True
    assert [match["pass"] for match in list_payloads(turn, "RULE_MATCH")] == [1, 1]


def test_a_condition_sees_what_the_rules_before_it_did() -> None:
    session, _ = run(
        make_rule(priority=1, action="SET_INPUT_PARAM", action_value="flag"),
        make_rule(priority=2, rule_type="JSON_PATH", match_pattern="$[?(@.inputParams.flag == true)]"),
    )

    assert session.state == "DONE"


def test_P2_7_6_V8_a_bucket_comes_before_priority() -> None:
    _, turn = run(
        make_rule(rule_id=1, priority=1, action="SET_INPUT_PARAM", action_value="a"),
        make_rule(
            rule_id=2, intent_code="LOAN", state_code="IDLE", priority=500, action="SET_INPUT_PARAM", action_value="b"
        ),
        make_rule(rule_id=3, intent_code="LOAN", priority=9, action="SET_INPUT_PARAM", action_value="c"),
        make_rule(rule_id=4, state_code="IDLE", priority=9, action="SET_INPUT_PARAM", action_value="d"),
    )

    assert [match["ruleId"] for match in list_payloads(turn, "RULE_MATCH")] == [2, 3, 4, 1]


def test_P2_7_6_V9_rules_that_go_back_and_forth_are_stopped() -> None:
    session, turn = run(
        make_rule(priority=1, rule_type="JSON_PATH", match_pattern="$[?(@.state == 'A')]", action_value="B"),
        make_rule(priority=2, rule_type="JSON_PATH", match_pattern="$[?(@.state == 'B')]", action_value="A"),
        state="A",
    )

    assert session.state == "A"
    assert len(session.transitions) == 10
    cap = payload(turn, "RULE_PASS_CAP_REACHED")
    assert (cap["passes"], cap["intent"], cap["state"]) == (5, "LOAN", "A")
    assert cap["rulePhase"] == "PRE_RESPONSE_RESOLUTION"


def test_the_number_of_passes_is_a_setting() -> None:
    _, turn = run(
        make_config("RulesStep/MAX_PASSES", "2"),
        make_rule(rule_type="JSON_PATH", match_pattern="$[?(@.state == 'A')]", action_value="B"),
        make_rule(rule_type="JSON_PATH", match_pattern="$[?(@.state == 'B')]", action_value="A"),
        state="A",
    )

    assert payload(turn, "RULE_PASS_CAP_REACHED")["passes"] == 2


def test_P2_7_6_V10_a_task_runs_once_in_a_phase() -> None:
    tasks = RecordingTasks({"desk:open": TaskAnswer(context={"ticket": 1})})
    session, turn = run(
        make_rule(rule_id=1, priority=1, action="SET_TASK", action_value="desk:open"),
        make_rule(rule_id=2, priority=2, state_code="IDLE"),
        tasks=tasks,
    )

    assert tasks.calls == ["desk:open"]
    assert session.context == {"ticket": 1}
    second = list_payloads(turn, "RULE_NO_MATCH")[-1]
    assert second["candidates"] == [{"id": 1, "matched": False, "reason": "ALREADY_RUN"}]


def test_P2_7_6_V15_no_eligible_rule_is_told_once_without_a_rule() -> None:
    _, turn = run(make_rule(rule_id=1, state_code="DONE"), make_rule(rule_id=2, phase="POST_AGENT_MCP"))

    assert stages(turn) == ["RULE_NO_MATCH (RulesStep)"]
    assert payload(turn, "RULE_NO_MATCH") == {
        "intent": "LOAN",
        "state": "IDLE",
        "evaluatedState": "IDLE",
        "pass": 1,
        "key": {"phase": "PRE_RESPONSE_RESOLUTION", "intent": "LOAN", "state": "IDLE", "userText": "go on"},
        "candidates": [],
        "cut": {"SCOPE_STATE": 1, "PHASE": 1},
        "ruleExecutionSource": "RulesStep",
        "ruleExecutionOrigin": "RULES_STEP",
        "rulePhase": "PRE_RESPONSE_RESOLUTION",
        "ruleAgentPostIntent": False,
        "ruleAgentPostMcp": False,
        "ruleToolPostExecution": False,
    }


def test_a_rule_that_holds_leaves_match_its_own_stage_and_applied() -> None:
    rule = make_rule(rule_id=7, rule_type="REGEX", match_pattern="GO", intent_code="LOAN", state_code="IDLE")
    _, turn = run(rule)

    assert stages(turn)[:3] == ["RULE_MATCH (RulesStep)", "SET_STATE", "RULE_APPLIED (RulesStep)"]
    match = payload(turn, "RULE_MATCH")
    assert match["context"] is FOLDED
    assert match["candidates"][0]["operands"] == [
        {"path": "USER_TEXT", "value": "go on", "op": "=~", "literal": "GO", "result": True}
    ]
    assert {key: match[key] for key in ("ruleId", "action", "ruleType", "ruleStateCode", "intent", "state")} == {
        "ruleId": 7,
        "action": "SET_STATE",
        "ruleType": "REGEX",
        "ruleStateCode": "IDLE",
        "intent": "LOAN",
        "state": "IDLE",
    }
    applied = payload(turn, "RULE_APPLIED")
    assert (applied["pattern"], applied["actionValue"], applied["type"]) == ("GO", "DONE", "REGEX")
    assert DecidingRow("ce_rule", "7", "RULE") in turn.decided_rows


def test_a_json_action_value_is_told_as_json() -> None:
    _, turn = run(make_rule(action="SET_INPUT_PARAM", action_value='{"a": 1}'))

    assert payload(turn, "RULE_APPLIED")["actionValue"] == {"a": 1}


def test_rules_that_do_not_hold_are_one_event_a_pass() -> None:
    _, turn = run(
        make_rule(rule_id=1, rule_type="JSON_PATH", match_pattern="$[?(@.turnNo > 9)]"),
        make_rule(rule_id=2, rule_type="REGEX", match_pattern="never"),
        make_rule(rule_id=3, rule_type="EXACT", match_pattern="never"),
        make_rule(rule_id=4, rule_type="TELEPATHY"),
        make_rule(rule_id=5, match_pattern="QUESTION", match_target="DIALOGUE_ACT"),
        make_rule(rule_id=6, enabled=False),
        make_rule(rule_id=7, intent_code="GONE"),
        make_rule(rule_id=8, intent_code="LOAN", state_code="IDLE", action="SET_INPUT_PARAM", action_value="x"),
    )

    summary = payload(turn, "RULE_NO_MATCH")
    assert [
        (candidate["id"], candidate["matched"], candidate.get("reason")) for candidate in summary["candidates"]
    ] == [
        (8, True, None),
        (1, False, "TYPE_CONDITION_NOT_MET"),
        (4, False, "TYPE_RESOLVER_MISSING"),
        (5, False, "TYPE_CONDITION_NOT_MET"),
    ]
    assert summary["candidates"][1]["operands"] == [
        {"path": "@.turnNo", "value": 1, "op": ">", "literal": 9, "result": False}
    ]
    assert summary["cut"] == {"DISABLED": 1, "INTENT_DISABLED": 1, "PATTERN": 2}


def test_rules_that_all_hold_leave_no_such_event() -> None:
    _, turn = run(make_rule(action="SET_INPUT_PARAM", action_value="x"))

    assert list_payloads(turn, "RULE_NO_MATCH") == []


def test_each_rule_may_be_told_by_itself() -> None:
    _, turn = run(
        make_config("RulesStep/AUDIT_NO_MATCH", "EACH"),
        make_rule(rule_id=1, priority=1, rule_type="REGEX", match_pattern="never"),
        make_rule(rule_id=2, priority=2, rule_type="REGEX", match_pattern="("),
        make_rule(rule_id=3, priority=3, action="SET_INPUT_PARAM", action_value="x", stop_processing=True),
        make_rule(rule_id=4, priority=4),
    )

    assert [(event["ruleId"], event["reason"]) for event in list_payloads(turn, "RULE_NO_MATCH")] == [
        (1, "TYPE_CONDITION_NOT_MET"),
        (2, "CONFIG_ROW_INVALID"),
        (4, "STOPPED"),
    ]


def test_they_may_be_left_untold() -> None:
    _, turn = run(make_config("RulesStep/AUDIT_NO_MATCH", "OFF"), make_rule(match_pattern="never"))

    assert stages(turn) == []


def test_a_match_may_end_the_list() -> None:
    session, turn = run(
        make_rule(rule_id=1, priority=1, rule_type="REGEX", match_pattern="never"),
        make_rule(rule_id=2, priority=2, action="SET_INPUT_PARAM", action_value="x", stop_processing=True),
        make_rule(rule_id=3, priority=3),
        make_rule(rule_id=4, priority=4, rule_type="REGEX", match_pattern="never"),
    )

    assert session.state == "IDLE"
    summary = payload(turn, "RULE_NO_MATCH")
    assert summary["stoppedBy"] == 2
    assert summary["cut"] == {"PATTERN": 1, "STOPPED": 2}


@pytest.mark.parametrize(
    ("row", "error_type", "message"),
    [
        ({"action": "SET_STAT"}, "INVALID_RULE_ACTION", "Did you mean SET_STATE?"),
        ({"action": "FLY"}, "INVALID_RULE_ACTION", "There is no action FLY."),
        ({"action_value": " "}, "INVALID_RULE_ACTION", "SET_STATE needs a value"),
        ({"action": "SET_DIALOGUE_ACT", "action_value": "MAYBE"}, "INVALID_RULE_ACTION", "Use one of AFFIRM"),
        ({"action": "SET_JSON", "action_value": "$.a"}, "INVALID_RULE_ACTION", "Use key:path"),
        (
            {"action": "SET_TASK", "action_value": "gone:run"},
            "INVALID_RULE_ACTION",
            "There is no registered task gone.",
        ),
        ({"action": "SET_CONTEXT", "action_value": "a.b:1"}, "NotAnObject", "a is not an object"),
    ],
)
def test_a_failing_action_is_told_and_the_next_rule_goes_on(row: dict[str, Any], error_type: str, message: str) -> None:
    session, turn = run(
        make_rule(rule_id=1, priority=1, **row), make_rule(rule_id=2, priority=2, state_code="IDLE"), context={"a": 5}
    )

    error = payload(turn, "RULE_ERROR")
    assert (error["ruleId"], error["errorType"]) == (1, error_type)
    assert message in error["errorMessage"]
    assert session.state == "DONE"
    assert DecidingRow("ce_rule", "1", "RULE") not in turn.decided_rows


def test_an_action_value_that_does_not_fit_is_told_with_the_code_of_its_save_check() -> None:
    _, turn = run(make_rule(action="SET_TASK", action_value="gone:run"))

    assert payload(turn, "RULE_ERROR")["errorCode"] == "NOT_REGISTERED"


def test_a_task_that_is_not_registered_is_told_with_those_that_are() -> None:
    tasks = RecordingTasks({"desk:open": TaskAnswer(), "bank:pay": TaskAnswer()})
    _, turn = run(make_rule(action="SET_TASK", action_value="desq:open"), tasks=tasks)

    error = payload(turn, "RULE_ERROR")
    assert (error["field"], error["value"]) == ("action_value", "desq:open")
    assert error["errorMessage"] == "There is no registered task desq. Registered: bank, desk."
    assert error["remedy"] == "Did you mean desk? Name a registered task (bank, desk), or register desq in code."


@pytest.mark.parametrize(
    ("row", "field", "value", "remedy"),
    [
        ({"action": "SET_STAT"}, "action", "SET_STAT", "SET_STATE"),
        ({"action_value": " "}, "action_value", " ", "SET_STATE takes"),
        ({"action": "SET_JSON", "action_value": "$.a"}, "action_value", "$.a", "SET_JSON takes"),
    ],
)
def test_an_action_that_cannot_be_done_names_field_value_and_remedy(
    row: dict[str, Any], field: str, value: str, remedy: str
) -> None:
    _, turn = run(make_rule(**row))

    error = payload(turn, "RULE_ERROR")
    assert (error["field"], error["value"]) == (field, value)
    assert remedy in error["remedy"]


def test_a_failing_task_leaves_a_param_for_the_rules_after_it() -> None:
    tasks = RecordingTasks({"desk:open": TaskAnswer(error_type="TimeoutError", error_message="slow")})
    session, turn = run(
        make_rule(priority=1, action="SET_TASK", action_value="desk:open"),
        make_rule(
            priority=2,
            rule_type="JSON_PATH",
            match_pattern="$[?(@.inputParams.rule_task_error.errorType == 'TimeoutError')]",
            action_value="TRY_LATER",
        ),
        tasks=tasks,
    )

    assert session.state == "TRY_LATER"
    assert payload(turn, "RULE_ERROR")["errorMessage"] == "slow"


def test_an_unusable_row_is_told_once_a_turn_and_never_holds() -> None:
    _, turn = run(
        make_rule(rule_id=1, rule_type="REGEX", match_pattern="("),
        make_rule(rule_id=2, rule_type="JSON_PATH", match_pattern="$.a == 1"),
        make_rule(rule_id=3, intent_code="LOAN", state_code="IDLE"),
    )

    invalid = list_payloads(turn, "CONFIG_ROW_INVALID")
    assert [(event["table"], event["rowId"]) for event in invalid] == [("ce_rule", 1), ("ce_rule", 2)]
    assert all(event["reason"] for event in invalid)
    assert [(event["field"], event["value"]) for event in invalid] == [
        ("match_pattern", "("),
        ("match_pattern", "$.a == 1"),
    ]
    assert all(event["remedy"] for event in invalid)
    assert [event["cut"].get("CONFIG_ROW_INVALID") for event in list_payloads(turn, "RULE_NO_MATCH")] == [2, 2]


@pytest.mark.parametrize(
    ("phase", "source", "origin", "flags"),
    [
        (RulePhase.POST_AGENT_INTENT, "AgentIntentResolver", "AGENT_INTENT_RESOLVER", (True, False, False)),
        (RulePhase.POST_AGENT_MCP, "McpToolStep", "RULES_STEP", (False, True, False)),
        (RulePhase.POST_TOOL_EXECUTION, "ToolOrchestrationStep PostTool", "RULES_STEP", (False, False, True)),
        (RulePhase.PRE_AGENT_MCP, "McpToolStep PreMcp", "RULES_STEP", (False, False, False)),
    ],
)
def test_session_and_params_say_which_phase_runs_for_whom(
    phase: RulePhase, source: str, origin: str, flags: tuple[bool, bool, bool]
) -> None:
    session, _ = run(phase=phase, source=source)

    assert (session.post_intent_rule, session.rule_execution_source, session.rule_execution_origin) == (
        flags[0],
        source,
        origin,
    )
    assert session.input_params == {
        "post_intent_rule": flags[0],
        "rule_execution_source": source,
        "rule_execution_origin": origin,
        "rule_phase": phase.value,
        "rule_agent_post_intent": flags[0],
        "rule_agent_post_mcp": flags[1],
        "rule_tool_post_execution": flags[2],
    }


def test_R35_a_turn_that_only_resets_runs_no_rules() -> None:
    before = make_session(intent="LOAN", state="IDLE", user_text="reset", reset_only=True)
    turn = make_turn(make_snapshot(LOAN, make_rule()))

    assert run_phase(RulePhase.PRE_RESPONSE_RESOLUTION, "RulesStep", before, turn) is before
    assert stages(turn) == []


@pytest.mark.parametrize("phase", ["PIPELINE_RULES", "", " pre_response_resolution "])
def test_an_older_name_of_a_phase_is_the_phase(phase: str) -> None:
    assert run(make_rule(phase=phase))[0].state == "DONE"


def test_a_row_of_an_unknown_phase_never_runs() -> None:
    session, turn = run(make_rule(phase="WHENEVER"))

    assert session.state == "IDLE"
    assert payload(turn, "RULE_NO_MATCH")["cut"] == {"PHASE": 1}


@pytest.mark.parametrize(("text", "state"), [("", "DONE"), (None, "IDLE")])
def test_a_blank_text_is_a_text_and_null_is_none(text: str | None, state: str) -> None:
    assert run(make_rule(rule_type="REGEX", match_pattern=".*", state_code="IDLE"), user_text=text)[0].state == state


def test_only_declared_fields_change() -> None:
    before = make_session(intent="LOAN", state="IDLE", user_text="go on")
    turn = make_turn(
        make_snapshot(
            LOAN,
            make_rule(state_code="IDLE"),
            make_rule(action="SET_DIALOGUE_ACT", action_value='{"dialogueAct":"EDIT","standaloneQuery":"q"}'),
            make_rule(action="SET_CONTEXT", action_value="a:1"),
            make_rule(action="SET_PREFERENCE", action_value="model:big"),
            make_rule(action="SET_INTENT", action_value="LOAN"),
        )
    )
    after = run_phase(RulePhase.PRE_RESPONSE_RESOLUTION, "RulesStep", before, turn)

    changed = {name for name, value in vars(after).items() if not name.startswith("_") and vars(before)[name] != value}
    assert changed <= RUN_RULES.fields
    assert changed >= {"state", "transitions", "context", "preferences", "standalone_query"}


def test_rules_elsewhere_and_texts_that_do_not_hit_are_never_considered(monkeypatch: pytest.MonkeyPatch) -> None:
    considered: list[int] = []
    original = apply.evaluate_rule
    monkeypatch.setattr(
        apply, "evaluate_rule", lambda rule, *more: considered.append(rule.rule_id) or original(rule, *more)
    )
    others = [make_rule(rule_id=1000 + n, state_code=f"S{n}") for n in range(200)]
    effect = {"action": "SET_INPUT_PARAM", "action_value": "seen"}
    texts = [make_rule(rule_id=2000 + n, rule_type="REGEX", match_pattern=f"word{n}x", **effect) for n in range(200)]
    run(*others, *texts, make_rule(rule_id=1, rule_type="JSON_PATH", match_pattern="$.gone"), user_text="say word7x")

    assert considered == [1, 2007]


# --- the general does not undo the specific -----------------------------------------------------------------------

KEEPS = make_config("Rules/GENERAL_MAY_UNDO", "false")
SPECIFIC = make_rule(rule_id=1, intent_code="LOAN", state_code="IDLE", action_value="CONFIRM")
GENERAL = make_rule(rule_id=2, rule_type="REGEX", match_pattern="go", action_value="FALLBACK")


def test_by_default_a_general_rule_may_undo_a_specific_one() -> None:
    session, _ = run(SPECIFIC, GENERAL)

    assert session.state == "FALLBACK"


def test_a_state_that_a_specific_rule_set_is_not_changed_by_a_general_one() -> None:
    session, turn = run(KEEPS, SPECIFIC, GENERAL)

    assert session.state == "CONFIRM"
    skipped = [one for one in list_payloads(turn, "RULE_NO_MATCH") if one.get("ruleId") == 2]
    assert [(one["reason"], one["overriddenBy"], one["pass"]) for one in skipped] == [
        ("OVERRIDDEN_BY", 1, 1),
        ("OVERRIDDEN_BY", 1, 2),
    ]
    assert (2, "OVERRIDDEN_BY") in [
        (candidate["id"], candidate.get("reason"))
        for one in list_payloads(turn, "RULE_NO_MATCH")
        for candidate in one.get("candidates", ())
    ]


def test_each_rule_told_by_itself_tells_it_once() -> None:
    _, turn = run(KEEPS, make_config("RulesStep/AUDIT_NO_MATCH", "EACH"), SPECIFIC, GENERAL)

    skipped = [one for one in list_payloads(turn, "RULE_NO_MATCH") if one["ruleId"] == 2 and one["pass"] == 1]
    assert [(one["reason"], one["overriddenBy"]) for one in skipped] == [("OVERRIDDEN_BY", 1)]


def test_an_intent_that_a_specific_rule_set_is_kept_as_well() -> None:
    specific = make_rule(rule_id=1, intent_code="LOAN", action="SET_INTENT", action_value="FAQ")
    general = make_rule(rule_id=2, state_code="IDLE", action="SET_INTENT", action_value="HELP")

    session, _ = run(KEEPS, make_intent("FAQ"), make_intent("HELP"), specific, general)

    assert session.intent == "FAQ"


def test_a_general_rule_with_override_may_change_it() -> None:
    session, _ = run(KEEPS, SPECIFIC, replace(GENERAL, override=True))

    assert session.state == "FALLBACK"


def test_it_holds_across_the_phases_of_a_turn() -> None:
    turn = make_turn(make_snapshot(LOAN, KEEPS, replace(SPECIFIC, phase="POST_SCHEMA_EXTRACTION"), GENERAL))
    session = make_session(intent="LOAN", state="IDLE", user_text="go on")
    session = run_phase(RulePhase.POST_SCHEMA_EXTRACTION, "SchemaExtractionStep", session, turn)
    session = run_phase(RulePhase.PRE_RESPONSE_RESOLUTION, "RulesStep", session, turn)

    assert session.state == "CONFIRM"


def test_a_state_that_was_changed_otherwise_since_is_not_kept() -> None:
    turn = make_turn(make_snapshot(LOAN, KEEPS, replace(SPECIFIC, phase="POST_SCHEMA_EXTRACTION"), GENERAL))
    session = make_session(intent="LOAN", state="IDLE", user_text="go on")
    session = run_phase(RulePhase.POST_SCHEMA_EXTRACTION, "SchemaExtractionStep", session, turn)
    session = run_phase(RulePhase.PRE_RESPONSE_RESOLUTION, "RulesStep", session.evolve(state="OTHER"), turn)

    assert session.state == "FALLBACK"


def test_a_rule_that_is_as_specific_may_change_it_and_so_may_one_about_something_else() -> None:
    later = make_rule(rule_id=3, intent_code="LOAN", state_code="IDLE", priority=200, action_value="SECOND")
    params = make_rule(rule_id=4, action="SET_INPUT_PARAM", action_value="seen")

    session, _ = run(KEEPS, SPECIFIC, later, params)

    assert (session.state, session.input_params["seen"]) == ("SECOND", True)


def test_a_general_rule_that_sets_the_same_state_changes_nothing() -> None:
    same = replace(GENERAL, action_value="CONFIRM")

    session, turn = run(KEEPS, SPECIFIC, same, make_rule(rule_id=5, priority=300, action_value="FALLBACK"))

    assert session.state == "CONFIRM"
    assert 2 in [one["ruleId"] for one in list_payloads(turn, "RULE_APPLIED")]


def test_after_a_no_to_a_form_rules_of_other_intents_do_not_run() -> None:
    rows = (
        make_intent("FAQ"),
        make_rule(rule_id=1, action="SET_INTENT", action_value="FAQ"),
        make_rule(rule_id=2, intent_code="FAQ", action="SET_STATE", action_value="TAKEN"),
    )

    taken, _ = run(*rows)
    session, turn = run(*rows, input_params={"form_refused": "ORDER"})

    assert (taken.state, session.state) == ("TAKEN", "IDLE")
    reasons = [one for event in list_payloads(turn, "RULE_NO_MATCH") for one in event["candidates"]]
    assert {"id": 2, "matched": False, "reason": "SCOPE_INTENT"} in reasons
