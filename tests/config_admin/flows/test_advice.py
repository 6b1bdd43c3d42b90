from config_admin.flows.advice import (
    describe_assumed_country,
    describe_few_phrases,
    describe_overlaps,
    describe_single_phrasing,
)
from config_admin.validation.phrase_overlaps import PhraseOverlap
from tests.builders import make_classifier, make_intent, make_snapshot


def test_a_flow_with_few_phrases_gets_advice() -> None:
    assert describe_few_phrases(["book a room", "room please"])
    assert describe_few_phrases([]) == []
    assert describe_few_phrases(["one", "two", "three", "four", "five"]) == []


def test_a_question_with_one_phrasing_gets_advice() -> None:
    assert describe_single_phrasing(["Do you have parking?"])
    assert describe_single_phrasing(["Do you have parking?", "Where can I park?"]) == []


def test_the_country_that_a_number_is_taken_for_is_named() -> None:
    assert "taken for one of United Kingdom, the country of en-GB" in describe_assumed_country("", "en-GB")
    assert "taken for one of Germany, the country of your customers" in describe_assumed_country("DE", "en-GB")
    assert "keeps its digits as typed" in describe_assumed_country("", "en")
    assert "keeps its digits as typed" in describe_assumed_country("ZZ", "en-GB")


def test_one_more_phrase_that_another_intent_takes_is_one() -> None:
    row = make_classifier("LOAN", "a loan")
    overlaps = [(f"phrase {number}", PhraseOverlap((row,), (row,), is_asked=False)) for number in range(6)]

    lines = describe_overlaps(make_snapshot(make_intent("LOAN"), row), overlaps)

    assert lines[-1] == "1 more phrase is taken by other intents."
