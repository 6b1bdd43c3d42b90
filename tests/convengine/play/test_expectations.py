"""Every key of `expect`: one turn that fulfils it, one that misses it with expected, got and where."""

from typing import Any

import pytest

from convengine.engine.pipeline.stages import STEP_ENTER
from convengine.engine.steps.conversation.stages import USER_INPUT
from convengine.play.expectations import EXPECTATIONS, Miss, find_first_miss, find_misses
from convengine.play.seen_turn import PortCall, SeenEvent, SeenTurn
from tests.builders import make_session, make_turn

EVENT = {"step_name": "RulesStep", "determinant": "STEP_ENTER", "level": "INFO", "text": "Thinking."}
OTHER = {**EVENT, "step_name": "McpToolStep", "text": "Looking."}
_RAN = make_turn()
_RAN.audit(make_session(input_params={"vip": True, "count": 2}), USER_INPUT)
EVENTS = [
    SeenEvent(STEP_ENTER, {"step": "AuditUserInputStep"}),
    SeenEvent("USER_INPUT", {"text": "hours", "_meta": {}}),
    SeenEvent(STEP_ENTER, {"step": "RulesStep"}),
    SeenEvent("RULE_APPLIED (RulesStep)", {"action": "SET_STATE"}),
]
CALLS = [
    *(PortCall("model", {"purpose": purpose}, {}) for purpose in ("INTENT_AGENT", "RESPONSE_TEXT", "RESPONSE_TEXT")),
    PortCall("task", {"task": "mail", "method": "send"}, {"error_type": None}),
    PortCall("tool", {"tool": "stock", "group": "DB", "args": {"house": "B", "row": 1}}, {}),
    PortCall("tool", {"tool": "", "group": "RAG", "args": {}}, {}),
]
OBSERVED = SeenTurn(
    status=200,
    body={
        "success": True,
        "intent": "FAQ",
        "state": "IDLE",
        "payload": {"type": "TEXT", "value": "Nine to five."},
        "context": {"order": {"id": "48392"}, "gone": None},
        "decision": "new",
        "reason": "first_message",
        "session": {"turn_count": 1},
    },
    conversation={"status": "RUNNING", "lifecycle": "COMPLETE", "context_json": {"a": 1}},
    verbose=[EVENT, OTHER],
    calls=CALLS,
    trail=_RAN.trail.events,
    read_events=lambda: EVENTS,
)
FAILED = SeenTurn(
    status=500,
    body={
        "success": False,
        "payload": {"type": "ERROR", "value": {}},
        "errorCode": "RESPONSE_MAPPING_NOT_FOUND",
        "recoverable": False,
    },
)

