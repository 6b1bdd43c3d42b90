from typing import Any

import pytest

from convengine.engine.clarification.collision import ask_collision_question, is_askable
from convengine.engine.turn.ports import LlmAnswer
from convengine.engine.turn.rows import Row
from convengine.engine.turn.session import Clarification, Session
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
from tests.fakes.models import AnsweringModel

ROWS = (make_intent("LOAN", display_name="Loans"), make_intent("FEES", display_name="Fees"), make_intent("HELLO"))
ASKED = Clarification("Loans or fees?", "AGENT", ({"intent": "LOAN"}, {"intent": "FEES"}))
TOP = [{"intent": "FEES", "confidence": 0.6}, {"intent": "LOAN", "confidence": 0.6}]


def ask(*answers: Any, rows: tuple[Row, ...] = (), **fields: Any) -> tuple[Session, str, Any, AnsweringModel]:
    model = AnsweringModel(answers)
    turn = make_turn(make_snapshot(*ROWS, *rows), model=model if answers else None)
    session = make_session(**{"intent": "LOAN", "state": "INTENT_COLLISION", "user_text": "my order", **fields})
    session, text = ask_collision_question(session, turn)
    return session, text, turn, model


def test_the_model_words_the_question_and_the_session_remembers_it() -> None:
    session, text, turn, model = ask(" Which of the two? ", clarification=ASKED, input_params={"intent_top3": TOP})

    assert text == "Which of the two?"
    assert session.clarification is not None
    assert (session.clarification.question, session.clarification.options) == (text, ASKED.options)
    (request,) = model.requests
    assert request.purpose == "COLLISION"
    assert '"name":"Fees"' in request.user
    assert request.user.endswith("One sentence that ends with a question mark.")
    assert stages(turn) == [
        "INTENT_COLLISION_DETECTED", "PROMPT_RENDERING", "PROMPT_RENDERING", "RESOLVE_RESPONSE_LLM_INPUT",
        "RESOLVE_RESPONSE_LLM_OUTPUT", "INTENT_COLLISION_RESOLVED",
    ]  # fmt: skip
    assert payload(turn, "INTENT_COLLISION_RESOLVED")["output"] == text


def test_without_a_model_the_stored_question_is_asked() -> None:
    _, text, turn, _ = ask(clarification=ASKED)

    assert text == "Loans or fees?"
    assert stages(turn) == ["INTENT_COLLISION_DETECTED", "INTENT_COLLISION_RESOLVED"]


def test_a_name_that_is_a_question_stands_in_quotation_marks() -> None:
    hours = make_intent("HOURS", display_name="When do you open?")

    _, text, _, _ = ask(rows=(hours,), input_params={"intent_top3": [{"intent": "HOURS", "confidence": 0.6}]})

    assert text == "Do you mean “When do you open”?"


@pytest.mark.parametrize(
    ("clarification", "params", "text"),
    [
        (ASKED, {}, "Loans or fees?"),
        (Clarification(" ", "AGENT", ASKED.options), {}, "Do you mean Loans or Fees?"),
        (None, {"intent_top3": TOP}, "Do you mean Fees or Loans?"),
        (None, {"intent_top3": TOP[:1]}, "Do you mean Fees?"),
        (None, {}, "Do you mean Fees or Loans?"),
    ],
)
def test_a_model_that_is_out_leaves_the_built_question(clarification: Any, params: dict[str, Any], text: str) -> None:
    down = LlmAnswer(error_code="LLM_TIMEOUT", error_message="late")

    _, question, turn, _ = ask(down, clarification=clarification, input_params=params)

    assert question == text
    assert payload(turn, "RESOLVE_RESPONSE_LLM_ERROR")["errorCode"] == "LLM_TIMEOUT"


def test_so_do_prompts_that_cannot_be_rendered() -> None:
    broken = make_config("AgentIntentCollisionResolver/USER_PROMPT", "{{ nope }}")

    _, question, turn, model = ask("x", rows=(broken,), clarification=ASKED)

    assert (question, model.requests) == ("Loans or fees?", [])
    assert payload(turn, "RESOLVE_RESPONSE_LLM_ERROR")["missingPromptVars"] == ["nope"]


def test_with_nothing_to_choose_from_there_is_no_question() -> None:
    session = make_session(state="INTENT_COLLISION")

    assert not is_askable(session, make_snapshot(make_intent("HELLO")))
    assert is_askable(session, make_snapshot(*ROWS))
    assert is_askable(session.evolve(clarification=ASKED), make_snapshot())


@pytest.mark.parametrize(
    ("rows", "text"),
    [
        ((make_config("Session/LOCALE", "de-DE"),), "Meinen Sie Fees oder Loans?"),
        (
            (make_schema("LOAN", {}, json_schema={"type": "object", "x-locale": "de-DE"}),),
            "Do you mean Fees or Loans?",
        ),
        ((make_config("Session/LOCALE", "en-GB"),), "Do you mean Fees or Loans?"),
    ],
)
def test_the_built_question_is_in_the_language_of_the_conversation_and_no_other_form_has_a_say(
    rows: tuple[Row, ...], text: str
) -> None:
    assert ask(rows=rows, clarification=None)[1] == text
