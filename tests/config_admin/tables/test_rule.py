"""Save checks of rules: phase, condition and action."""

import json
from dataclasses import replace
from typing import Any

import pytest

from convengine.engine.turn import rows
from convengine.engine.turn.enums import DialogueAct
from tests.builders import make_rule
from tests.config_admin.validation.shop import CANCELLED, CONFIRMING, EDGES, ROWS, RULE, codes, list_messages

ACTS = ", ".join(DialogueAct)
ALWAYS = replace(RULE, rule_type="EXACT", match_pattern="ANY")


def doing(action: str, value: str | None, **changes: Any) -> list[tuple[str, str]]:
    return list_messages(replace(RULE, action=action, action_value=value, **changes))


@pytest.mark.parametrize("phase", ["LATER", "", None, "PIPELINE_RULES"])
def test_the_phase_is_one_that_the_engine_has(phase: Any) -> None:
    ((code, message),) = list_messages(replace(RULE, phase=phase))
    assert code == "PHASE"
    assert message.startswith("Choose one of the phases: “After the dialogue act”")
    assert ("(POST_DIALOGUE_ACT)" in message) is bool(phase)


def test_the_nearest_phase_is_named() -> None:
    assert list_messages(replace(RULE, phase="POST_AGENT_INTEND"))[0][1].endswith(" Did you mean POST_AGENT_INTENT?")


def test_the_condition_is_of_a_known_type() -> None:
    assert list_messages(replace(RULE, rule_type="CONTAINS")) == [
        (
            "RULE_TYPE",
            "Choose “Fields and values” (CONDITION), “Exact text” (EXACT), “Regular expression” (REGEX), “JSON path on "
            "the facts” (JSON_PATH) or “JSON path on the context” (CONTEXT_JSON_PATH).",
        )
    ]
    assert list_messages(replace(RULE, rule_type="MOON_PHASE"), rule_types=frozenset({"MOON_PHASE"})) == []


def test_the_condition_looks_at_a_known_text() -> None:
    assert codes(replace(RULE, match_target="MOOD")) == ["CHOICE_UNKNOWN"]


def test_the_condition_is_there_and_can_be_read() -> None:
    assert list_messages(replace(RULE, match_pattern=" ")) == [("PATTERN_BLANK", "Enter the condition.")]
    assert codes(replace(RULE, rule_type="REGEX", match_pattern="(")) == ["REGEX_INVALID"]
    assert codes(replace(RULE, rule_type="CONTEXT_JSON_PATH", match_pattern="$[")) == ["JSONPATH_INVALID"]
    assert codes(replace(RULE, rule_type="EXACT", match_pattern="(")) == []


def with_rows(*rows_of_condition: dict[str, Any]) -> rows.Rule:
    document = {"combinator": "and", "rules": list(rows_of_condition)}
    return replace(RULE, rule_type="CONDITION", match_pattern=json.dumps(document))


def test_a_condition_of_rows_is_checked_with_the_part_that_is_wrong() -> None:
    row = {"field": "orderNumber", "operator": "is", "value": "1"}

    assert codes(with_rows(row)) == []
    assert list_messages(with_rows(row, {"field": "orderNumber", "operator": "befor", "value": "today"})) == [
        ("CONDITION_INVALID", "Unknown operator befor. Did you mean before? Part: rules[1].operator.")
    ]
    assert list_messages(replace(RULE, rule_type="CONDITION", match_pattern="date < today")) == [
        ("CONDITION_INVALID", "The condition is not valid JSON.")
    ]


def test_a_field_that_nothing_sets_is_a_warning() -> None:
    known = ("intent", "message", "act", "clock.today", "params.anything", "context.later", "dialogue.misses")
    rows_of_condition = [{"field": name, "operator": "isNotEmpty"} for name in (*known, "orderNumbr")]

    assert list_messages(with_rows(*rows_of_condition)) == [
        (
            "CONDITION_FIELD_UNKNOWN",
            "Nothing sets orderNumbr, so it is empty in every turn. Did you mean orderNumber?",
        )
    ]


def test_where_a_task_runs_only_a_name_that_resembles_a_known_one_is_questioned() -> None:
    condition = with_rows({"field": "pickUp", "operator": "isNotEmpty"})
    typing_error = with_rows({"field": "orderNumbr", "operator": "isNotEmpty"})
    tasks = [row for row in ROWS if isinstance(row, rows.PendingAction)]

    assert codes(typing_error) == ["CONDITION_FIELD_UNKNOWN"]
    assert codes(condition) == []
    assert codes(condition, without=tasks) == ["CONDITION_FIELD_UNKNOWN"]
    by_rule = make_rule(action="SET_TASK", action_value="billing:refund")
    assert codes(condition, by_rule, without=tasks) == []


