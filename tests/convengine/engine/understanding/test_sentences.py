"""What clauses do is learned from the sentences of the tables, and the stored weights are those of these sentences."""

from collections import Counter
from importlib import resources

import numpy as np
import pytest

from convengine.engine.understanding.language import list_languages
from convengine.engine.understanding.moves import MoveKind
from convengine.engine.understanding.sentences import (
    FILE,
    NONE,
    LearnedPart,
    find_nearest,
    learn,
    list_known_words,
    list_sentences,
    rate,
)


@pytest.mark.slow
@pytest.mark.parametrize("subject", list(LearnedPart))
def test_the_stored_weights_are_learned_from_the_sentences_of_the_tables(subject: LearnedPart) -> None:
    """`python -m tests.learning` learns again. Another processor may differ in the last digits."""
    with (resources.files("convengine.engine.understanding") / FILE).open("rb") as stored, np.load(stored) as arrays:
        classes, weights = list(arrays[f"{subject}.classes"]), arrays[f"{subject}.weights"]
    learned = learn(subject)
    assert classes == list(learned.classes)
    assert np.abs(weights.astype(np.float32) - learned.weights).max() < 0.05


def test_each_class_of_moves_is_a_move_with_thirty_sentences_of_each_language() -> None:
    counts = Counter(name for _, name in list_sentences(LearnedPart.MOVES))
    assert set(counts) - {NONE} <= set(MoveKind)
    assert min(counts.values()) >= 60


@pytest.mark.parametrize("subject", list(LearnedPart))
def test_a_sentence_stands_once(subject: LearnedPart) -> None:
    for language in list_languages():
        counts = Counter(sentence.casefold() for sentence, _ in list_sentences(subject, [language]))
        assert [sentence for sentence, count in counts.items() if count > 1] == []


def test_sentences_are_rated_by_their_meaning() -> None:
    assert rate(LearnedPart.MOVES, "we are all very pleased with this")["AFFIRM"] > 0.5
    assert rate(LearnedPart.MOVES, "mein Dackel heißt Waldi")[NONE] > 0.5
    assert rate(LearnedPart.ASKS, "is the castle closed in winter")["asks"] > 0.7
    assert rate(LearnedPart.ASKS, "könnten wir bitte zwei Fahrräder haben?")["asks"] < 0.3


def test_the_nearest_sentence_has_the_class_that_is_asked_for() -> None:
    nearest = find_nearest(LearnedPart.MOVES, "connect me with one of your workers", "PERSON")
    assert (nearest, "PERSON") in list_sentences(LearnedPart.MOVES)
    assert "staff" in nearest or "employee" in nearest


def test_names_are_no_known_words() -> None:
    assert "appointment" in list_known_words()
    assert "wallington" not in list_known_words()
