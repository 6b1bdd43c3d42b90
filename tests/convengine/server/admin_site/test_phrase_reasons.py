"""The reasons of a phrase match name the words as they were written, and why a score is needed."""

from collections.abc import Mapping
from typing import Any

from convengine.engine.turn.snapshot import Snapshot
from convengine.server.admin_site.phrase_reasons import describe_match, describe_needed_score


def make_match(*others: str) -> Mapping[str, Any]:
    return {"phrase": "how much is a tattoo", "score": 0.8, "words": {"howmuch": 0.8}, "otherWords": list(others)}


def test_words_are_named_as_they_were_written() -> None:
    assert describe_match("Prices", make_match(), "How much is it?") == (
        "Prices: 0.80 of the words match “how much is a tattoo”: “How much”."
    )
    assert describe_match("Prices", make_match("beard"), "beard, how much").endswith("No phrase of it has “beard”.")


def test_the_needed_score_has_a_reason() -> None:
    snapshot = Snapshot(1, {}, {})

    assert describe_needed_score(snapshot, 0.0, []) == "0.00 must match, the minimum for all intents."
    near_others = describe_needed_score(snapshot, 0.95, [1.0])
    assert near_others.startswith("0.95 must match, because the best intent has 1.00")
    assert describe_needed_score(snapshot, 0.53, [0.4]).startswith("Usually 0.53")
