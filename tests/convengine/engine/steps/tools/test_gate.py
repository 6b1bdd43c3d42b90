from typing import Any

import pytest

from convengine.engine.llm.scripted import ScriptedModel
from convengine.engine.steps.tools.gate import Skip, find_shut_gate
from convengine.engine.turn import rows
from convengine.engine.turn.session import Clarification, ReplyOverride
from tests.builders import make_intent, make_schema, make_session, make_snapshot, make_tool, make_turn

LOAN = make_intent("LOAN")
TOOL = make_tool("loan.check", intent_code="LOAN")
ACTS = ["NEGATE", "RESET", "EDIT", "AFFIRM"]


def check_gate(*all_rows: rows.Row, model: bool = True, **fields: Any) -> Skip | None:
    """The gate for LOAN/IDLE with a model and a tool; what is not a field of the session is an input param."""
    turn = make_turn(make_snapshot(LOAN, *(all_rows or (TOOL,))), model=ScriptedModel([]) if model else None)
    own = {key: fields.pop(key) for key in list(fields) if key in make_session().__dict__}
    return find_shut_gate(make_session(**{"intent": "LOAN", "state": "IDLE", "input_params": fields, **own}), turn)


def status(*all_rows: rows.Row, **fields: Any) -> str | None:
    skip = check_gate(*all_rows, **fields)
    assert skip is not None
    return skip.status


def test_nothing_is_shut_without_a_reason() -> None:
    assert check_gate() is None
    assert check_gate(dialogue_act="QUESTION") is None


@pytest.mark.parametrize("flag", ["skip_tool_execution", "guardrail_blocked"])
def test_a_guardrail_shuts_before_everything_else(flag: str) -> None:
    assert status(clarification=Clarification("Q?", "AGENT"), **{flag: "true"}) == "SKIPPED_BY_GUARDRAIL"


def test_P2_4_11_V9_an_incomplete_form_shuts() -> None:
    schema = make_schema("LOAN", {"amount": {}})

    skip = check_gate(resolved_schema=schema, schema_complete=False, missing_required_fields=("amount",))

    assert skip is not None
    assert (skip.status, skip.about["missing_fields"]) == ("SKIPPED_SCHEMA_INCOMPLETE", ["amount"])
    assert check_gate(resolved_schema=schema, schema_complete=True) is None


@pytest.mark.parametrize("act", ACTS)
def test_acts_that_decide_something_shut(act: str) -> None:
    assert status(dialogue_act=act) == "SKIPPED_DIALOGUE_ACT"


def test_P2_4_11_V10_a_confirmed_yes_passes() -> None:
    assert check_gate(dialogue_act="AFFIRM", routing_decision="PROCEED_CONFIRMED") is None
    assert status(dialogue_act="NEGATE", routing_decision="PROCEED_CONFIRMED") == "SKIPPED_DIALOGUE_ACT"


def test_a_greeting_is_one_by_its_act_and_not_by_its_first_word() -> None:
    assert status(dialogue_act="GREETING") == "SKIPPED_GREETING"
    assert check_gate(dialogue_act="QUESTION", user_text="hello, where is order 7?") is None


def test_an_open_question_shuts_and_leaves_the_status() -> None:
    skip = check_gate(clarification=Clarification("Which?", "AGENT"))

    assert skip is not None
    assert (skip.status, skip.reason) == (None, "PENDING_CLARIFICATION")


@pytest.mark.parametrize(
    "tool",
    [
        make_tool("a", intent_code="FAQ"),
        make_tool("a", intent_code="LOAN", state_code="DONE"),
        make_tool("a", enabled=False),
    ],
)
def test_P2_4_11_V1_without_a_tool_in_scope_there_is_nothing_to_plan(tool: rows.Tool) -> None:
    skip = check_gate(tool)

    assert skip is not None
    assert (skip.status, skip.outcome) == ("NO_TOOLS_FOR_SCOPE", "NO_TOOLS")


def test_without_a_model_nobody_plans() -> None:
    skip = check_gate(model=False)

    assert skip is not None
    assert (skip.status, skip.reason) == ("NO_MODEL", "LLM_NOT_CONFIGURED")


def test_without_tools_and_model_it_is_the_tools_that_are_told() -> None:
    assert status(make_tool("a", enabled=False), model=False) == "NO_TOOLS_FOR_SCOPE"


def test_a_turn_whose_answer_is_decided_plans_nothing() -> None:
    override = check_gate(reply_override=ReplyOverride("No.", "SESSION"))
    reset = check_gate(reset_only=True)

    assert override is not None
    assert reset is not None
    assert (override.reason, reset.reason) == ("REPLY_OVERRIDE", "RESET_ONLY")
