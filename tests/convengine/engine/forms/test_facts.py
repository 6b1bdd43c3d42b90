from convengine.engine.forms.facts import clear_form_facts, get_usable_form, lock_intent, set_form_facts
from convengine.engine.forms.form import Form
from convengine.engine.turn.facts import collect_facts
from tests.builders import make_schema, make_session, make_snapshot, make_turn, stages

ROW = make_schema("LOAN", {"city": {"type": "string", "enum": ["Dallas"]}, "a": {"type": "string"}}, schema_id=3)


def test_rules_see_what_is_known_of_the_form() -> None:
    context = {"city": "Paris"}

    session = set_form_facts(
        make_session(context=context), ROW, Form(ROW.json_schema).status(context), {"a": "AMBIGUOUS"}
    )

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
