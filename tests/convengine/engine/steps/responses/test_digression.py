"""The answer to a question in between, followed by the open question."""

from typing import Any

import pytest

from convengine.engine.pending_actions.record import RECORD
from convengine.engine.steps.responses.step import ResponseResolutionStep
from convengine.engine.turn.payload import JsonPayload, TextPayload
from convengine.engine.turn.rows import Row
from convengine.engine.turn.session import Clarification, Digression, FieldsRead, Session
from convengine.engine.turn.turn import Turn
from tests.builders import (
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

FORM = make_schema(
    "LOAN",
    {"name": {"type": "string", "title": "Name", "x-ask": "Who are you?"}, "amount": {"type": "number"}},
    state_code="GATE",
    schema_id=7,
)
ASKS = make_response("Well. {{ question }}", intent_code="LOAN", state_code="GATE")
PARKING = make_response("Behind the house, says {{ intent }}.", intent_code="FAQ", state_code="LIST", response_id=70)
QUESTION = Digression("FAQ", "LIST", 5)
ANSWER = "Behind the house, says FAQ."


def run(*rows: Row, form: Any = FORM, **fields: Any) -> tuple[Session, Turn]:
    turn = make_turn(make_snapshot(make_intent("LOAN"), make_intent("FAQ"), *([form] if form else []), *rows))
    values = {
        "user_text": "where can I park?", "intent": "LOAN", "state": "GATE", "resolved_schema": form,
        "digression": QUESTION, **fields,
    }  # fmt: skip
    return ResponseResolutionStep().execute(make_session(**values), turn).session, turn


def get_text(*rows: Row, **fields: Any) -> Any:
    answer = run(*rows, **fields)[0].payload
    assert isinstance(answer, TextPayload)
    return answer.value


def test_the_open_question_follows_the_answer() -> None:
    session, turn = run(ASKS, PARKING)

    assert session.payload == TextPayload(f"{ANSWER}\n\nLet us go on. Who are you?")
    assert session.digression
    assert session.digression.question == "Who are you?"
    assert (session.intent, session.state, session.context["dialogue"]["asked_field"]) == ("LOAN", "GATE", "name")
    assert payload(turn, "DIGRESSION_ANSWERED") == {"intent": "FAQ", "rowId": 5}
    assert payload(turn, "RESOLVE_RESPONSE")["responseId"] == 70
    assert "NOT_UNDERSTOOD" not in stages(turn)


def test_misses_are_neither_counted_nor_forgotten_nor_held_against_the_user() -> None:
    dialogue = {"asked_field": "name", "misses": 2, "not_understood_count": 2}

    session, _ = run(ASKS, PARKING, context={"dialogue": dialogue})

    assert session.payload == TextPayload(f"{ANSWER}\n\nLet us go on. Who are you?")
    assert session.context["dialogue"] == {**dialogue, "last_schema": 7}


def test_the_state_s_own_question_is_repeated_if_it_has_one() -> None:
    own = make_response("Your name, please?", intent_code="LOAN", state_code="GATE")

    assert get_text(own, PARKING).endswith("Let us go on. Your name, please?")


def test_a_confirmation_is_repeated_as_it_stands() -> None:
    confirm = make_response("Is {{ name }} right?", intent_code="LOAN", state_code="CONFIRM")
    fields: dict[str, Any] = {"state": "CONFIRM", "context": {"name": "Al"}, "form": None}

    assert get_text(confirm, PARKING, **fields) == f"{ANSWER}\n\nLet us go on. Is Al right?"


def test_a_clarification_is_repeated() -> None:
    assert get_text(PARKING, clarification=Clarification("A or B?", "AGENT"), form=None).endswith("go on. A or B?")


def test_without_an_answer_of_the_state_the_stored_question_is_repeated() -> None:
    assert get_text(PARKING, form=None, lifecycle_detail={"question": "And?"}).endswith("Let us go on. And?")
    assert get_text(PARKING, form=None) == ANSWER


@pytest.mark.parametrize(
    ("text", "follows"),
    [
        ("Back to the {{ intent | lower }}: {{ question }}", "Back to the loan: Who are you?"),
        ("Now then.", "Now then. Who are you?"),
        ("{{ nothing_there }}", "Let us go on. Who are you?"),
    ],
)
def test_the_words_between_are_a_setting(text: str, follows: str) -> None:
    assert get_text(ASKS, PARKING, make_config("Form/RETURN_TEXT", text)) == f"{ANSWER}\n\n{follows}"


def test_the_question_follows_words_of_several_texts_that_lack_it() -> None:
    words = make_config("Form/RETURN_TEXT", "{{ question }} please.\n{% or %}\nAnd now:")
    texts = {get_text(ASKS, PARKING, words, conversation_id=str(number)) for number in range(8)}

    assert texts == {f"{ANSWER}\n\nWho are you? please.", f"{ANSWER}\n\nAnd now: Who are you?"}


def test_they_are_in_the_language_of_the_form() -> None:
    german = make_schema("LOAN", {"name": {"type": "string", "x-ask": "Wer?"}}, state_code="GATE")
    german.json_schema["x-locale"] = "de-DE"

    assert get_text(ASKS, PARKING, form=german).endswith("Machen wir weiter. Wer?")


def test_with_values_the_usual_answer_follows() -> None:
    beside = Digression("FAQ", "LIST", 5, has_values=True)
    read = FieldsRead(read=("name",))

    assert get_text(ASKS, PARKING, digression=beside, context={"name": "Al"}, fields_read=read) == (
        f"{ANSWER}\n\nLet us go on. Well. Please tell me: amount."
    )


def test_an_answer_that_asks_nothing_follows_without_words_between() -> None:
    done = make_response("Noted.", intent_code="LOAN", state_code="DONE")
    beside = Digression("FAQ", "LIST", 5, has_values=True)

    session, _ = run(done, PARKING, state="DONE", form=None, digression=beside)

    assert session.payload == TextPayload(f"{ANSWER}\n\nNoted.")
    assert session.digression
    assert session.digression.question == ""


def test_a_document_stands_alone() -> None:
    document = make_response('{"place": 1}', intent_code="FAQ", state_code="LIST", output_format="JSON")

    assert run(ASKS, document)[0].payload == JsonPayload({"place": 1})


def test_an_open_action_waits_one_turn_longer() -> None:
    record = {"status": "OPEN", "action_key": "PAY", "expires_turn": 4, "expires_at_epoch_ms": 9, "scope": "LOAN|GATE"}

    kept, _ = run(ASKS, PARKING, context={RECORD: record})
    beside, _ = run(ASKS, PARKING, context={RECORD: record}, digression=Digression("FAQ", "LIST", 5, has_values=True))

    assert kept.context[RECORD]["expires_turn"] == 5
    assert kept.context[RECORD]["expires_at_epoch_ms"] == 9
    assert beside.context[RECORD]["expires_turn"] == 4


def test_the_question_what_to_change_stays_open() -> None:
    dialogue = {"last_schema": 7, "listed_options": ["name"]}
    confirm = make_response("Right?", intent_code="LOAN", state_code="CONFIRM")
    fields = {"state": "CONFIRM", "schema_complete": True, "context": {"name": "Al", "amount": 3, "dialogue": dialogue}}

    session, _ = run(confirm, PARKING, **fields)

    assert session.payload == TextPayload(f"{ANSWER}\n\nLet us go on. What should I change: name or amount?")
    assert session.context["dialogue"] == dialogue