FULFILLED: list[tuple[str, Any]] = [
    ("success", True),
    ("http_status", 200),
    ("intent", "FAQ"),
    ("state", {"one_of": ["IDLE", "DONE"]}),
    ("response", {"type": "TEXT", "equals": "Nine to five.", "contains": "five", "one_of": ["Nine to five."]}),
    ("response", {"matches": "^Nine", "min_length": 3}),
    ("response", {}),
    ("decision", "new"),
    ("reason", {"one_of": ["first_message"]}),
    ("session", {"$.turn_count": 1}),
    ("lifecycle", "COMPLETE"),
    ("context", {"$.order.id": "48392", "$.none": {"absent": True}, "$.gone": None}),
    ("input_params", {"vip": True, "count": {"min": 2}, "none": {"absent": True}}),
    ("persisted", {"status": "RUNNING", "context_json": {"contains": {"a": 1}}}),
    ("audit_stages_in_order", ["USER_INPUT", {"stage": "RULE_APPLIED", "payload": {"$.action": "SET_STATE"}}]),
    ("audit_stages_absent", ["STEP_ERROR", "RULE"]),
    ("audit_any_of", [["STEP_ERROR", "RULE_APPLIED"], ["USER_INPUT"]]),
    ("audit_counts", {"RULE_APPLIED": 1, "STEP_ERROR": 0, "USER_INPUT": {"max": 1}}),
    ("audit_meta_absent", False),
    ("trace_steps_in_order", ["AuditUserInputStep", "RulesStep"]),
    ("trace_steps_absent", ["MemoryStep"]),
    ("llm_calls", 3),
    ("llm_calls", {"response": 2, "planner": 0}),
    ("task_calls", [{"bean": "mail", "method": "send"}]),
    ("tool_calls", [{"tool_code": "stock", "args": {"house": "B"}}, {"tool_group": "RAG"}]),
    ("verbose", [{"step_name": "RulesStep", "text": "Thinking."}, {"text": "Looking."}]),
]
STAGES = ["USER_INPUT", "RULE_APPLIED (RulesStep)"]
STEPS = ["AuditUserInputStep", "RulesStep"]
TOOLS = [
    {"tool_code": "stock", "tool_group": "DB", "args": {"house": "B", "row": 1}},
    {"tool_code": None, "tool_group": "RAG", "args": {}},
]
MISSED: list[tuple[str, Any, Miss]] = [
    ("success", False, Miss("expect.success", False, True)),
    ("http_status", 500, Miss("expect.http_status", 500, 200)),
    ("intent", "OTHER", Miss("expect.intent", "OTHER", "FAQ")),
    ("decision", "continue", Miss("expect.decision", "continue", "new")),
    ("reason", "stale", Miss("expect.reason", "stale", "first_message")),
    ("session", {"$.turn_count": 2}, Miss("expect.session['$.turn_count']", 2, 1)),
    ("lifecycle", "RUNNING", Miss("expect.lifecycle", "RUNNING", "COMPLETE")),
    ("state", {"matches": "^D"}, Miss("expect.state", {"matches": "^D"}, "IDLE")),
    ("response", {"type": "JSON"}, Miss("expect.response.type", "JSON", "TEXT")),
    ("response", {"equals": "No."}, Miss("expect.response.equals", "No.", "Nine to five.")),
    ("response", {"contains": "six"}, Miss("expect.response.contains", "six", "Nine to five.")),
    ("response", {"one_of": ["No."]}, Miss("expect.response.one_of", ["No."], "Nine to five.")),
    ("response", {"json": {"$.a": 1}}, Miss("expect.response.json['$.a']", 1, None)),
    ("context", {"$.order.id": "1"}, Miss("expect.context['$.order.id']", "1", "48392")),
    ("input_params", {"vip": 1}, Miss("expect.input_params.vip", 1, True)),
    ("persisted", {"status": "BLOCKED"}, Miss("expect.persisted.status", "BLOCKED", "RUNNING")),
    ("audit_stages_in_order", ["STEP_ERROR"], Miss("expect.audit_stages_in_order[0]", "STEP_ERROR", STAGES)),
    ("audit_stages_absent", ["USER_INPUT"], Miss("expect.audit_stages_absent", "no USER_INPUT", ["USER_INPUT"])),
    ("audit_any_of", [["USER_INPUT"], ["X"]], Miss("expect.audit_any_of[1]", ["X"], STAGES)),
    ("audit_counts", {"RULE_APPLIED": 2}, Miss("expect.audit_counts.RULE_APPLIED", 2, 1)),
    ("audit_meta_absent", True, Miss("expect.audit_meta_absent", "no _meta", ["USER_INPUT"])),
    ("trace_steps_in_order", [*STEPS, "RulesStep"], Miss("expect.trace_steps_in_order[2]", "RulesStep", STEPS)),
    ("trace_steps_absent", ["RulesStep"], Miss("expect.trace_steps_absent", "no RulesStep", STEPS)),
    ("llm_calls", 0, Miss("expect.llm_calls", 0, {"intent": 1, "response": 2})),
    ("llm_calls", {"response": 1}, Miss("expect.llm_calls.response", 1, 2)),
    ("task_calls", [], Miss("expect.task_calls", [], [{"bean": "mail", "method": "send"}])),
    ("tool_calls", [], Miss("expect.tool_calls", [], TOOLS)),
    ("tool_calls", [{"tool_code": "stock"}], Miss("expect.tool_calls", [{"tool_code": "stock"}], TOOLS)),
    ("verbose", [{"text": "Looking."}, {"text": "No."}], Miss("expect.verbose[1]", {"text": "No."}, [EVENT, OTHER])),
]


def list_misses(expect: dict[str, Any], observed: SeenTurn = OBSERVED) -> list[Miss]:
    return list(find_misses(expect, observed))


@pytest.mark.parametrize(("key", "value"), FULFILLED)
def test_an_expectation_is_fulfilled(key: str, value: Any) -> None:
    assert list_misses({key: value}) == []


@pytest.mark.parametrize(("key", "value", "miss"), MISSED)
def test_an_expectation_is_missed_with_where_expected_and_got(key: str, value: Any, miss: Miss) -> None:
    assert list_misses({key: value}) == [miss]


def test_every_key_is_seen_fulfilled_and_missed() -> None:
    others = set(EXPECTATIONS) - {"error"}

    assert {key for key, _ in FULFILLED} == others
    assert {key for key, _, _ in MISSED} == others


