"""A flow that somebody makes beside the demonstration's rows does what its own page says."""

import pytest

from config_admin.flows.mapping import write_rows
from config_admin.models import CeRule
from config_admin.transfer.apply_import import add_rows
from convengine.server.extensions.registry import Registry
from tests.api import Caller
from tests.demo.talking import talk
from tests.dialogues.rows.worlds import list_events

pytestmark = [pytest.mark.django_db, pytest.mark.long]

TATTOO = {
    "code": "BOOK_TATTOO", "title": "Book a tattoo", "kind": "collect", "locale": "en-GB",
    "phrases": ["book a tattoo", "I want a tattoo"],
    "fields": [
        {"name": "size", "title": "size", "type": "choice", "options": [
            {"value": "small", "label": "small"}, {"value": "large", "label": "large"}]},
        {"name": "artist", "title": "artist", "type": "choice", "question": "Which artist would you like?", "options": [
            {"value": "jonas", "label": "Jonas Bachmann", "synonyms": ["Inky"]},
            {"value": "miriam", "label": "Miriam Vogel", "synonyms": ["Mimi"]}]},
        {"name": "day", "title": "day", "type": "date", "max": "2020-01-01", "required": False},
    ],
    "answer": "Booked with {{ artist }}.",
    "questions_and_answers": [
        {"questions": ["How much does a tattoo cost?", "what are your prices"], "answer": "From 80 pounds."}
    ],
}  # fmt: skip
PERSON = {
    "code": "TATTOO_PERSON", "title": "Talk to the studio", "kind": "handover", "locale": "en-GB",
    "phrases": ["can I speak to an artist"], "answer": "Somebody from the studio takes over.",
}  # fmt: skip
CONFIRMED = [
    ("I want a tattoo", "Which size", "COLLECT"),
    ("small", "Which artist", "COLLECT"),
    ("Inky", "Is that right?", "CONFIRM"),
]


@pytest.fixture
def tattoo(shared_helpdesk: Registry) -> None:
    """The flows, beside the demonstration."""
    for flow in (TATTOO, PERSON):
        add_rows(write_rows(flow), author="ada", reason="a flow")


def test_a_no_asks_what_to_change(tattoo: None, customer: Caller) -> None:
    talk(customer, [*CONFIRMED, ("no", "What should I change", "CONFIRM")])


def test_a_no_asks_what_to_change_whatever_a_general_rule_wants(tattoo: None, customer: Caller) -> None:
    rule = CeRule.objects.filter(phase="POST_DIALOGUE_ACT", action_value="KEPT", intent_code="CANCEL_ORDER").get()
    row = {"match_pattern": rule.match_pattern, "rule_type": rule.rule_type, "description": "a no", "priority": 1}
    general = {**row, "intent_code": "ANY", "state_code": "CONFIRM", "phase": "POST_DIALOGUE_ACT"}
    add_rows({"ce_rule": [{**general, "action": "SET_STATE", "action_value": "KEPT"}]}, author="ada", reason="a rule")

    talk(customer, [*CONFIRMED, ("no", "What should I change", "CONFIRM")])

    (skipped,) = (event for event in list_events(customer, 4, "RULE_NO_MATCH") if "overriddenBySchema" in event)
    assert skipped["reason"] == "OVERRIDDEN_BY"


def test_its_own_hand_over_goes_before_that_of_all_intents(tattoo: None, customer: Caller) -> None:
    lines = [
        ("can I speak to an artist please?", "Somebody from the studio takes over.", "HAND_OVER"),
        ("xyzzy", "Sorry, I did not understand that.", "HAND_OVER"),
        ("no thanks", "Have a nice day", "HAND_OVER"),
        ("I want a tattoo", "Which size", "COLLECT"),
    ]

    talk(customer, lines)


@pytest.mark.parametrize(
    "text", ["what do you charge?", "what does it cost?", "what does it cost", "how much is a tattoo?"]
)
def test_its_own_question_goes_before_those_of_other_flows(text: str, tattoo: None, customer: Caller) -> None:
    talk(customer, [("I want a tattoo", "Which size", "COLLECT"), (text, "From 80 pounds.", "COLLECT")])


@pytest.mark.parametrize(
    "text",
    [
        "change my appointment",
        "cancel my appointment",
        "please cancel my tattoo",
        "cancel it",
        "cancel",
    ],
)
def test_what_is_booked_is_neither_dropped_nor_begun_again(text: str, tattoo: None, customer: Caller) -> None:
    booked = [*CONFIRMED, ("yes", "Booked with Jonas Bachmann", "DONE")]
    lines = [(text, "You reach a person on", "DONE"), ("cancel my order", "Which order", "COLLECT")]

    talk(customer, [*booked, *lines])


@pytest.mark.parametrize("text", ["who do you have?", "what is there?", "which artists are there?", "xyzzy"])
def test_the_options_are_listed_after_a_miss_and_on_demand(text: str, tattoo: None, customer: Caller) -> None:
    lines = [*CONFIRMED[:2], (text, "Which artist: Jonas Bachmann or Miriam Vogel?", "COLLECT")]

    talk(customer, lines)


def test_a_refused_value_that_was_not_asked_for_is_told(tattoo: None, customer: Caller) -> None:
    talk(customer, [CONFIRMED[0], ("2 March", "“2 March” is not possible (", "COLLECT"), CONFIRMED[1]])