def test_P2_7_6_V4_an_unclosed_pattern_is_refused_at_save() -> None:
    assert codes(replace(RULE, rule_type="REGEX", match_pattern="(")) == ["REGEX_INVALID"]


def test_P2_7_6_V6_a_comparison_outside_a_filter_is_refused_at_save() -> None:
    assert codes(replace(RULE, match_pattern="$.schemaComplete == true")) == ["JSONPATH_INVALID"]


def test_the_action_is_one_that_the_engine_has() -> None:
    ((code, message),) = doing("SET_STAT", "X")
    assert code == "ACTION"
    assert message.startswith("Unknown action SET_STAT. Choose one of: “Set intent” (SET_INTENT), ")
    assert message.endswith(" Did you mean SET_STATE?")
    assert list_messages(replace(RULE, action="SING"), rule_actions=frozenset({"SING"})) == []


@pytest.mark.parametrize(
    ("action", "what"),
    [
        ("SET_INTENT", "the intent to set"),
        ("SET_STATE", "the state to move to"),
        ("SET_DIALOGUE_ACT", "a dialogue act"),
        ("SET_INPUT_PARAM", "key:value, or JSON"),
        ("SET_TASK", "task:method"),
        ("SET_CONTEXT", "path:value, or JSON"),
        ("CLEAR_CONTEXT", "the context fields to remove, separated by commas"),
    ],
)
@pytest.mark.parametrize("value", [None, "", "  "])
def test_an_action_that_needs_a_value_has_one(action: str, what: str, value: str | None) -> None:
    assert doing(action, value) == [("ACTION_VALUE_REQUIRED", f"{action} needs a value: {what}.")]


@pytest.mark.parametrize("action", ["GET_CONTEXT", "GET_SCHEMA_JSON", "GET_SESSION", "SET_JSON"])
def test_an_action_that_needs_no_value_may_go_without(action: str) -> None:
    assert doing(action, None) == []


def test_a_conversation_is_in_one_state_and_about_one_intent() -> None:
    assert doing("SET_STATE", "any") == [
        ("CONFLICT", "A conversation cannot be in state ANY. Enter the state to move to.")
    ]
    assert doing("SET_INTENT", "ANY") == [("CONFLICT", "A conversation cannot have the intent ANY. Enter an intent.")]


def test_the_target_of_a_move_is_a_code() -> None:
    assert [code for code, _ in doing("SET_STATE", "to confirm")] == ["CODE_FORMAT"]
    assert [code for code, _ in doing("SET_INTENT", "a-b")] == ["CODE_FORMAT"]


def test_the_intent_to_move_to_exists() -> None:
    assert doing("SET_INTENT", "FAC") == [
        (
            "INTENT_UNKNOWN",
            ("The intent FAC does not exist. Did you mean FAQ? Create it first, or choose ANY or UNKNOWN."),
        )
    ]
    assert doing("SET_INTENT", "faq") == doing("SET_INTENT", "UNKNOWN") == []


def test_a_dialogue_act_is_named_or_described() -> None:
    expected = [("SHAPE_INVALID", f'Use one of {ACTS}, or JSON with "dialogueAct".')]
    assert doing("SET_DIALOGUE_ACT", "SHOUT", phase="POST_DIALOGUE_ACT") == expected
    assert doing("SET_DIALOGUE_ACT", '{"act": "EDIT"}', phase="POST_DIALOGUE_ACT") == expected
    assert doing("SET_DIALOGUE_ACT", '{"dialogueAct": "EDIT", "confidence": 1.2}', phase="POST_DIALOGUE_ACT") == [
        ("OUT_OF_RANGE", "confidence must be between 0 and 1.")
    ]
    assert doing("SET_DIALOGUE_ACT", "EDIT", phase="POST_DIALOGUE_ACT") == []


def test_input_params_are_assigned_by_name_and_value() -> None:
    usage = 'Use key:value, or JSON like {"key":"skip_tool_execution","value":true}.'
    assert doing("SET_INPUT_PARAM", '{"a":1') == [("SHAPE_INVALID", usage)]
    assert doing("SET_INPUT_PARAM", "a b:1") == [
        ("SHAPE_INVALID", "Parameter names may contain letters, digits, _ . - only.")
    ]
    assert doing("SET_INPUT_PARAM", "amount:350000") == []


def test_a_task_is_registered_with_its_methods() -> None:
    assert doing("SET_TASK", "orders:cancel") == [
        ("NOT_REGISTERED", "There is no registered task orders. Registered: audit, orderTask.")
    ]
    assert doing("SET_TASK", "orderTask:refund") == [
        ("NOT_REGISTERED", "Task orderTask has no method refund. It has: cancel, notifyCustomer.")
    ]
    assert doing("SET_TASK", "orderTask:cancel,notifyCustomer") == doing("SET_TASK", "audit") == []


