"""How well phrases find the intents of messages that were written before the matcher."""

from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from convengine.engine.phrases.matching import match_phrases
from convengine.engine.turn.snapshot import Snapshot
from tests.builders import make_classifier, make_intent, make_snapshot

DATA = yaml.safe_load(Path(__file__).with_name("messages.yaml").read_text(encoding="utf-8"))
#: The minimum score and the margin were chosen on the messages with even numbers; the others are unseen.
SEEN, UNSEEN = 0, 1


@pytest.fixture(scope="module")
def snapshot() -> Snapshot:
    intents = DATA["intents"]
    return make_snapshot(
        *map(make_intent, intents),
        *(
            make_classifier(code, phrase, rule_type="PHRASE")
            for code, texts in intents.items()
            for phrase in texts["phrases"].splitlines()
        ),
    )


def list_messages(half: int) -> Iterator[tuple[str | None, str]]:
    for code, texts in DATA["intents"].items():
        yield from ((code, text) for text in texts["messages"].splitlines()[half::2])
    yield from ((None, text) for text in DATA["out_of_scope"].splitlines()[half::2])


def measure(snapshot: Snapshot, half: int) -> tuple[float, float]:
    """Precision and recall: an intent is claimed when it is the only one."""
    messages = list(list_messages(half))
    claims = [(code, hits[0].intent) for code, text in messages if len(hits := match_phrases(snapshot, text).hits) == 1]
    right = sum(code == claimed for code, claimed in claims)
    return right / len(claims), right / sum(code is not None for code, _ in messages)


def test_the_set_is_twenty_intents_of_ten_phrases_and_twenty_messages() -> None:
    assert len(DATA["intents"]) == 20
    for texts in DATA["intents"].values():
        assert (len(texts["phrases"].splitlines()), len(texts["messages"].splitlines())) == (10, 20)
    assert len(DATA["out_of_scope"].splitlines()) == 200


@pytest.mark.parametrize(("half", "least"), [(SEEN, 0.90), (UNSEEN, 0.93)])
def test_what_is_claimed_is_right_and_more_than_half_is_claimed(snapshot: Snapshot, half: int, least: float) -> None:
    precision, recall = measure(snapshot, half)

    assert precision >= least
    assert recall >= 0.55


def test_every_phrase_means_its_own_intent(snapshot: Snapshot) -> None:
    wrong = [
        phrase
        for code, texts in DATA["intents"].items()
        for phrase in texts["phrases"].splitlines()
        if (hits := match_phrases(snapshot, phrase).hits) and code not in {hit.intent for hit in hits}
    ]
    assert wrong == []
