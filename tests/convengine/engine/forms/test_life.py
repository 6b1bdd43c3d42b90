"""The life of a form, row by row."""

from dataclasses import replace
from typing import Any

import pytest

from convengine.engine.forms.life import (
    ClearCause,
    OnLeave,
    clear_form,
    find_ended_schema,
    is_final_state,
    leave_form,
    leave_old_form,
    read_on_leave,
)
from convengine.engine.turn.rows import OutputSchema, Row
from convengine.engine.turn.session import Session
from convengine.engine.turn.turn import Turn
from tests.builders import (
    make_action,
    make_config,
    make_intent,
    make_response,
    make_rule,
    make_schema,
    make_session,
    make_snapshot,
    make_turn,
    payload,
    stages,
)

FIELDS = {"amount": {"type": "number"}, "name": {"type": "string", "x-keep": True}}
FULL = {"amount": 5, "name": "Al", "other": 1}
ALL = ["DONE", "CANCEL", "RESTART"]
DONE = make_response("Done.", intent_code="LOAN", state_code="DONE")


def make_form(**keys: Any) -> OutputSchema:
    schema = make_schema("LOAN", FIELDS, state_code="GATE", schema_id=7)
    return replace(schema, json_schema={**schema.json_schema, **{f"x-{key}": value for key, value in keys.items()}})


def make_loan(*rows: Row, **fields: Any) -> tuple[Session, Turn]:
    turn = make_turn(make_snapshot(make_intent("LOAN"), make_intent("ORDER"), *rows))
    return make_session(**{"intent": "LOAN", "state": "GATE", "context": FULL, **fields}), turn


@pytest.mark.parametrize("cause", list(ClearCause))
def test_x_clear_says_when_the_fields_leave_the_context(cause: ClearCause) -> None:
    form = make_form(clear=[cause.value])
    session, turn = make_loan(form)

    assert dict(clear_form(session, turn, form, cause).without_context("dialogue").context) == {
        "name": "Al",
        "other": 1,
    }
    assert payload(turn, "FORM_CLEARED") == {"schemaId": 7, "cause": cause.value, "fields": ["amount"]}


@pytest.mark.parametrize("form", [make_form(), make_form(clear=["RESTART"])], ids=["no x-clear", "another cause"])
def test_a_schema_without_the_cause_clears_nothing(form: OutputSchema) -> None:
    session, turn = make_loan(form)

    assert clear_form(session, turn, form, ClearCause.DONE) is session
    assert stages(turn) == []


def test_leaving_ends_the_lock_the_question_and_the_state() -> None:
    form = make_form(clear=ALL)
    dialogue = {"asked_field": "amount", "misses": 2, "last_schema": 7}
    session, turn = make_loan(form, context={**FULL, "dialogue": dialogue}, intent_locked=True)

    left = leave_form(session, turn, form, "FORM_LEFT")

    assert (left.intent, left.state, left.intent_locked) == ("LOAN", "UNKNOWN", False)
    assert "dialogue" not in left.context
    assert left.transitions[-1].cause == "FORM_LEFT"


@pytest.mark.parametrize(
    ("keys", "rows", "policy"),
    [
        pytest.param({}, (), OnLeave.STAY, id="no x-clear and no x-on-leave: as ever"),
        pytest.param({"clear": ["CANCEL"]}, (), OnLeave.LEAVE, id="the default"),
        pytest.param({"clear": ["CANCEL"]}, (make_config("Form/ON_LEAVE", "ASK"),), OnLeave.ASK, id="the setting"),
        pytest.param({"on-leave": "ASK"}, (), OnLeave.ASK, id="x-on-leave alone"),
        pytest.param({"clear": ALL, "on-leave": "STAY"}, (), OnLeave.STAY, id="x-on-leave goes first"),
        pytest.param({"clear": ALL, "on-leave": "MAYBE"}, (), OnLeave.LEAVE, id="an unknown word"),
    ],
)
def test_x_on_leave_goes_before_the_setting(keys: dict[str, Any], rows: tuple[Row, ...], policy: OnLeave) -> None:
    session, turn = make_loan(*rows)

    assert read_on_leave(session, turn, make_form(**keys)) is policy


@pytest.mark.parametrize(
    ("intent", "state", "cleared"),
    [("ORDER", "GATE", True), ("LOAN", "DONE", False), ("ORDER", "INTENT_COLLISION", False)],
)
def test_a_form_is_cancelled_when_its_intent_is_left_for_good(intent: str, state: str, cleared: bool) -> None:
    form = make_form(clear=ALL)
    context = {**FULL, "dialogue": {"last_schema": 7}}
    session, turn = make_loan(form, intent=intent, state=state, context=context)

    assert ("amount" not in leave_old_form(session, turn).context) is cleared
    assert ("FORM_CLEARED" in stages(turn)) is cleared


@pytest.mark.parametrize(
    ("rows", "is_final"),
    [
        pytest.param((DONE,), True, id="an answer and nothing else"),
        pytest.param((make_response("Done.", state_code="DONE"),), True, id="an answer of every intent"),
        pytest.param(
            (make_response("Done.", state_code="DONE"), make_rule(state_code="DONE")),
            False,
            id="a rule of every intent",
        ),
        pytest.param((), False, id="no answer"),
        pytest.param((DONE, make_rule(intent_code="LOAN", state_code="DONE")), False, id="a rule"),
        pytest.param((DONE, make_action("PAY", intent_code="LOAN", state_code="DONE")), False, id="an action"),
        pytest.param((DONE, make_schema("LOAN", FIELDS, state_code="DONE")), False, id="a form"),
    ],
)
def test_a_final_state_answers_and_can_do_nothing_more(rows: tuple[Row, ...], is_final: bool) -> None:
    _, turn = make_loan(*rows)

    assert is_final_state(turn.snapshot, "LOAN", "DONE") is is_final


@pytest.mark.parametrize(
    ("form", "fields", "has_ended"),
    [
        pytest.param(make_form(clear=ALL), {"state": "DONE", "context": {"name": "Al"}}, True, id="done and cleared"),
        pytest.param(make_form(clear=ALL), {"state": "DONE"}, False, id="not cleared yet"),
        pytest.param(make_form(clear=ALL), {"state": "UNKNOWN"}, True, id="left"),
        pytest.param(make_form(), {"state": "DONE", "context": {}}, False, id="never cleared"),
        pytest.param(make_form(clear=ALL), {"context": {}}, False, id="still open"),
    ],
)
def test_a_form_has_ended_when_it_was_cleared(form: OutputSchema, fields: dict[str, Any], has_ended: bool) -> None:
    session, turn = make_loan(form, DONE, **fields)

    assert (find_ended_schema(session, turn) is form) is has_ended
