from typing import Any

from convengine.engine.forms.form import Form
from convengine.engine.forms.session_form import (
    choose_schema,
    clear_form_facts,
    decide_schema,
    find_schema,
    get_usable_form,
    lock_intent,
    set_form_facts,
)
from convengine.engine.turn.facts import collect_facts
from tests.builders import make_intent, make_schema, make_session, make_snapshot, make_turn, payload, stages

A = {"a": {"type": "string"}}


def row(schema_id: int, **values: Any) -> Any:
    return make_schema("LOAN", A, schema_id=schema_id, **values)


def choose_form(*rows: Any, intent: str | None = "LOAN", state: str = "GATE") -> Any:
    schema = find_schema(make_snapshot(make_intent("LOAN"), *rows), intent, state)
    return schema and schema.schema_id


def test_P2_5_6_V12_the_exact_state_comes_before_priority() -> None:
    assert choose_form(row(1, priority=1), row(2, state_code="GATE", priority=50)) == 2


def test_inside_a_scope_priority_decides_then_the_id() -> None:
    assert choose_form(row(1, priority=20), row(2, priority=10)) == 2
    assert choose_form(row(2), row(1)) == 1


def test_a_schema_belongs_to_one_intent() -> None:
    assert choose_form(make_schema("ANY", A, schema_id=1)) is None
    assert choose_form(row(1), intent="UNKNOWN") is None
    assert choose_form(row(1), intent=None) is None
    assert choose_form(row(1, enabled=False)) is None


def test_blank_is_the_one_language_that_is_read() -> None:
    assert choose_form(row(1, schema_type="")) == 1
    assert choose_form(row(1, schema_type="XML")) is None


def test_why_another_row_did_not_win_is_told() -> None:
    rows = (
        row(1, schema_type="XML", state_code="GATE"),
        row(2),
        row(3),
        row(4, state_code="DONE"),
        make_schema("ANY", A, schema_id=5),
    )

    choice = choose_schema(make_snapshot(make_intent("LOAN"), *rows), "LOAN", "GATE")

    assert {candidate.row_id: candidate.reason for candidate in choice.candidates()} == {
        2: None,
        3: "LOWER_PRIORITY",
        1: "SCHEMA_TYPE",
        5: "SCOPE_INTENT",
    }
    assert choice.cut["SCOPE_STATE"] == 1


def test_the_choice_is_a_decision_and_stays_for_the_turn() -> None:
    turn = make_turn(make_snapshot(make_intent("LOAN"), make_intent("FAQ"), row(1)))
    session = make_session(intent="LOAN", state="GATE")

    chosen = decide_schema(session, turn)
    assert chosen is not None
    assert payload(turn, "DECISION")["winner"] == 1
    assert decide_schema(session.evolve(resolved_schema=chosen, state="ELSEWHERE"), turn) is chosen
    assert stages(turn) == ["DECISION"]
    assert decide_schema(session.evolve(resolved_schema=chosen, intent="FAQ"), turn) is None


def test_nothing_is_told_where_no_schema_exists() -> None:
    turn = make_turn(make_snapshot(make_intent("LOAN")))

    assert decide_schema(make_session(intent="LOAN"), turn) is None
    assert stages(turn) == []


ROW = make_schema("LOAN", {"city": {"type": "string", "enum": ["Dallas"]}, "a": {"type": "string"}}, schema_id=3)


def test_rules_see_what_is_known_of_the_form() -> None:
    context = {"city": "Paris"}

    session = set_form_facts(make_session(context=context), ROW, Form(ROW.json_schema), {"a": "AMBIGUOUS"})

    seen = collect_facts(session)
    assert seen["missingRequiredFields"] == ["city", "a"]
    assert seen["missingFieldOptions"] == {"city": ["Dallas"]}
    assert seen["inputParams"]["schema_invalid_fields"]["a"] == "AMBIGUOUS"
    assert "city" in seen["inputParams"]["schema_invalid_fields"]
    assert seen["schemaJson"] == context
    assert seen["inputParams"]["schema_description"] == ""


def test_the_lock_follows_the_form() -> None:
    held = lock_intent(make_session(), False)

    assert (held.intent_locked, held.intent_lock_reason) == (True, "SCHEMA_INCOMPLETE")
    assert (lock_intent(held, True).intent_locked, lock_intent(held, True).intent_lock_reason) == (False, None)
    assert clear_form_facts(held.evolve(resolved_schema=ROW)).resolved_schema is None


def test_an_unusable_row_is_told_once_and_gives_no_form() -> None:
    broken = make_schema("LOAN", {}, json_schema="<x/>")
    turn = make_turn(make_snapshot(broken))
    session = make_session()

    assert get_usable_form(session, turn, None) is None
    assert get_usable_form(session, turn, broken) is None
    assert get_usable_form(session, turn, broken) is None
    assert stages(turn) == ["CONFIG_ROW_INVALID"]
