"""Cross-validation."""

from convengine.evaluation.cross_validation import cross_validate
from convengine.evaluation.intents import make_phrases

PHRASES = make_phrases(
    {
        "REPAIR": ["mend my flat tyre", "can you mend a tyre", "repair my tyre", "my tyre is flat", "a tyre is flat"],
        "BUY": ["buy a new bicycle", "a bicycle to buy", "sell me a new bicycle"],
        "ONLY": ["opening hours"],
        "TWICE": ["where are you", "Where are  you"],
    }
)


def test_each_phrase_is_decided_on_once_without_itself() -> None:
    result = cross_validate(PHRASES)

    measured = [row for row in PHRASES if row.intent_code in ("REPAIR", "BUY")]
    assert sorted(outcome.phrase_id or 0 for outcome in result.outcomes) == [row.classifier_id for row in measured]
    assert all(
        ranked.phrase_id != outcome.phrase_id for outcome in result.outcomes for ranked in outcome.decision.ranked
    )
    assert all(outcome.decision.ranked for outcome in result.outcomes)


def test_an_intent_with_one_text_is_named_and_not_measured() -> None:
    assert cross_validate(PHRASES).single == ["ONLY", "TWICE"]


def test_the_same_text_of_two_intents_is_left_out_together() -> None:
    phrases = make_phrases({"A": ["mend my tyre", "flat tyre"], "B": ["paint my frame", "Mend my tyre"]})

    outcomes = {outcome.phrase_id: outcome for outcome in cross_validate(phrases).outcomes}

    assert {each.phrase_id for each in outcomes[1].decision.ranked} == {2}


def test_the_progress_ends_with_all_phrases() -> None:
    reported: list[tuple[int, int]] = []

    cross_validate(PHRASES, report=lambda done, total: reported.append((done, total)))

    assert reported == [(done, 8) for done in range(1, 9)]


def test_the_same_phrases_give_the_same_result() -> None:
    assert cross_validate(PHRASES).outcomes == cross_validate(PHRASES).outcomes
