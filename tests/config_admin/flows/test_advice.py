from config_admin.flows.advice import (
    describe_assumed_country,
    describe_few_phrases,
    describe_missing_hand_over,
    describe_single_phrasing,
)
from tests.builders import make_classifier, make_intent, make_snapshot


def test_a_flow_with_few_phrases_gets_advice() -> None:
    assert describe_few_phrases(["book a room", "room please"])
    assert describe_few_phrases([]) == []
    assert describe_few_phrases(["one", "two", "three", "four", "five"]) == []


def test_a_question_with_one_phrasing_gets_advice() -> None:
    assert describe_single_phrasing(["Do you have parking?"])
    assert describe_single_phrasing(["Do you have parking?", "Where can I park?"]) == []


def test_a_form_that_names_nobody_to_contact_gets_advice() -> None:
    empty = make_snapshot()
    staffed = make_snapshot(make_intent("STAFF"), make_classifier("STAFF", "a person please", state_code="HAND_OVER"))

    assert describe_missing_hand_over("collect", " ", empty)
    assert describe_missing_hand_over("collect", "We call you.", empty) == []
    assert describe_missing_hand_over("collect", "", staffed) == []
    assert describe_missing_hand_over("answer", "", empty) == []


def test_the_country_that_a_number_is_taken_for_is_named() -> None:
    assert "taken for one of GB" in describe_assumed_country("en-GB")
    assert "keeps its digits as typed" in describe_assumed_country("en")
