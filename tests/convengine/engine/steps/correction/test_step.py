from typing import Any

import pytest

from convengine.engine.steps.correction.step import CorrectionStep
from convengine.engine.turn.rows import PromptTemplate, Row
from convengine.engine.turn.session import Session
from convengine.engine.turn.turn import Turn
from tests.builders import (
    check_writes,
    make_config,
    make_intent,
    make_schema,
    make_session,
    make_snapshot,
    make_turn,
    payload,
    stages,
)

LOAN = make_schema(
    "LOAN",
    {
        "amount": {"type": "integer"},
        "city": {"type": "string", "enum": ["Dallas", "Irving"]},
        "dueDate": {"type": "string", "description": "Due date"},
        "express": {"type": "boolean"},
    },
    required=["amount", "city"],
    schema_id=7,
    description="the loan",
)
VISIT = make_schema(
    "LOAN", {"amount": {"type": "integer"}, "dueDate": {"type": "string", "format": "date"}}, required=[]
)
HELD = {"amount": 35000, "city": "Dallas"}
STANDARD, ANSWER = "CONTINUE_STANDARD_FLOW", "HANDLE_AS_ANSWER"


def template(mode: str | None, contract: Any = None) -> PromptTemplate:
    return PromptTemplate(
        template_id=1,
        intent_code="LOAN",
        state_code="HERE",
        response_type="TEXT",
        interaction_mode=mode,
        interaction_contract=contract,
    )


def run(
    act: str | None,
    text: str | None,
    mode: str | None = "CONFIRM",
    *,
    contract: Any = None,
    rows: tuple[Row, ...] = (LOAN,),
    context: Any = HELD,
    **fields: Any,
) -> tuple[Session, Turn]:
    params = {"dialogue_act": act, **fields.pop("params", {})}
    turn = make_turn(make_snapshot(make_intent("LOAN"), template(mode, contract), *rows), text=text)
    before = {
        "intent": "LOAN",
        "state": "HERE",
        "context": context,
        "input_params": params,
        "user_text": text,
        **fields,
    }
    session = make_session(**before)
    after = CorrectionStep().execute(session, turn).session
    check_writes(CorrectionStep, session, after)
    return after, turn


def routing(session: Session) -> tuple[str, bool, bool]:
    """The decision, and whether extraction and intent resolution are skipped."""
    params = session.input_params
    return params["routing_decision"], params["skip_schema_extraction"], bool(params.get("skip_intent_resolution"))


def get_refusal(turn: Turn) -> Any:
    return payload(turn, "CORRECTION_STEP_PATCH_NOT_APPLIED")["reason"]


def test_COR_V1_a_yes_to_a_complete_form_is_taken() -> None:
    session, turn = run("AFFIRM", "yes", intent_locked=True, intent_lock_reason="SCHEMA_INCOMPLETE")

    assert routing(session) == ("PROCEED_CONFIRMED", True, True)
    assert (session.intent_locked, session.schema_complete, session.resolved_schema) == (False, True, LOAN)
    assert session.input_params["missing_fields"] == []
    assert session.input_params["schema_id"] == 7
    assert session.input_params["schema_description"] == "the loan"
    assert payload(turn, "CORRECTION_STEP_CONFIRM_ACCEPT")["routingDecision"] == "PROCEED_CONFIRMED"


def test_COR_V2_a_yes_to_an_incomplete_form_is_refused() -> None:
    session, turn = run("AFFIRM", "yes", context={"amount": 35000})

    assert routing(session) == (STANDARD, False, False)
    assert payload(turn, "CORRECTION_STEP_CONFIRM_REFUSED")["missingFields"] == ["city"]


def test_COR_V3_an_edit_behind_a_preamble_is_applied() -> None:
    session, turn = run("EDIT", "Ohh wait, I missed one zero. Change amount to 350000.")

    assert session.context == {"amount": 350000, "city": "Dallas"}
    assert routing(session) == ("APPLY_CORRECTION", True, True)
    assert session.input_params["correction_applied"] is True
    assert session.input_params["correction_target_field"] == "amount"
    assert session.input_params["correction_fields"] == ["amount"]
    event = payload(turn, "CORRECTION_STEP_CORRECTION_PATCH_APPLIED")
    assert (event["field"], event["value"], event["previousValue"]) == ("amount", 350000, 35000)


@pytest.mark.parametrize(
    ("text", "context"),
    [
        pytest.param("change amount to 350,000", {"amount": 350000, "city": "Dallas"}, id="COR_V4"),
        pytest.param("set the city as irving", {"amount": 35000, "city": "Irving"}, id="COR_V6"),
        pytest.param("no, use Irving not Dallas", {"amount": 35000, "city": "Irving"}, id="COR_V10"),
        pytest.param("due date: 2025-01-31", {**HELD, "dueDate": "2025-01-31"}, id="COR_V11"),
        pytest.param("change amount to 350k", {"amount": 350000, "city": "Dallas"}, id="COR_V19"),
        pytest.param("change it to 5", {"amount": 5, "city": "Dallas"}, id="COR_V8"),
        pytest.param("replace Dallas with Irving", {"amount": 35000, "city": "Irving"}, id="by the held value"),
    ],
)
def test_an_edit_is_applied_with_the_type_of_the_field(text: str, context: dict[str, Any]) -> None:
    session, _ = run("EDIT", text)

    assert session.context == context
    assert session.input_params["routing_decision"] == "APPLY_CORRECTION"


def test_an_edit_reads_the_value_as_people_say_it() -> None:
    session, _ = run("EDIT", "change the due date to next Monday and the amount to thirty thousand", rows=(VISIT,))

    assert session.context["dueDate"] == "2026-01-19"
    assert session.context["amount"] == 30000


