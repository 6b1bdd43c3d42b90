"""How well phrases find the intents of messages that were written before the matcher."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml

from convengine.engine.turn.snapshot import Snapshot
from convengine.engine.understanding.phrases.matching import match_phrases
from tests.builders import make_classifier, make_intent, make_snapshot

FOLDER = Path(__file__).parent
GERMAN = yaml.load((FOLDER / "messages_german.yaml").read_text(encoding="utf-8"), yaml.CSafeLoader)
DATA = yaml.load((FOLDER / "messages.yaml").read_text(encoding="utf-8"), yaml.CSafeLoader)
#: The minimum score and the margin were chosen on the messages with even numbers; the others are unseen.
SEEN, UNSEEN = 0, 1


@pytest.fixture(scope="module")
def snapshot() -> Snapshot:
    return make_phrases(DATA["intents"])


def make_phrases(intents: Mapping[str, Mapping[str, str]]) -> Snapshot:
    return make_snapshot(
        *map(make_intent, intents),
        *(
            make_classifier(code, phrase, rule_type="PHRASE")
            for code, texts in intents.items()
            for phrase in texts["phrases"].splitlines()
        ),
    )


def list_messages(half: int, data: Mapping[str, Any] = DATA, step: int = 2) -> Iterator[tuple[str | None, str]]:
    for code, texts in data["intents"].items():
        yield from ((code, text) for text in texts["messages"].splitlines()[half::step])
    yield from ((None, text) for text in data["out_of_scope"].splitlines()[half::step])


def measure(snapshot: Snapshot, messages: Sequence[tuple[str | None, str]]) -> tuple[float, float]:
    """Precision and recall: an intent is claimed when it is the only one."""
    claims = [(code, hits[0].intent) for code, text in messages if len(hits := match_phrases(snapshot, text).hits) == 1]
    right = sum(code == claimed for code, claimed in claims)
    return right / len(claims), right / sum(code is not None for code, _ in messages)


def test_the_set_is_twenty_intents_of_ten_phrases_and_twenty_messages() -> None:
    assert len(DATA["intents"]) == 20
    for texts in DATA["intents"].values():
        assert (len(texts["phrases"].splitlines()), len(texts["messages"].splitlines())) == (10, 20)
    assert len(DATA["out_of_scope"].splitlines()) == 200


@pytest.mark.parametrize(("half", "least"), [(SEEN, 0.90), (UNSEEN, 0.90)])
def test_what_is_claimed_is_right_and_most_is_claimed(snapshot: Snapshot, half: int, least: float) -> None:
    precision, recall = measure(snapshot, list(list_messages(half)))

    assert precision >= least
    assert recall >= 0.65


def test_german_messages_find_their_intents() -> None:
    precision, recall = measure(make_phrases(GERMAN["intents"]), list(list_messages(0, GERMAN, step=1)))

    assert precision >= 0.93
    assert recall >= 0.45


@pytest.mark.parametrize("data", [DATA, GERMAN], ids=["en", "de"])
def test_of_what_is_not_sure_the_right_intent_is_mostly_near(data: Mapping[str, Any]) -> None:
    matches = [
        (code, match_phrases(make_phrases(data["intents"]), text)) for code, text in list_messages(0, data) if code
    ]

    found = sum(code in {match.intent for match in (*each.hits, *each.askable)} for code, each in matches)
    assert found / len(matches) >= 0.75


def test_every_phrase_means_its_own_intent(snapshot: Snapshot) -> None:
    wrong = [
        phrase
        for code, texts in DATA["intents"].items()
        for phrase in texts["phrases"].splitlines()
        if (hits := match_phrases(snapshot, phrase).hits) and code not in {hit.intent for hit in hits}
    ]
    assert wrong == []
