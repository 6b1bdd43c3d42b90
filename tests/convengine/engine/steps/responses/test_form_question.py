"""What a form asks for in an answer, and when it is given up."""

from dataclasses import replace
from typing import Any

import pytest

from convengine.engine.steps.responses.step import ResponseResolutionStep
from convengine.engine.turn.payload import TextPayload
from convengine.engine.turn.rows import PromptTemplate, Row
from convengine.engine.turn.session import FieldsRead, RefusedValue, Session
from convengine.engine.turn.turn import Turn
from tests.builders import (
    make_action,
    make_classifier,
    make_config,
    make_intent,
    make_response,
    make_schema,
    make_session,
    make_snapshot,
    make_turn,
    payload,
    stages,
)
from tests.fakes.models import AnsweringModel

FORM = make_schema(
    "LOAN",
    {
        "name": {"type": "string", "title": "Name", "x-ask": "Who are you?", "x-done": "Hi {{ name }}."},
        "amount": {"type": "number", "title": "Amount", "x-invalid": "{{ value }}? At most {{ max }}.", "maximum": 9},
    },
    state_code="GATE",
    schema_id=7,
)
ASKS = make_response("{{ question }}", intent_code="LOAN", state_code="GATE")


def run(*rows: Row, form: Any = FORM, **fields: Any) -> tuple[Session, Turn]:
    turn = make_turn(make_snapshot(make_intent("LOAN"), form, *rows), text="text")
    values = {"user_text": "text", "intent": "LOAN", "state": "GATE", "resolved_schema": form, **fields}
    return ResponseResolutionStep().execute(make_session(**values), turn).session, turn


def get_answer(*rows: Row, **fields: Any) -> Any:
    return run(*rows, **fields)[0].payload


def test_the_first_open_field_is_asked_for_and_remembered() -> None:
    session, _ = run(ASKS)

    assert session.payload == TextPayload("Who are you?")
    assert session.context["dialogue"]["asked_field"] == "name"


def test_a_question_may_have_several_texts() -> None:
    form = make_schema("LOAN", {"name": {"type": "string", "x-ask": "Who?\n{% or %}\nYour name?"}}, state_code="GATE")
    session, turn = run(ASKS, form=form)
    choice = payload(turn, "TEXT_CHOSEN")

    assert choice == {"number": choice["number"], "count": 2, "field": "name"}
    assert session.payload == TextPayload(["Who?", "Your name?"][choice["number"] - 1])
    assert "TEXT_CHOSEN" not in stages(run(ASKS)[1])


def test_the_question_is_the_answer_of_a_collecting_state_without_one() -> None:
    assert get_answer() == TextPayload("Who are you?")


def test_what_was_read_is_acknowledged() -> None:
    read = FieldsRead(read=("name",), asked_field="name")

    assert get_answer(ASKS, context={"name": "Al"}, fields_read=read) == TextPayload("Hi Al. Please tell me: amount.")


def test_a_refused_value_is_named_with_its_bounds() -> None:
    read = FieldsRead(refused=(RefusedValue("amount", "12", "OUT_OF_BOUNDS"),), asked_field="amount")
    context = {"name": "Al", "dialogue": {"asked_field": "amount", "misses": 1}}

    assert get_answer(ASKS, context=context, fields_read=read) == TextPayload("12? At most 9.")


def test_after_a_miss_it_asks_again_in_other_words() -> None:
    context = {"dialogue": {"asked_field": "name", "misses": 1}}

    assert get_answer(ASKS, context=context) == TextPayload("Sorry, I did not understand that. Who are you?")


def test_a_pending_slot_wins() -> None:
    assert get_answer(ASKS, context={"pending_slot": "amount"}) == TextPayload("Please tell me: amount.")


def test_all_missing_fields_can_be_asked_for_at_once() -> None:
    session, _ = run(ASKS, make_config("Form/ASK", "ALL"))

    assert session.payload == TextPayload("Please tell me: name and amount.")
    assert session.context["dialogue"]["asked_field"] == "name"


