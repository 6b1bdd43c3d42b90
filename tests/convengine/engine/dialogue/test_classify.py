"""A yes or no in the language of the conversation counts after a question, and a longer yes at a confirmation."""

from typing import Any

import pytest

from convengine.engine.dialogue.classify import classify
from convengine.engine.turn.dialogue_state import DialogueState
from tests.builders import (
    make_classifier,
    make_config,
    make_intent,
    make_schema,
    make_session,
    make_snapshot,
    make_turn,
)

QUESTION = {"type": "TEXT", "text": "Is that right?"}
STATEMENT = {"type": "TEXT", "text": "That is noted."}


def classify_answer(text: str, last_answer: Any = QUESTION, locale: str = "", **extensions: Any) -> str:
    form = make_schema("VISIT", {"name": {"type": "string"}})
    form.json_schema.update(extensions)
    setting = make_config("Session/LOCALE", locale)
    session = make_session(user_text=text, last_assistant=last_answer, intent="VISIT", context={"name": "Ada"})
    session = DialogueState(last_schema=form.schema_id).store(session)
    return classify(session, make_turn(make_snapshot(form, setting)), lambda: False).act.value


@pytest.mark.parametrize(
    ("text", "locale", "act"),
    [
        ("ja, passt so", "de-DE", "AFFIRM"),
        ("Ja, alles richtig, vielen Dank", "de-DE", "AFFIRM"),
        ("nein danke", "de-DE", "NEGATE"),
        ("ja", "", "AFFIRM"),
        ("Yes, that is correct, thank you.", "", "AFFIRM"),
        ("not really", "en-GB", "NEGATE"),
    ],
)
def test_a_yes_or_no_counts_in_the_language_of_the_conversation(text: str, locale: str, act: str) -> None:
    assert classify_answer(text, locale=locale) == act


def test_the_words_of_a_language_count_after_a_question_only() -> None:
    assert classify_answer("passt so", STATEMENT, "de-DE") == "NEW_REQUEST"


def test_the_language_of_the_form_counts_too() -> None:
    assert classify_answer("ja, passt so", **{"x-locale": "de-DE"}) == "AFFIRM"


@pytest.mark.parametrize(
    ("text", "act"),
    [
        ("yes, book it for me", "AFFIRM"),
        ("yes but make it Tuesday", "NEW_REQUEST"),
        ("yes, at 5", "NEW_REQUEST"),
        ("yes, can I pay by card?", "QUESTION"),
        ("yes book it. and then I need another one for my sister", "NEW_REQUEST"),
        ("yes, and I need another helmet", "NEW_REQUEST"),
        ("yes, and I need another one first", "NEW_REQUEST"),
        ("ok. I want another one instead", "NEW_REQUEST"),
    ],
)
def test_a_longer_yes_confirms_a_form_unless_it_changes_something(text: str, act: str) -> None:
    assert classify_answer(text, **{"x-on-no": "ASK_WHAT_TO_CHANGE"}) == act


@pytest.mark.parametrize("text", ["yes", "yes please", "ja bitte"])
def test_a_yes_to_what_should_i_change_confirms_nothing(text: str) -> None:
    form = make_schema("VISIT", {"name": {"type": "string"}})
    session = make_session(user_text=text, last_assistant=QUESTION, intent="VISIT", context={"name": "Ada"})
    state = DialogueState(last_schema=form.schema_id, listed_options=("name",))
    setting = make_config("Session/LOCALE", "de-DE")

    act = classify(state.store(session), make_turn(make_snapshot(form, setting)), lambda: False).act

    assert act.value == "ANSWER"


@pytest.mark.parametrize(
    ("text", "locale", "act"),
    [
        ("no no, all correct", "en-GB", "NEW_REQUEST"),
        ("nein, stimmt alles so", "de-DE", "NEW_REQUEST"),
        ("no that's fine", "en-GB", "NEW_REQUEST"),
        ("nee passt so", "de-DE", "NEW_REQUEST"),
        ("no thanks", "en-GB", "NEGATE"),
        ("no, that's not correct", "en-GB", "NEGATE"),
    ],
)
def test_a_yes_behind_a_no_is_neither(text: str, locale: str, act: str) -> None:
    assert classify_answer(text, locale=locale, **{"x-on-no": "ASK_WHAT_TO_CHANGE"}) == act


@pytest.mark.parametrize(
    ("text", "act"),
    [
        ("yes please, and I want to order a voucher too", "AFFIRM"),
        ("yes, and then I need a gift voucher", "AFFIRM"),
        ("yes, I need a gift voucher instead of this", "NEW_REQUEST"),
        ("yes, but not yet, I need a gift voucher first", "NEW_REQUEST"),
        ("yes, I have to talk to my boss first", "NEW_REQUEST"),
        ("yes, and I have to talk to my boss", "NEW_REQUEST"),
        ("yes, and I want to talk to somebody first", "NEW_REQUEST"),
        ("yes and can I speak to a person", "NEW_REQUEST"),
        ("yes and one more person", "NEW_REQUEST"),
        ("right, I want to talk to somebody", "NEW_REQUEST"),
    ],
)
def test_a_yes_confirms_a_form_before_a_wish_that_is_added_and_is_for_no_person(text: str, act: str) -> None:
    form = make_schema("VISIT", {"name": {"type": "string"}})
    form.json_schema["x-on-no"] = "ASK_WHAT_TO_CHANGE"
    session = make_session(user_text=text, last_assistant=QUESTION, intent="VISIT", context={"name": "Ada"})
    phrases = [
        make_classifier("VOUCHER", "I need a gift voucher", rule_type="PHRASE"),
        make_classifier("VOUCHER", "I want to order a voucher", rule_type="PHRASE"),
        make_classifier("PERSON", "I want to talk to somebody", rule_type="PHRASE", state_code="HAND_OVER"),
        make_classifier("PERSON", "can I speak to a person", rule_type="PHRASE", state_code="HAND_OVER"),
    ]
    snapshot = make_snapshot(
        form, make_config("Session/LOCALE", "en-GB"), *map(make_intent, ("VISIT", "VOUCHER", "PERSON")), *phrases
    )
    state = DialogueState(last_schema=form.schema_id)

    assert classify(state.store(session), make_turn(snapshot), lambda: False).act.value == act
