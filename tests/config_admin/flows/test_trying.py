"""Sentences are tried on the phrases of the page, and stored messages that come near are suggested."""

import pytest

from config_admin import models as m
from config_admin.flows.reading import read_flow
from config_admin.flows.saving import create_flow
from config_admin.flows.trying import PhraseTrial
from config_admin.releases.change_set import change_set
from config_admin.snapshot.active import snapshots
from tests.config_admin.flows.test_reading import BASE

pytestmark = pytest.mark.django_db

HOURS = {**BASE, "kind": "answer", "code": "HOURS", "title": "Opening hours", "phrases": ["when are you open"]}


@pytest.fixture(autouse=True)
def hours(db: None) -> None:
    create_flow(HOURS, author="ada", reason="begin")


def make_trial(*phrases: str, code: str = "BOOKING", questions: tuple[tuple[str, ...], ...] = ()) -> PhraseTrial:
    snapshot = snapshots.current()
    return PhraseTrial(snapshot, read_flow(snapshot, code), code, "Book a table", phrases, questions)


def outcome(trial: PhraseTrial, text: str) -> tuple[str, str]:
    (tried,) = trial.try_sentences([text])
    return tried.outcome, tried.headline


def test_each_sentence_says_who_understands_it() -> None:
    trial = make_trial("book a table", questions=(("where do I park",),))

    assert outcome(trial, "I'd like to book a table") == ("own", "This flow")
    assert outcome(trial, "when exactly are you open?") == ("other", "Another intent: Opening hours")
    assert outcome(trial, "where can I park?") == ("own", "Answered beside the flow: “where do I park”")
    assert outcome(trial, "purple elephants") == ("nobody", "Not understood")


def test_the_words_that_counted_are_told() -> None:
    (tried,) = make_trial("book a table").try_sentences(["book a blue table"])
    assert "“book”, “table”. No phrase of it has “blue”." in tried.reasons[0]
    (unknown,) = make_trial("book a table").try_sentences(["purple elephants"])
    assert unknown.reasons == ["No intent has a phrase with one of its words."]


def test_phrases_shared_with_another_intent_ask_the_user() -> None:
    assert outcome(make_trial("when are you open"), "when are you open")[0] == "several"


def test_patterns_go_first() -> None:
    with change_set():
        m.CeIntentClassifier.objects.create(
            intent_code="HOURS", state_code="IDLE", rule_type="CONTAINS", pattern="table", description="tables"
        )
    trial = make_trial("book a table")
    assert outcome(trial, "book a table") == ("other", "Another intent: Opening hours")
    assert "Patterns are tried before phrases." in trial.try_sentences(["book a table"])[0].reasons


def test_stored_phrases_of_the_edited_flow_give_way_to_those_of_the_page() -> None:
    assert outcome(make_trial("opening times", code="HOURS"), "when are you open") == ("nobody", "Not understood")


def test_messages_that_come_near_are_suggested_and_at_most_ten() -> None:
    trial = make_trial("book a table for dinner")
    messages = [
        "do you have a table by the window tonight",
        "purple elephants",
        "book a table for dinner",
        "when are you open",
    ]

    assert [message.text for message in trial.suggest_messages(messages)] == messages[:1]
    many = [f"a table by window {number}, colour {number}" for number in range(30)]
    assert len(trial.suggest_messages(many)) == 10


def test_at_most_ten_sentences_are_tried() -> None:
    assert len(make_trial("book a table").try_sentences(["a table"] * 20)) == 10
