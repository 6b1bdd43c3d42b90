"""The reasons of a phrase match name the words as they were written, and why a score is needed."""

from config_admin.editing.phrase_reasons import describe_match, describe_needed_score
from convengine.engine.turn.snapshot import Snapshot
from convengine.engine.understanding.phrases.index import IntentMatch, MatchedWord, Phrase
from convengine.engine.understanding.phrases.matching import PhraseMatches


def make_match(score: float = 0.8, unmatched: tuple[str, ...] = ()) -> IntentMatch:
    words = (MatchedWord("howmuch", "howmuch", 0.8),)
    return IntentMatch("PRICE", score, Phrase(1, "PRICE", "how much is a tattoo"), words, unmatched)


def test_words_are_named_as_they_were_written() -> None:
    assert describe_match("Prices", make_match(), "How much is it?") == (
        "Prices: 0.80 of the words match “how much is a tattoo”: “How much”."
    )
    assert describe_match("Prices", make_match(unmatched=("beard",)), "beard, how much").endswith(
        "No phrase of it has “beard”."
    )


def test_the_needed_score_has_a_reason() -> None:
    snapshot = Snapshot(1, {}, {})

    assert describe_needed_score(snapshot, PhraseMatches(min_score=0.0)) == (
        "0.00 must match, the minimum for all intents."
    )
    near_others = describe_needed_score(snapshot, PhraseMatches((make_match(1.0),), (), 0.95))
    assert near_others.startswith("0.95 must match, because the best intent has 1.00")
    assert describe_needed_score(snapshot, PhraseMatches((make_match(0.4),), (), 0.53)).startswith("Usually 0.53")
