"""What a front end learns of the open question, over the API."""

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from config_admin.models import CeIntent, CeIntentClassifier
from tests.dialogues.rows.worlds import DENTIST, TABLE, make_caller, make_setting, say

pytestmark = pytest.mark.django_db
VISIT: dict[str, Any] = {
    "code": "VISIT", "title": "Visit", "kind": "collect", "locale": "de-DE", "phrases": ["I want to come"],
    "fields": [
        {"name": "day", "title": "Tag", "type": "date", "min": "today", "max": "today+90d", "question": "Wann?"},
        {"name": "how", "title": "Art", "type": "choice", "question": "Wie?",
         "options": [{"value": "call", "label": "Anruf"}, {"value": "mail", "label": "E-Mail"}]},
        {"name": "first", "title": "Erster Besuch", "type": "yes_no", "question": "Sind Sie neu?"},
        {"name": "phone", "title": "Telefon", "type": "phone", "question": "Nummer?"},
    ],
    "answer": "Danke.",
}  # fmt: skip
NOTHING = {"asked": None, "confirm": None, "choices": None, "offered": None}


def ask(caller: Any, *lines: str) -> dict[str, Any]:
    """The open question after these messages."""
    report = say(caller, *lines)["stateReport"]
    return {name: report[name] for name in NOTHING}


def make_report(title: str, **values: Any) -> dict[str, Any]:
    defaults = {"title": title, "type": "string", "options": [], "min": None, "max": None, "format": None}
    return {**NOTHING, "asked": {**defaults, **values}}


def test_each_field_of_a_form_says_its_type_its_options_and_its_bounds_and_the_confirmation_its_words() -> None:
    caller = make_caller(VISIT)
    today = timezone.now().date()
    last = today + timedelta(days=90)
    options = [{"value": "call", "label": "Anruf"}, {"value": "mail", "label": "E-Mail"}]
    answers = [{"value": True, "label": "ja"}, {"value": False, "label": "nein"}]

    day = make_report("Tag", field="day", format="date", min=today.isoformat(), max=last.isoformat())
    assert ask(caller, "I want to come") == day
    assert ask(caller, "morgen") == make_report("Art", field="how", options=options)
    assert ask(caller, "Anruf") == make_report("Erster Besuch", field="first", type="boolean", options=answers)
    assert ask(caller, "ja") == make_report("Telefon", field="phone", format="phone")
    assert ask(caller, "030 901820") == {**NOTHING, "confirm": {"yes": "ja", "no": "nein"}}
    assert ask(caller, "ja") == NOTHING


def test_buttons_of_an_answer_are_choices_unless_a_form_asks() -> None:
    flow = {"code": "HELLO", "title": "Greet", "kind": "answer", "phrases": ["who are you there"]}
    caller = make_caller(VISIT, {**flow, "answer": 'The bot. {{ button("Opening hours", "when are you open") }}'})

    assert ask(caller, "who are you there")["choices"] == [{"value": "when are you open", "label": "Opening hours"}]
    assert ask(caller, "I want to come", "who are you there")["choices"] is None


def test_the_question_stays_behind_another_answer_and_gives_way_to_do_you_want_to_stop() -> None:
    caller = make_caller()
    number = make_report("Number of persons", field="guests", type="number", min=1, max=8)

    assert ask(caller, "book an appointment", "Ann Bell") == number
    assert ask(caller, "where can I park?") == number
    assert ask(caller, "stop")["confirm"] == {"yes": "yes", "no": "no"}
    assert ask(caller, "no") == number
    assert ask(caller, "two")["confirm"] == {"yes": "yes", "no": "no"}
    fields = [{"value": "name", "label": "Name"}, {"value": "guests", "label": "Number of persons"}]
    assert ask(caller, "no") == {**NOTHING, "choices": fields}
    assert ask(caller, "Number of persons") == number


def make_ticket(field: dict[str, Any]) -> dict[str, Any]:
    fields = [field, {"name": "name", "title": "Name", "type": "text"}]
    base = {"code": "TICKET", "title": "Ticket", "kind": "collect", "locale": "en-GB"}
    return {**base, "phrases": ["I want a ticket"], "fields": fields, "answer": "See you."}


KINDS = [{"value": value, "label": f"{value} bike"} for value in ("road", "race", "city")]


@pytest.mark.parametrize(
    ("field", "message", "labels"),
    [
        pytest.param(
            {"type": "date", "min": "today"},
            "3 or 4 February 2031",
            ["Monday 3 February 2031", "Tuesday 4 February 2031"],
            id="two days",
        ),
        pytest.param({"type": "time"}, "at 3", ["03:00", "15:00"], id="two readings of a time"),
        pytest.param(
            {"type": "choice", "options": KINDS}, "road or race", ["road bike", "race bike"], id="two of three"
        ),
        pytest.param({"type": "number", "max": 8}, "2 or 3", ["2", "3"], id="two numbers"),
        pytest.param({"type": "money", "currency": "GBP"}, "10 or 20 pounds", ["£10", "£20"], id="two amounts"),
        pytest.param({"type": "duration"}, "a week or two", ["1 week", "2 weeks"], id="two durations"),
        pytest.param(
            {"type": "email"}, "a@example.com or b@example.com", ["a@example.com", "b@example.com"], id="two addresses"
        ),
    ],
)
def test_values_that_the_bot_names_are_options_until_one_is_taken(
    field: dict[str, Any], message: str, labels: list[str]
) -> None:
    """Each label, sent back, is read as its value."""
    caller = make_caller(make_ticket({"name": "item", "title": "Item", **field}))

    options = say(caller, "I want a ticket", message)["stateReport"]["asked"]["options"]
    answer = say(caller, options[1]["label"])

    assert [option["label"] for option in options] == labels
    assert answer["context"]["item"] == options[1]["value"]
    assert answer["stateReport"]["asked"] == make_report("Name", field="name")["asked"]


def test_named_values_stay_options_after_a_message_that_nobody_understood() -> None:
    day = {"name": "item", "title": "Day", "type": "date", "min": "today"}
    caller = make_caller(make_ticket(day), DENTIST)
    offered = say(caller, "I want a ticket", "3 or 4 February 2031")["stateReport"]["asked"]

    assert say(caller, "blah blah")["stateReport"]["asked"] == offered
    assert say(caller, "where can I park?")["stateReport"]["asked"] == offered
    assert say(caller, "on 9 February 2031")["stateReport"]["asked"]["field"] == "name"


def test_the_choices_of_a_clarification_have_what_to_send() -> None:
    rows = {"ce_config": [make_setting("Session/LOCALE", "en-GB")]}
    caller = make_caller(DENTIST, TABLE, rows=rows)
    for code in ("DENTIST", "TABLE"):
        intent = CeIntent.objects.get(intent_code=code)
        CeIntentClassifier.objects.create(
            intent_code=intent.intent_code, state_code="UNKNOWN", rule_type="CONTAINS", pattern="a chair"
        )

    question = ask(caller, "I want a chair")

    assert [choice["value"] for choice in question["choices"]] == ["DENTIST", "TABLE"]
    assert (question["asked"], question["confirm"]) == (None, None)
    assert say(caller, question["choices"][1]["label"])["intent"] == "TABLE"
