from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from convengine.engine.forms.form import Form
from convengine.engine.steps.correction.step import CorrectionStep, read_patch
from convengine.engine.turn.rows import PromptTemplate, Row
from convengine.engine.turn.session import Session
from convengine.engine.turn.turn import Turn
from tests.builders import (
    make_config,
    make_intent,
    make_schema,
    make_session,
    make_snapshot,
    make_turn,
    payload,
    stages,
)
from tests.examples import count_examples

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
    changed = {name for name, value in vars(after).items() if name in vars(session) and vars(session)[name] != value}
    assert changed <= CorrectionStep.writes
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
        pytest.param("due date 2025-01-31", {**HELD, "dueDate": "2025-01-31"}, id="COR_V11"),
        pytest.param("change amount to 350k", {"amount": 350000, "city": "Dallas"}, id="COR_V19"),
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
        pytest.param("change amount to 3.5", "VALUE_INVALID", id="COR_V5"),
        pytest.param("change city to Paris", "VALUE_VIOLATES_SCHEMA", id="COR_V7"),
        pytest.param("change it to 5", "FIELD_UNKNOWN", id="COR_V8"),
        pytest.param("set amount to null", "NULL_NOT_ALLOWED", id="COR_V12"),
        pytest.param("set express to maybe", "VALUE_INVALID", id="COR_V20"),
        pytest.param("change amount to 5 and city to Paris", "VALUE_VIOLATES_SCHEMA", id="all or nothing"),
    ],
)
def test_an_edit_that_cannot_be_applied_changes_nothing(text: str, reason: str) -> None:
    session, turn = run("EDIT", text)

    assert session.context == HELD
    assert routing(session) == (STANDARD, False, False)
    assert session.input_params["correction_applied"] is False
    assert get_refusal(turn) == reason


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


def test_whatever_goes_wrong_in_a_patch_the_turn_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError("boom")

    monkeypatch.setattr("convengine.engine.steps.correction.step.read_patch", fail)

    session, turn = run("EDIT", "change amount to 5")

    assert session.context == HELD
    assert get_refusal(turn) == "ERROR"


def test_a_turn_that_only_resets_routes_nothing() -> None:
    assert routing(run("AFFIRM", "yes", reset_only=True)[0])[0] == STANDARD


def test_null_intent_and_blank_text_are_no_obstacle() -> None:
    assert routing(run("EDIT", "  ")[0])[0] == STANDARD
    assert routing(run("AFFIRM", None, intent=None, state=None)[0])[0] == STANDARD


SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "amount": {"type": "integer", "minimum": 1},
        "city": {"type": "string", "enum": ["Dallas", "Irving", "St. Louis"]},
        "dueDate": {"type": "string", "title": "Due date"},
        "express": {"type": "boolean"},
        "rate": {"type": "number"},
        "note": {"type": ["string", "null"], "maxLength": 40},
        "start": {"type": "string", "format": "date"},
        "tags": {"type": "array"},
        "recipient": {"type": "string"},
    },
    "required": ["amount", "city"],
}
HELD_PATCH = {"amount": 35000, "city": "Dallas", "recipient": "Anna Schmidt"}
FORM = Form(SCHEMA)


def read_changes(text: str) -> dict[str, Any] | str:
    """The changes by field, or the reason why there are none."""
    patch = read_patch(text, FORM, HELD_PATCH)
    return patch.reason or {change.field.path: change.value for change in patch.changes}


