from convengine.domain.facts import facts
from convengine.schemas.facts import locked, usable_form, with_facts, without_form
from convengine.schemas.form import Form
from tests.builders import make_schema, make_session, make_snapshot, make_turn, stages

ROW = make_schema("LOAN", {"city": {"type": "string", "enum": ["Dallas"]}, "a": {"type": "string"}}, schema_id=3)


def test_rules_see_what_is_known_of_the_form() -> None:
    context = {"city": "Paris"}

    session = with_facts(make_session(context=context), ROW, Form(ROW.json_schema).status(context), {"a": "AMBIGUOUS"})

    seen = facts(session)
    assert seen["missingRequiredFields"] == ["city", "a"]
    assert seen["missingFieldOptions"] == {"city": ["Dallas"]}
    assert seen["inputParams"]["schema_invalid_fields"]["a"] == "AMBIGUOUS"
    assert "city" in seen["inputParams"]["schema_invalid_fields"]
    assert seen["schemaJson"] == context
    assert seen["inputParams"]["schema_description"] == ""


def test_the_lock_follows_the_form() -> None:
    held = locked(make_session(), False)

    assert (held.intent_locked, held.intent_lock_reason) == (True, "SCHEMA_INCOMPLETE")
    assert (locked(held, True).intent_locked, locked(held, True).intent_lock_reason) == (False, None)
    assert without_form(held.evolve(resolved_schema=ROW)).resolved_schema is None


def test_an_unusable_row_is_told_once_and_gives_no_form() -> None:
    broken = make_schema("LOAN", {}, json_schema="<x/>")
    turn = make_turn(make_snapshot(broken))
    session = make_session()

    assert usable_form(session, turn, None) is None
    assert usable_form(session, turn, broken) is None
    assert usable_form(session, turn, broken) is None
    assert stages(turn) == ["CONFIG_ROW_INVALID"]
