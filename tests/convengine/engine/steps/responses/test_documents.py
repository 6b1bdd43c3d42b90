"""A message that nothing else took up is answered by what documents say."""

from typing import Any

import pytest

from convengine.engine.steps.responses.step import ResponseResolutionStep
from convengine.engine.turn.rows import AnswerDocument
from convengine.engine.turn.session import Session
from convengine.engine.turn.turn import Turn
from tests.builders import (
    make_config,
    make_intent,
    make_response,
    make_session,
    make_snapshot,
    make_turn,
    payload,
    stages,
)
from tests.fakes.models import AnsweringModel

RULES = AnswerDocument(
    document_id=7,
    title="Hotel",
    content="# Keys\n\nLeave your key at the desk. A lost key costs 40 euros.\n\n# Pets\n\nDogs stay for 10 euros.",
    link="https://hotel.example/rules",
)
ROWS = (make_intent("LOAN"), make_response("hello"), make_response("pardon?", state_code="NOT_UNDERSTOOD"), RULES)
LOST = "what do I pay if I lose the key?"


def run(text: str, *more: Any, **fields: Any) -> tuple[Session, Turn]:
    turn = make_turn(make_snapshot(*ROWS, *more), text=text)
    session = make_session(user_text=text, intent="LOAN", state="IDLE", **fields)
    return ResponseResolutionStep().execute(session, turn).session, turn


def read(session: Session) -> str:
    assert session.payload is not None
    return str(session.payload.value)


def test_sections_are_shown_word_for_word_with_their_source() -> None:
    session, turn = run(LOST)

    assert read(session).startswith(
        "I found this:\n\nKeys\n“Leave your key at the desk. A lost key costs 40 euros.”\nhttps://hotel.example/rules"
    )
    assert (session.cards[0]["document"], session.cards[0]["titles"]) == (7, ["Keys"])
    assert "NOT_UNDERSTOOD" not in stages(turn)
    recorded = payload(turn, "DOCUMENTS_FOUND")
    assert recorded["sections"][0]["confidence"] > 0.5
    assert (session.intent, session.state) == ("LOAN", "IDLE")


def test_what_they_do_not_say_is_not_understood() -> None:
    session, turn = run("who won the election in France?")

    assert (read(session), session.cards) == ("pardon?", ())
    assert "DOCUMENTS_FOUND" not in stages(turn)


def test_a_message_that_something_took_up_does_not_ask_documents() -> None:
    session, _ = run(LOST, intent_source="CLASSIFIER")

    assert (read(session), session.cards) == ("hello", ())


@pytest.mark.parametrize(
    ("config", "beginning"),
    [
        (make_config("Session/LOCALE", "de-DE"), "Das habe ich gefunden:"),
        (make_config("ResponseResolutionStep/DOCUMENTS_TEXT", "Our rules say:"), "Our rules say:"),
    ],
)
def test_the_text_before_is_in_the_language_of_the_conversation_or_the_setting(config: Any, beginning: str) -> None:
    assert read(run(LOST, config)[0]).startswith(beginning)


def test_a_document_for_a_group_is_not_shown_to_others() -> None:
    staff = AnswerDocument(
        document_id=8, title="Staff", content="# Wine\n\nThe wine cellar opens at noon.", user_group="staff"
    )
    text = "when does the wine cellar open?"

    assert "noon" not in read(run(text, staff)[0])
    assert "noon" in read(run(text, staff, params={"userGroup": "staff"})[0])


def ask(answer: str) -> tuple[Session, Turn, AnsweringModel]:
    model = AnsweringModel([answer])
    allowed = make_config("ResponseResolutionStep/DOCUMENTS_ENABLE_LLM", "true")
    turn = make_turn(make_snapshot(*ROWS, allowed), text=LOST, model=model)
    session = make_session(user_text=LOST, intent="LOAN", state="IDLE")
    return ResponseResolutionStep().execute(session, turn).session, turn, model


def test_a_model_answers_in_short_and_the_sections_stay_beside_it() -> None:
    session, _, model = ask("The lost key costs 40 euros.")

    assert read(session).startswith("The lost key costs 40 euros.\n\nI found this:\n\nKeys\n“Leave your key")
    assert "A lost key costs 40 euros." in model.requests[0].user
    assert LOST in model.requests[0].user


@pytest.mark.parametrize(
    ("answer", "added"),
    [
        ("The lost key costs 45 euros.", ["45"]),
        ("Two lost keys cost 40 euros.", ["two"]),
        ("Jim has the key at the desk.", ["jim"]),
        ("The key is at desk.example/key.", ["desk.example/key."]),
        (f"{'The key. ' * 130}45", [".", "The", "key.", "45"]),
    ],
)
def test_what_the_sections_do_not_have_is_refused(answer: str, added: list[str]) -> None:
    session, turn, _ = ask(answer)

    assert read(session).startswith("I found this:")
    assert (payload(turn, "DOCUMENTS_LLM_ERROR")["errorCode"], payload(turn, "DOCUMENTS_LLM_ERROR")["added"]) == (
        "NOT_IN_SECTIONS",
        added,
    )


def test_a_model_that_does_not_know_says_nothing() -> None:
    session, turn, _ = ask("None.")

    assert read(session).startswith("I found this:")
    assert "DOCUMENTS_LLM_ERROR" not in stages(turn)