def test_the_engines_branches_of_the_context_are_not_for_rules() -> None:
    assert doing("SET_CONTEXT", "mcp.finalAnswer:x") == [("CONFLICT", "mcp is reserved for the engine.")]
    assert doing("CLEAR_CONTEXT", "orderNumber, memory") == [("CONFLICT", "memory is reserved for the engine.")]
    assert doing("SET_CONTEXT", "pending_slot:city") == doing("CLEAR_CONTEXT", "pendingSlot") == []


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("model:smal", "There is no model smal. Did you mean small? Installed: large, small."),
        ("knowledge_base:rulez", "There is no knowledge base rulez. Did you mean rules? Installed: rules."),
        ("tool_set:x", "There is no tool set x. Installed: built-in."),
        ("planner:x", "There is no planner x. Installed: none."),
    ],
)
def test_what_a_rule_prefers_is_installed(value: str, message: str) -> None:
    assert doing("SET_PREFERENCE", value) == [("NOT_REGISTERED", message)]


@pytest.mark.parametrize("value", ["model:small", "knowledge_base:rules", "tool_set:built-in"])
def test_what_is_installed_may_be_preferred(value: str) -> None:
    assert doing("SET_PREFERENCE", value) == []


@pytest.mark.parametrize(
    ("action", "value"), [("SET_INPUT_PARAM", "guardrail_reason:x"), ("SET_JSON", "guardrail_reason:$.state")]
)
def test_writing_what_the_engine_sets_is_questioned(action: str, value: str) -> None:
    assert doing(action, value) == [
        (
            "ENGINE_KEY_WRITE",
            "guardrail_reason is set by GuardrailStep. This rule overrides it for later steps.",
        )
    ]


@pytest.mark.parametrize("value", ["skip_tool_execution:true", "my_own:1", "pending_action_key:REFUND"])
def test_params_that_rules_may_write_are_not_questioned(value: str) -> None:
    assert doing("SET_INPUT_PARAM", value) == []


def test_an_act_set_after_it_was_used_has_no_effect() -> None:
    assert doing("SET_DIALOGUE_ACT", "EDIT") == [
        (
            "PHASE_POINTLESS",
            "In this phase the dialogue act was already used, so the change has no effect. Choose an earlier phase.",
        )
    ]


def test_a_tool_request_written_after_the_tools_has_no_effect() -> None:
    request = '{"tool_request": {"tool_code": "order.status"}}'
    assert doing("SET_INPUT_PARAM", request, phase="PRE_RESPONSE_RESOLUTION") == [
        (
            "PHASE_POINTLESS",
            (
                "In this phase tool requests were already processed, so the request has no effect. Choose an "
                "earlier phase."
            ),
        )
    ]
    assert doing("SET_INPUT_PARAM", request) == []


def test_a_path_to_what_is_always_there_always_holds() -> None:
    plain = replace(RULE, match_pattern="$.missingRequiredFields")
    assert list_messages(plain) == [
        (
            "PATH_ALWAYS_MATCHES",
            (
                "Every turn has missingRequiredFields, even if it is empty, so this condition is always met. Compare "
                "it with a value, or turn off “also match an empty value”."
            ),
        )
    ]
    for other in ("$.schemaComplete", "$.context.mcp", "$.orderNumber", "$[?(@.missingRequiredFields empty true)]"):
        assert codes(replace(plain, match_pattern=other)) == []
    assert codes(replace(plain, null_leaf_matches=False)) == []


def test_a_template_may_use_what_rules_write() -> None:

    shown = replace(CANCELLED, exact_text="{{ discount }} {{ seen }} {{ order }} {{ facts }}")
    writers = [
        replace(RULE, rule_id=20, action="SET_INPUT_PARAM", action_value="discount:10"),
        replace(RULE, rule_id=21, action="SET_JSON", action_value="seen:$.state"),
        replace(RULE, rule_id=22, action="SET_CONTEXT", action_value="order.priority:high"),
        replace(RULE, rule_id=23, action="GET_SESSION", action_value="facts"),
    ]
    assert codes(shown) == ["TEMPLATE_VAR_UNKNOWN"] * 4
    assert codes(shown, *writers) == []
    assert codes(shown, *(replace(writer, enabled=False) for writer in writers)) == ["TEMPLATE_VAR_UNKNOWN"] * 4


