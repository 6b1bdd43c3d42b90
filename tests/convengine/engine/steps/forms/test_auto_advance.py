from typing import Any

from convengine.engine.steps.forms.auto_advance import AutoAdvanceStep
from convengine.engine.turn.rows import OutputSchema
from convengine.engine.turn.session import Session
from convengine.engine.turn.turn import Turn
from tests.builders import make_intent, make_schema, make_session, make_snapshot, make_turn, payload, stages

TEXT = {"type": "string"}
ONE = make_schema("LOAN", {"a": TEXT})
TWO = make_schema("LOAN", {"a": TEXT, "b": TEXT})
INCOMPLETE = {"intent_locked": True, "intent_lock_reason": "SCHEMA_INCOMPLETE"}


def run(schema: OutputSchema | None, context: dict[str, Any], **fields: Any) -> tuple[Session, Turn]:
    turn = make_turn(make_snapshot(make_intent("LOAN"), *([schema] if schema else ())))
    session = make_session(intent="LOAN", state="GATE", resolved_schema=schema, context=context, **fields)
    return AutoAdvanceStep().execute(session, turn).session, turn


def facts(turn: Turn) -> tuple[bool, bool]:
    told = payload(turn, "AUTO_ADVANCE_FACTS")
    return told["schemaComplete"], told["hasAnySchemaValue"]


def test_P2_6_V1_without_a_schema_there_is_nothing_to_publish() -> None:
    session, turn = run(None, {})

    assert not session.schema_complete
    assert stages(turn) == ["AUTO_ADVANCE_SKIPPED_NO_SCHEMA"]


def test_P2_6_V2_a_filled_form_is_complete() -> None:
    session, turn = run(ONE, {"a": "x"})

    assert facts(turn) == (True, True)
    assert (session.schema_complete, session.schema_has_any_value) == (True, True)


def test_P2_6_V3_an_empty_form_is_not() -> None:
    session, turn = run(ONE, {})

    assert facts(turn) == (False, False)
    assert session.missing_required_fields == ("a",)


def test_P2_6_V4_a_form_half_filled_is_neither() -> None:
    assert facts(run(TWO, {"a": "x"})[1]) == (False, True)


def test_P2_6_V5_a_malformed_schema_is_no_exception() -> None:
    session, turn = run(make_schema("LOAN", {}, json_schema='{"type": '), {"a": "x"})

    assert facts(turn) == (False, False)
    assert not session.intent_locked


def test_P2_6_V6_a_task_that_filled_the_last_field_releases_the_lock() -> None:
    session, turn = run(
        TWO, {"a": "x", "b": "y"}, schema_has_any_value=True, missing_required_fields=("b",), **INCOMPLETE
    )

    assert facts(turn) == (True, True)
    assert (session.intent_locked, session.intent_lock_reason) == (False, None)
    assert session.input_params["missing_fields"] == []


def test_P2_6_V7_a_form_that_requires_nothing_is_complete() -> None:
    free = make_schema("LOAN", {"a": TEXT}, required=[])

    assert facts(run(free, {})[1]) == (True, False)


def test_a_rule_that_emptied_a_field_locks_again() -> None:
    session, _ = run(ONE, {}, schema_complete=True, schema_has_any_value=True)

    assert (session.intent_locked, session.intent_lock_reason) == (True, "SCHEMA_INCOMPLETE")


def test_what_did_not_change_is_left_as_the_extraction_told_it() -> None:
    params = {"schema_invalid_fields": {"a": "AMBIGUOUS"}}

    session, _ = run(ONE, {}, missing_required_fields=("a",), input_params=params)

    assert session.input_params is params
    assert not session.intent_locked
