"""The reasons of a phrase match: how sure it is, the nearest phrase, and why a confidence is needed."""

from convengine.engine.turn.snapshot import Snapshot
from convengine.server.admin_site.phrase_reasons import describe_match, describe_needed_score


def test_a_match_names_its_confidence_and_the_nearest_phrase() -> None:
    match = {"phrase": "how much is a tattoo", "score": 0.8}
    assert describe_match("Prices", match) == (
        "Prices: confidence 80\N{NO-BREAK SPACE}%. The nearest phrase is “how much is a tattoo”."
    )
    assert (
        describe_match("Prices", {**match, "score": 1})
        == "Prices: the message has the telling words of the phrase “how much is a tattoo”."
    )


def test_the_needed_confidence_has_a_reason() -> None:
    snapshot = Snapshot(1, {}, {})

    assert (
        describe_needed_score(snapshot, 0.0, [])
        == "A confidence of 0\N{NO-BREAK SPACE}% is needed, the minimum for all intents."
    )
    near_others = describe_needed_score(snapshot, 0.95, [1.0])
    assert near_others == (
        "The best intent has a confidence of 100\N{NO-BREAK SPACE}%. "
        "Others count from 95\N{NO-BREAK SPACE}% on, which is 5 points below."
    )