def test_of_all_fields_a_refused_one_is_asked_for_first() -> None:
    read = FieldsRead(refused=(RefusedValue("amount", "99", "OUT_OF_BOUNDS", {"max": 9}),), asked_field="name")
    session, _ = run(ASKS, make_config("Form/ASK", "ALL"), fields_read=read)

    assert session.payload == TextPayload("99? At most 9.")
    assert session.context["dialogue"]["asked_field"] == "amount"


def test_a_field_that_a_rule_removed_is_asked_for() -> None:
    assert get_answer(ASKS, context={"name": "Al"}, schema_complete=True) == TextPayload("Please tell me: amount.")


def test_a_complete_form_asks_nothing_and_forgets() -> None:
    context = {"name": "Al", "amount": 1, "dialogue": {"asked_field": "amount"}}
    read = FieldsRead(read=("amount",), asked_field="amount")
    session, _ = run(make_response("done"), context=context, schema_complete=True, fields_read=read)

    assert session.payload == TextPayload("done")
    assert session.context["dialogue"] == {"last_schema": 7}


def test_a_name_of_the_question_never_hides_a_field() -> None:
    row = make_response("{{ question }}/{{ asked_field }}", intent_code="LOAN", state_code="GATE")

    assert get_answer(row, context={"question": "own"}) == TextPayload("own/name")


def test_the_form_is_given_up_after_too_many_misses() -> None:
    context = {"dialogue": {"asked_field": "name", "misses": 3}}
    session, turn = run(ASKS, make_response("a colleague", state_code="HAND_OVER"), context=context, intent_locked=True)

    assert session.payload == TextPayload("a colleague")
    assert (session.intent, session.state, session.intent_locked) == ("LOAN", "HAND_OVER", False)
    assert session.context["handover"] is True
    assert payload(turn, "FORM_GIVEN_UP") == {"field": "name", "misses": 3, "schemaId": 7}
    # The misses of the form do not count outside of it.
    assert "dialogue" not in session.context


def test_without_an_answer_for_it_there_is_a_text() -> None:
    context = {"dialogue": {"asked_field": "name", "misses": 3}}

    assert get_answer(ASKS, context=context) == TextPayload(
        "Sorry, I cannot help you with this. Please contact our staff."
    )
    assert get_answer(ASKS, make_config("Form/HAND_OVER_TEXT", "Call us."), context=context) == TextPayload("Call us.")


def test_a_form_without_a_hand_over_of_its_own_hands_over_as_the_only_intent_that_does() -> None:
    context = {"dialogue": {"asked_field": "name", "misses": 3}}
    rows = [
        make_intent("PERSON"),
        make_classifier("PERSON", "agent", state_code="HAND_OVER"),
        make_response("A person takes over.", intent_code="PERSON", state_code="ANY"),
    ]

    session, _ = run(ASKS, *rows, context=context)

    assert session.payload == TextPayload("A person takes over.")
    assert (session.intent, session.state, session.context["handover"]) == ("PERSON", "HAND_OVER", True)
    assert get_answer(
        ASKS, *rows, make_response("own", intent_code="LOAN", state_code="HAND_OVER"), context=context
    ) == (TextPayload("own"))


@pytest.mark.parametrize("text", ["can I just speak to someone please", "I'd rather talk to a real person", "human!"])
def test_who_asks_for_a_person_gets_one_at_the_first_time(text: str) -> None:
    answer = make_response("a colleague", state_code="HAND_OVER")
    session, turn = run(ASKS, answer, user_text=text, intent_locked=True)

    assert session.payload == TextPayload("a colleague")
    assert (session.state, "FORM_GIVEN_UP" in stages(turn)) == ("HAND_OVER", True)


LIVING = replace(FORM, json_schema={**FORM.json_schema, "x-clear": ["DONE", "CANCEL"]})
FULL = {"name": "Al", "amount": 5}