def test_an_edit_with_a_day_that_there_is_not_says_so() -> None:
    session, turn = run("EDIT", "change the due date to 30 February", rows=(VISIT,))

    assert session.context == HELD
    assert get_refusal(turn) == "INVALID_DATE"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        pytest.param("change amount to 3.5", "NOT_WHOLE", id="COR_V5"),
        pytest.param("change city to Paris", "VALUE_VIOLATES_SCHEMA", id="COR_V7"),
        pytest.param("set amount to null", "VALUE_VIOLATES_SCHEMA", id="COR_V12"),
        pytest.param("change amount to 5 and city to Paris", "VALUE_VIOLATES_SCHEMA", id="all or nothing"),
    ],
)
def test_an_edit_that_cannot_be_applied_changes_nothing(text: str, reason: str) -> None:
    session, turn = run("EDIT", text)

    assert session.context == HELD
    assert routing(session) == (STANDARD, False, False)
    assert session.input_params["correction_applied"] is False
    assert get_refusal(turn) == reason


def test_COR_V20_amended_a_doubtful_edit_is_asked_back() -> None:
    session, _ = run("EDIT", "set express to maybe")

    assert session.context == {**HELD, "dialogue": {"offered": {"express": True}}}
    assert session.input_params["correction_applied"] is False


def test_COR_V9_two_fields_are_changed_together() -> None:
    session, turn = run("EDIT", "change amount to 5 and city to Irving")

    assert session.context == {"amount": 5, "city": "Irving"}
    assert stages(turn).count("CORRECTION_STEP_CORRECTION_PATCH_APPLIED") == 2
    assert session.input_params["correction_fields"] == ["amount", "city"]


def test_COR_V13_a_retry_needs_no_schema() -> None:
    session, turn = run(None, "Try again!", "PROCESSING", rows=())

    assert routing(session) == ("RETRY_IN_PLACE", True, True)
    assert payload(turn, "CORRECTION_STEP_RETRY_REQUESTED")["state"] == "HERE"


def test_COR_V14_a_confirm_state_retries_nothing() -> None:
    assert routing(run(None, "try again")[0])[0] == STANDARD


def test_COR_V15_a_contract_decides_alone() -> None:
    session, turn = run("EDIT", "change amount to 5", contract={"allows": ["affirm"]})

    assert session.context == HELD
    assert routing(session)[0] == STANDARD
    assert "CORRECTION_STEP_PATCH_NOT_APPLIED" not in stages(turn)


def test_COR_V16_without_a_list_in_the_contract_the_mode_decides() -> None:
    session, _ = run("AFFIRM", "yes", contract={"expects": ["structured_input"]})

    assert routing(session)[0] == "PROCEED_CONFIRMED"


def test_COR_V17_an_answer_is_a_signal_and_skips_nothing() -> None:
    session, turn = run("ANSWER", "Dallas")

    assert routing(session) == (ANSWER, False, False)
    assert stages(turn) == []


def test_COR_V18_a_remembered_schema_id_is_ignored() -> None:
    other = make_schema("FAQ", {"topic": {"type": "string"}}, schema_id=99)

    session, _ = run("AFFIRM", "yes", rows=(LOAN, make_intent("FAQ"), other), params={"schema_id": 99})

    assert session.resolved_schema is LOAN


def test_an_answer_that_asks_for_a_retry_is_one() -> None:
    assert routing(run("ANSWER", "once more", "ERROR")[0])[0] == "RETRY_IN_PLACE"


def test_the_words_of_a_retry_are_a_setting() -> None:
    own = make_config("CorrectionStep/REGEX_RETRY", "encore[!]?")

    assert routing(run(None, "Encore!", "ERROR", rows=(own,))[0])[0] == "RETRY_IN_PLACE"
    assert routing(run(None, "again", "ERROR", rows=(own,))[0])[0] == STANDARD


def test_what_was_left_of_an_earlier_step_is_cleared_first() -> None:
    session, _ = run("QUESTION", "what?", params={"skip_schema_extraction": True, "correction_applied": True})

    assert routing(session)[1] is False
    assert session.input_params["correction_applied"] is False


def test_both_choices_are_decisions_before_the_stage() -> None:
    _, turn = run("AFFIRM", "yes")

    assert stages(turn) == ["DECISION", "DECISION", "CORRECTION_STEP_CONFIRM_ACCEPT"]
    assert [payload(turn, "DECISION", nth)["kind"] for nth in (0, 1)] == ["TEMPLATE", "SCHEMA"]
    assert payload(turn, "DECISION")["key"]["use"] == "INTERACTION"


def test_a_schema_that_is_none_is_told_and_changes_nothing() -> None:
    session, turn = run("AFFIRM", "yes", rows=(make_schema("LOAN", {}, json_schema="<schema/>", schema_id=3),))

    assert routing(session)[0] == STANDARD
    assert payload(turn, "CONFIG_ROW_INVALID")["rowId"] == 3


def test_without_a_schema_an_edit_is_left_to_the_standard_flow() -> None:
    assert routing(run("EDIT", "change amount to 5", rows=())[0])[0] == STANDARD


def test_a_patch_that_empties_a_field_leaves_null_behind() -> None:
    session, _ = run("EDIT", "set express to null", context={**HELD, "express": True})

    assert session.context == {**HELD, "express": None}
    assert session.schema_complete


def test_a_turn_that_only_resets_routes_nothing() -> None:
    assert routing(run("AFFIRM", "yes", reset_only=True)[0])[0] == STANDARD


def test_null_intent_and_blank_text_are_no_obstacle() -> None:
    assert routing(run("EDIT", "  ")[0])[0] == STANDARD
    assert routing(run("AFFIRM", None, intent=None, state=None)[0])[0] == STANDARD