BACK = replace(
    RULE, rule_id=2, state_code="CONFIRM", action_value="COLLECT", match_pattern="$[?(@.inputParams.redo == true)]"
)
RETURN = rows.StateEdge(edge_id=9, intent_code="CANCEL_ORDER", from_state="CONFIRM", to_state="COLLECT")


def test_two_rules_that_move_there_and_back_are_told() -> None:
    assert list_messages(BACK, RETURN) == [
        (
            "RULE_FLIP_FLOP",
            (
                "This rule and rule 1 can undo each other. The engine stops after 5 passes. Give one of them a "
                "narrower condition."
            ),
        )
    ]
    assert codes(RULE, BACK, RETURN) == codes(replace(RULE, action="set_state"), BACK, RETURN) == ["RULE_FLIP_FLOP"]


def test_rules_of_any_state_that_always_hold_go_back_and_forth() -> None:
    rule = rows.Rule(
        rule_id=30,
        intent_code="ANY",
        state_code="ANY",
        rule_type="EXACT",
        match_pattern="ANY",
        action="SET_STATE",
        action_value="COLLECT",
    )
    assert "RULE_FLIP_FLOP" in codes(rule, replace(rule, rule_id=31, action_value="CONFIRM"))


def test_rules_that_change_the_intent_to_and_fro_are_told() -> None:
    onward = replace(RULE, rule_id=30, action="SET_INTENT", action_value="FAQ", state_code="ANY")
    back = replace(onward, rule_id=31, intent_code="FAQ", action_value="CANCEL_ORDER")
    assert "RULE_FLIP_FLOP" in codes(back, onward)


@pytest.mark.parametrize(
    "change",
    [
        {"phase": "PRE_RESPONSE_RESOLUTION"},
        {"action_value": "CANCELLED"},
        {"intent_code": "ORDER_STATUS"},
        {"match_pattern": "$[?(@.schemaComplete == false)]"},
        {"match_pattern": "$[?(@.state == 'CANCELLED' && @.inputParams.redo)]"},
        {"enabled": False},
        {"action": "SET_CONTEXT", "action_value": "a:1"},
    ],
)
def test_rules_that_cannot_meet_do_not_go_back_and_forth(change: dict[str, Any]) -> None:
    assert "RULE_FLIP_FLOP" not in codes(replace(BACK, **change), RETURN)


@pytest.mark.parametrize(("text", "other", "meet"), [("yes", "no", False), ("yes", " YES ", True), ("ANY", "no", True)])
def test_two_different_texts_cannot_hold_together(text: str, other: str, meet: bool) -> None:
    first = replace(RULE, rule_type="EXACT", match_pattern=text)
    second = replace(BACK, rule_type="EXACT", match_pattern=other)
    assert ("RULE_FLIP_FLOP" in codes(second, first, RETURN)) == meet


def test_a_condition_on_the_state_counts_like_a_scope() -> None:
    anywhere = replace(BACK, state_code="ANY", match_pattern="$[?(@.state == 'CONFIRM')]")
    assert "RULE_FLIP_FLOP" in codes(anywhere)
    assert "RULE_FLIP_FLOP" not in codes(replace(anywhere, match_pattern="$[?(@.state == 'IDLE')]"))


@pytest.mark.parametrize(("kind", "pattern"), [("EXACT", "ANY"), ("REGEX", ".*"), ("REGEX", "(yes)?")])
def test_a_move_without_condition_everywhere_is_told(kind: str, pattern: str) -> None:
    everywhere = replace(RULE, intent_code="ANY", state_code="ANY", rule_type=kind, match_pattern=pattern)
    warning = (
        "RULE_ALWAYS_TRUE",
        "This rule applies to every turn of every conversation. Add a condition or a scope unless this is intended.",
    )
    assert warning in list_messages(everywhere)
    assert warning not in list_messages(replace(everywhere, intent_code="CANCEL_ORDER"))
    assert warning not in list_messages(replace(everywhere, action="SET_CONTEXT", action_value="a:1"))
    assert warning not in list_messages(replace(everywhere, rule_type="REGEX", match_pattern="yes"))


def test_a_move_that_the_graph_does_not_allow_is_told() -> None:
    assert list_messages(replace(RULE, action_value="CANCELLED")) == [
        (
            "STATE_GRAPH_MISSING_EDGE",
            "The state graph does not allow the move from COLLECT to CANCELLED, so the turn gets a warning.",
        )
    ]


def test_an_intent_without_a_graph_may_move_anywhere() -> None:
    assert codes(replace(RULE, action_value="CANCELLED"), without=EDGES) == []
    assert codes(replace(RULE, state_code="ANY")) == codes(replace(RULE, action_value="COLLECT")) == []


def test_a_rule_may_come_before_the_answer_of_its_state() -> None:
    assert codes(RULE, without=[CONFIRMING]) == []