@pytest.mark.parametrize(
    ("result", "cause"),
    [("EXECUTED", "DONE"), ("REJECTED", "CANCEL"), ("FAILED", None), (None, "DONE")],
)
def test_a_form_leaves_the_context_after_the_answer_if_it_is_done_or_refused(result: Any, cause: Any) -> None:
    done = make_response("Booked for {{ name }}.", intent_code="LOAN", state_code="DONE")
    facts = {"state": "DONE", "schema_complete": True, "context": FULL}

    session, turn = run(done, form=LIVING, input_params={"pending_action_result": result}, **facts)

    assert session.payload == TextPayload("Booked for Al.")
    assert ("name" not in session.context) is bool(cause)
    assert [payload(turn, "FORM_CLEARED")["cause"]] == [cause] if cause else "FORM_CLEARED" not in stages(turn)


def test_a_form_with_an_open_action_is_not_done_by_its_answer() -> None:
    done = make_response("Shall I?", intent_code="LOAN", state_code="DONE")
    action = make_action("PAY", intent_code="LOAN", state_code="DONE")

    session, _ = run(done, action, form=LIVING, state="DONE", schema_complete=True, context=FULL)

    assert session.context["name"] == "Al"


def test_a_rule_that_leaves_the_intent_cancels_its_form() -> None:
    hello = make_response("Hello.")
    context = {**FULL, "dialogue": {"last_schema": 7}}

    session, turn = run(hello, form=LIVING, intent="ORDER", state="IDLE", resolved_schema=None, context=context)

    assert "name" not in session.context
    assert payload(turn, "FORM_CLEARED")["cause"] == "CANCEL"


def test_the_prompts_of_an_answer_know_the_asked_field_and_its_question() -> None:
    model = AnsweringModel(("Please say who you are.",))
    row = make_response("", intent_code="LOAN", state_code="GATE", response_type="DERIVED")
    prompt = PromptTemplate(
        template_id=3, intent_code="LOAN", state_code="GATE", response_type="TEXT", system_prompt="Ask.",
        user_prompt="{{ asked_field }}: {{ question }}",
    )  # fmt: skip
    turn = make_turn(make_snapshot(make_intent("LOAN"), FORM, row, prompt), text="hi", model=model)
    session = make_session(user_text="hi", intent="LOAN", state="GATE", resolved_schema=FORM)

    session = ResponseResolutionStep().execute(session, turn).session

    assert model.requests[0].user == "name: Who are you?"
    assert session.payload == TextPayload("Please say who you are.")


VISIT = make_schema(
    "LOAN", {"day": {"type": "string", "format": "date", "x-ask": "Which day?"}}, state_code="GATE", schema_id=7
)
DAYS = ("2026-09-09", "2026-09-16")
BOTH = "Do you mean Wednesday 9 September 2026 or Wednesday 16 September 2026? Which day?"


def test_the_days_that_a_question_offers_are_listed_and_offered_again() -> None:
    refused = RefusedValue("day", "next Wednesday", "AMBIGUOUS", {"candidates": DAYS})
    session, _ = run(ASKS, form=VISIT, fields_read=FieldsRead((), (refused,), "day"))

    assert session.payload == TextPayload(BOTH)
    assert session.context["dialogue"]["listed_options"] == list(DAYS)

    session, _ = run(ASKS, form=VISIT, context=session.context)

    assert session.payload == TextPayload(BOTH)
    assert session.context["dialogue"]["listed_options"] == list(DAYS)


def test_a_refusal_for_another_reason_offers_nothing() -> None:
    before = {"dialogue": {"asked_field": "day", "listed_options": list(DAYS)}}
    refused = RefusedValue("day", "30 February", "INVALID_DATE", {})

    session, _ = run(ASKS, form=VISIT, context=before, fields_read=FieldsRead((), (refused,), "day"))

    assert session.context["dialogue"].get("listed_options") is None
