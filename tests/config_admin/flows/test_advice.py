from config_admin.flows.advice import (
    describe_assumed_country,
    describe_few_phrases,
    describe_single_phrasing,
)


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