CASES: list[tuple[str, dict[str, Any] | str]] = [
    ("Ohh wait, I missed one zero. Change amount to 350000.", {"amount": 350000}),
    ("change amount to 350,000 please", {"amount": 350000}),
    ("change amount to $350k!", {"amount": 350000}),
    ("change amount to 3.0", {"amount": 3}),
    ("change amount to 3.5", "VALUE_INVALID"),
    ("change the recipient to not Anna", "VALUE_INVALID"),
    ("set the note to before noon please", {"note": "before noon"}),
    ("change the start to after 2027-03-09", "VALUE_INVALID"),
    ("change amount to 1,00", "VALUE_INVALID"),
    ("change amount to 35.000", "VALUE_INVALID"),
    ("change amount to -5", "VALUE_VIOLATES_SCHEMA"),
    ("change rate to 3.5", {"rate": 3.5}),
    ("set the city as irving", {"city": "Irving"}),
    ("set city to st louis", "VALUE_VIOLATES_SCHEMA"),
    ("set city to St. Louis, thanks", {"city": "St. Louis"}),
    ("set express to yes", {"express": True}),
    ("set express: No.", {"express": False}),
    ("set express to maybe", "VALUE_INVALID"),
    ("set tags to a, b", "TYPE_UNSUPPORTED"),
    ("set note to null", {"note": None}),
    ("set express to null", {"express": None}),
    ("set city to null", "NULL_NOT_ALLOWED"),
    ("set note to 'To be announced'", {"note": "To be announced"}),
    ("set note to To be announced", {"note": "To be announced"}),
    (f"set note to {'x' * 41}", "VALUE_VIOLATES_SCHEMA"),
    ("set start to 31 January 2025", {"start": "2025-01-31"}),
    ("set start to 03/04/2025", "DATE_AMBIGUOUS"),
    ("set start to soon", "VALUE_INVALID"),
    ("change amount to 5 and city to Irving", {"amount": 5, "city": "Irving"}),
    ("change amount to 5 and city to Paris", "VALUE_VIOLATES_SCHEMA"),
    ("change amount to 5 and colour to red", "FIELD_UNKNOWN"),
    ("change it to 5", "FIELD_UNKNOWN"),
    ("replace Dallas with Irving", {"city": "Irving"}),
    ("change Anna Schmidt to Berta Maier", {"recipient": "Berta Maier"}),
    ("amount 350000", {"amount": 350000}),
    ("correct the amount, it should be 5", {"amount": 5}),
    ("due date 2025-01-31", {"dueDate": "2025-01-31"}),
    ("the due date is tomorrow. Thanks", {"dueDate": "tomorrow"}),
    ("amount and city", "FIELD_AMBIGUOUS"),
    ("the amount", "VALUE_INVALID"),
    ("no, use Irving not Dallas", {"city": "Irving"}),
    ("Irving, not Dallas", {"city": "Irving"}),
    ("Not Dallas but Irving.", {"city": "Irving"}),
    ("city Irving not Dallas", {"city": "Irving"}),
    ("it should be Berta Maier, not Anna Schmidt", {"recipient": "Berta Maier"}),
    ("use Irving not Paris", "FIELD_UNKNOWN"),
    ("recipient Berta, not Anna Schmidt", {"recipient": "Berta"}),
    ("hm", "FIELD_UNKNOWN"),
    ("", "FIELD_UNKNOWN"),
]


@pytest.mark.parametrize(("text", "expected"), CASES, ids=[case[0] or "blank" for case in CASES])
def test_what_a_text_changes(text: str, expected: dict[str, Any] | str) -> None:
    assert read_changes(text) == expected


def test_the_reason_names_what_it_is_about() -> None:
    assert read_patch("set colour to red", FORM, HELD_PATCH).field == "colour"
    assert read_patch("set city to Paris", FORM, HELD_PATCH).field == "city"


def test_an_old_value_in_two_fields_says_nothing() -> None:
    held = {"city": "Dallas", "recipient": "dallas"}

    assert read_patch("Irving not Dallas", FORM, held).reason == "FIELD_UNKNOWN"


PARTS = [
    "change ",
    "amount",
    "city",
    " to ",
    "5",
    "Irving",
    " and ",
    " not ",
    "Dallas",
    ", ",
    ". ",
    "=",
    "null",
    "note ",
    "3,5",
]


@settings(max_examples=count_examples(300))
@given(st.lists(st.sampled_from(PARTS), max_size=14).map("".join))
def test_what_is_applied_fits_the_schema(text: str) -> None:
    for change in read_patch(text, FORM, HELD_PATCH).changes:
        assert change.value is None or FORM.breaks(change.field, change.value) is None