def test_a_turn_is_expected_to_succeed_unless_it_says_otherwise() -> None:
    assert list_misses({}) == []
    assert [miss.where for miss in list_misses({}, FAILED)] == ["expect.http_status", "expect.success"]


def test_an_expected_error_implies_that_the_turn_fails() -> None:
    assert (
        list_misses({"http_status": 500, "error": {"code": "RESPONSE_MAPPING_NOT_FOUND", "recoverable": False}}, FAILED)
        == []
    )


def test_an_error_that_is_another_one_is_missed() -> None:
    misses = list_misses({"http_status": 500, "error": {"code": "LLM_TIMEOUT", "recoverable": True}}, FAILED)

    assert misses == [
        Miss("expect.error.code", "LLM_TIMEOUT", "RESPONSE_MAPPING_NOT_FOUND"),
        Miss("expect.error.recoverable", True, False),
    ]


def test_an_error_that_did_not_happen_is_missed() -> None:
    assert list_misses({"error": {}}) == [
        Miss("expect.success", False, True),
        Miss("expect.error.payload.type", "ERROR", "TEXT"),
    ]


def test_a_json_payload_is_looked_into_whether_it_comes_as_a_document_or_as_text() -> None:
    expect = {"response": {"type": "JSON", "json": {"$.parts[1]": "laces"}}}

    for value in ({"parts": ["shoes", "laces"]}, '{"parts": ["shoes", "laces"]}'):
        body = {"success": True, "payload": {"type": "JSON", "value": value}}
        assert list_misses(expect, SeenTurn(body=body)) == []


def test_a_request_that_became_no_turn_has_nothing_to_show() -> None:
    nothing = SeenTurn(status=400, body={"success": False, "payload": None})
    expect = {
        "http_status": 400,
        "success": False,
        "input_params": {"a": {"absent": True}},
        "persisted": {"status": {"absent": True}},
        "context": {"$.a": {"absent": True}},
        "llm_calls": 0,
    }

    assert list_misses(expect, nothing) == []


def test_misses_come_in_the_order_of_the_vocabulary() -> None:
    wrong = list_misses({"audit_counts": {"X": 1}, "state": "X", "http_status": 404})

    assert [miss.where for miss in wrong] == ["expect.http_status", "expect.state", "expect.audit_counts.X"]


def rows(*stages: str | tuple[str, dict[str, Any]]) -> list[SeenEvent]:
    return [SeenEvent(stage, {}) if isinstance(stage, str) else SeenEvent(*stage) for stage in stages]


def first_miss(items: list[Any], *stages: str | tuple[str, dict[str, Any]]) -> Any:
    return find_first_miss(items, rows(*stages))


def test_items_are_a_subsequence() -> None:
    assert first_miss(["A", "C"], "A", "B", "C", "D") is None
    assert first_miss([], "A") is None


def test_a_stage_out_of_order_is_missed_with_what_came_instead() -> None:
    assert first_miss(["B", "A"], "A", "B", "STEP_EXIT", "C") == ("[1]", "A", ["C"])


def test_a_row_is_taken_by_one_item_only() -> None:
    assert first_miss(["A", "A"], "A", "B") == ("[1]", "A", ["B"])
    assert first_miss(["A", "A"], "A", "A") is None


def test_a_name_means_the_stage_with_any_source() -> None:
    assert first_miss(["RULE_APPLIED"], "RULE_APPLIED (RulesStep)") is None
    assert first_miss(["RULE"], "RULE_APPLIED (RulesStep)") is not None


def test_a_name_with_brackets_means_only_itself() -> None:
    assert first_miss(["RULE_APPLIED (RulesStep)"], "RULE_APPLIED (RulesStep)") is None
    assert first_miss(["RULE_APPLIED (RulesStep)"], "RULE_APPLIED (RulesStep Again)") is not None
    assert first_miss(["RULE_APPLIED (RulesStep)"], "RULE_APPLIED") is not None


def test_a_payload_is_looked_for_in_later_rows_of_the_stage_as_well() -> None:
    item = {"stage": "A", "payload": {"$.n": 2}}

    assert first_miss([item, "B"], ("A", {"n": 1}), ("A", {"n": 2}), "B") is None
    assert first_miss([item, "B"], "B", ("A", {"n": 2})) == ("[1]", "B", [])


def test_a_payload_that_does_not_fit_names_its_path_and_value() -> None:
    item = {"stage": "A", "payload": {"$.ok": True, "$.n": {"min": 2}}}

    assert first_miss(["B", item], "B", ("A", {"ok": True, "n": 1})) == ("[1] A['$.n']", {"min": 2}, 1)
