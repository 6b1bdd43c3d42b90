"""Reading a message into a form."""

import pytest

from convengine.engine.forms.form import get_form
from convengine.engine.forms.read_message import AskedFields, extract_fields
from convengine.engine.turn.session import Exchange
from tests.builders import (
    make_classifier,
    make_config,
    make_intent,
    make_schema,
    make_session,
    make_snapshot,
    make_turn,
)

ABSENCE = make_schema(
    "ABSENCE", {"day": {"type": "string", "format": "date"}, "reason": {"type": "string", "enum": ["ill", "away"]}}
)
PHRASE = make_classifier("ABSENCE", "we can't come tomorrow", rule_type="PHRASE")


def read(text: str, *history: Exchange, state: str = "UNKNOWN") -> dict[str, str]:
    turn = make_turn(make_snapshot(ABSENCE, PHRASE))
    session = make_session(user_text=text, intent="ABSENCE", turn_start_state=state, history=history)
    found = extract_fields(session, turn, get_form(turn.snapshot, ABSENCE), AskedFields())
    return {finding.field: finding.value for finding in found.extracted}


@pytest.mark.parametrize("text", ["we cant come on 2027-03-04", "we can't make it on 2027-03-04"])
def test_what_the_phrases_of_the_intent_deny_is_meant(text: str) -> None:
    assert read(text) == {"day": "2027-03-04"}


def test_other_denials_count() -> None:
    assert read("we are not away on 2027-03-04") == {}


def test_the_message_before_the_question_which_intent_is_meant_is_read_too() -> None:
    before = Exchange("ill on 2027-03-04", "Do you mean Absence or Booking?")

    assert read("the absence", before, state="INTENT_COLLISION") == {"day": "2027-03-04", "reason": "ill"}
    assert read("absence, away", before, state="INTENT_COLLISION") == {"day": "2027-03-04", "reason": "away"}
    assert read("the absence", before) == {}


STAY = make_schema("STAY", {"months": {"type": "number", "title": "Months"}, "size": {"enum": ["small", "large"]}})


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("two. can I get in late in the evening?", {"months": 2}),
        ("half a year, do you take cards", {"months": 6}),
        ("3. und wo kann ich parken", {"months": 3}),
        ("two, or is three cheaper?", {}),
        ("can I get in late?", {}),
    ],
)
def test_the_answer_beside_a_question_is_read(text: str, values: dict[str, int]) -> None:
    turn = make_turn(make_snapshot(STAY))
    session = make_session(user_text=text, intent="STAY")
    asked = AskedFields(("months",), is_question=True)
    found = extract_fields(session, turn, get_form(turn.snapshot, STAY), asked)

    assert {finding.field: finding.value for finding in found.extracted} == values


QUESTIONS = {
    "double": {"type": "boolean", "title": "Double lesson", "x-ask": "Shall it be a double lesson?"},
    "seats": {"type": "integer", "title": "Seats", "x-ask": "How many seats?"},
    "day": {"type": "string", "format": "date", "title": "Day"},
    "kind": {"enum": ["Blue Room", "Garden"], "title": "Kind"},
    "name": {"type": "string", "title": "Name", "x-ask": "Your name?"},
}
FORM = make_schema("LESSON", QUESTIONS)
BESIDE = make_classifier("LESSON_Q1", "Is Mister Miller the teacher?", rule_type="PHRASE")


@pytest.mark.parametrize("asked", ["double", "seats", "day", "kind"])
@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Kevin Maurer", "Kevin Maurer"),
        ("Graham Peel.", "Graham Peel"),
        ("Petra von der Heide", "Petra von der Heide"),
        ("Anne-Marie O'Neill", "Anne-Marie O'Neill"),
        ("Selin Acar", "Selin Acar"),
        ("Dr. Ines Kahle", "Dr. Ines Kahle"),
        ("kevin maurer", None),
        ("Kevin", None),
        ("Kevin Miller", None),
        ("Kevin Maurer?", None),
        ("Good Morning", None),
        ("Thank You", None),
        ("No Idea", None),
        ("Next Week", None),
        ("Garden Party", None),
        ("Not Me", None),
        ("Just Two", None),
        ("I Wonder", None),
        ("Guten Morgen", None),
        ("Vielen Dank", None),
        ("Lieber Morgen", None),
    ],
)
def test_a_name_beside_another_question_is_kept(asked: str, text: str, name: str | None) -> None:
    turn = make_turn(make_snapshot(FORM, BESIDE, make_intent("LESSON_Q1", returns=True)))
    session = make_session(user_text=text, intent="LESSON")
    found = extract_fields(session, turn, get_form(turn.snapshot, FORM), AskedFields((asked,), is_question=True))

    assert {item.field: item.value for item in found.extracted}.get("name") == name


@pytest.mark.parametrize(
    "more",
    [
        {"street": {"type": "string", "title": "Street"}},
        {"child": {"type": "string", "title": "Name of the child"}},
        {"note": {"type": "string", "title": "Note"}},
    ],
)
def test_a_name_that_may_be_another_text_is_not_taken(more: dict[str, object]) -> None:
    form = make_schema("LESSON", QUESTIONS | more)
    turn = make_turn(make_snapshot(form))
    session = make_session(user_text="Kevin Maurer", intent="LESSON")
    found = extract_fields(session, turn, get_form(turn.snapshot, form), AskedFields(("double",), is_question=True))

    assert found.extracted == ()


@pytest.mark.parametrize(
    "text", ["Kleiner Hund", "Rote Rosen", "Schöne Grüße", "Ganzer Tag", "Zwei Hunde", "Herr Wolf"]
)
def test_a_noun_with_its_adjective_is_no_german_name(text: str) -> None:
    form = make_schema("LESSON", QUESTIONS)
    turn = make_turn(make_snapshot(form, make_config("Session/LOCALE", "de-DE")))
    session = make_session(user_text=text, intent="LESSON")
    found = extract_fields(session, turn, get_form(turn.snapshot, form), AskedFields(("double",), is_question=True))

    assert [item.value for item in found.extracted] == (["Herr Wolf"] if text == "Herr Wolf" else [])
