"""What new phrases do to the others: each is decided on without itself, before and after."""

import numpy as np
import pytest

from convengine.engine.understanding.phrases.classifier import Example
from convengine.evaluation import phrase_change
from convengine.evaluation.phrase_change import compare_phrases

OPENING = [
    Example("OPENING", text)
    for text in ("When do you open?", "Are you open on Sundays?", "What are your opening hours?")
]
PARCEL = [
    Example("PARCEL", text)
    for text in ("Where is my parcel?", "Has my parcel been sent?", "Track my parcel", "When does my parcel come?")
]
REFUND = [Example("REFUND", text) for text in ("I want my money back", "Please refund my order", "Refund my money")]
PRESENT = [*OPENING, *PARCEL, *REFUND]


def test_phrases_that_new_ones_take_are_named_with_where_they_lead() -> None:
    new = [Example("LATE", text) for text in ("When would my parcel come?", "When does the parcel come?")]

    change = compare_phrases(PRESENT, [*PRESENT, *new])

    assert [(moved.phrase.text, moved.before, moved.after) for moved in change.losses] == [
        ("When does my parcel come?", "PARCEL", "LATE")
    ]
    assert change.gains == ()
    assert (change.compared, change.phrases, change.intents) == (10, 10, 3)


def test_a_new_phrase_has_the_nearest_of_another_intent_and_where_the_others_lead_it() -> None:
    change = compare_phrases(PRESENT, [*PRESENT, Example("REFUND", "Track my refund"), Example("NEW", "hello")])

    nearest = {near.new.text: near for near in change.nearest}
    assert nearest["Track my refund"].other == Example("PARCEL", "Track my parcel")
    assert nearest["Track my refund"].leads_to in ("PARCEL", "REFUND")
    assert nearest["hello"].leads_to == "", "its intent has no other phrase"
    assert change.nearest[0].new.text == "Track my refund", "the most alike first"
    assert all(0 < near.likeness < 1 for near in change.nearest)


def test_phrases_that_lead_to_their_intent_now_are_told_too() -> None:
    odd = Example("REFUND", "cancel everything")
    helpers = [Example("REFUND", text) for text in ("cancel it all", "please cancel everything", "cancel all of it")]

    before = compare_phrases([*PRESENT, odd], [*PRESENT, odd, *helpers])

    assert [moved.phrase for moved in before.moved] == [moved.phrase for moved in before.gains]
    assert before.losses == ()


def test_nothing_moves_where_nothing_is_new() -> None:
    assert compare_phrases(PRESENT, PRESENT).moved == ()
    assert compare_phrases([], PRESENT[:1]).nearest == ()
    assert compare_phrases(PRESENT, PRESENT[:-1]).compared == 0


def test_each_phrase_is_decided_on_as_if_it_had_never_been_there() -> None:
    examples = sorted(PRESENT)
    vectors = phrase_change.read_vectors([example.text for example in examples])
    likenesses = phrase_change._compare_all(examples, vectors, ())

    decided = phrase_change._decide_without_each(examples, likenesses, set(examples))

    intents = sorted({example.intent for example in examples})
    for number, example in enumerate(examples):
        others = [other for other in range(len(examples)) if other != number]
        means = np.array([[float(examples[other].intent == intent) for intent in intents] for other in others])
        weights = np.linalg.solve(
            likenesses[np.ix_(others, others)] + phrase_change._RIDGE * np.eye(len(others)), means
        )
        assert decided[example] == intents[int((likenesses[number, others] @ weights).argmax())]


def test_of_many_phrases_those_of_the_nearest_intents_are_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(phrase_change, "MOST_COMPARED", 9)
    new = Example("LATE", "When would my parcel come?")

    change = compare_phrases(PRESENT, [*PRESENT, new])

    assert (change.compared, change.phrases, change.intents) == (7, 10, 2)
    assert change.nearest[0].other == Example("PARCEL", "When does my parcel come?")


def test_of_many_new_phrases_the_first_are_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(phrase_change, "MOST_NEW", 1)
    change = compare_phrases(OPENING, [*OPENING, *REFUND])

    assert (len(change.nearest), change.further) == (1, 2)
