"""Save checks of classifiers."""

from dataclasses import replace
from typing import Any

import pytest

from config_admin.tables.classifier import list_sample_texts
from convengine.engine.rules.text_bank import TextBank
from tests.builders import make_config
from tests.config_admin.validation.shop import CLASSIFIER, codes, list_messages

OTHER = replace(CLASSIFIER, classifier_id=2, intent_code="ORDER_STATUS", rule_type="CONTAINS", pattern="where is")


@pytest.mark.parametrize("value", ["", "ANY", "UNKNOWN"])
def test_a_classifier_means_one_intent(value: str) -> None:
    assert list_messages(replace(CLASSIFIER, intent_code=value)) == [
        ("CLASSIFIER_INTENT", "Choose the intent of this phrase. ANY and UNKNOWN are not allowed here.")
    ]


def test_the_intent_exists() -> None:
    assert codes(replace(CLASSIFIER, intent_code="NOTHING")) == ["INTENT_UNKNOWN"]


def test_a_state_of_any_leaves_the_state_as_it_is() -> None:
    assert codes(replace(CLASSIFIER, state_code="ANY")) == []


@pytest.mark.parametrize("value", ["FUZZY", "", None, "LLM"])
def test_the_type_is_one_of_five(value: Any) -> None:
    ((code, message),) = list_messages(replace(CLASSIFIER, rule_type=value))
    assert code == "RULE_TYPE"
    named = "“Phrase” (PHRASE), “Regular expression” (REGEX)" if value else "“Phrase”, “Regular expression”"
    assert message.startswith(f"Choose {named}, ")


PHRASE = replace(CLASSIFIER, classifier_id=3, rule_type="PHRASE", pattern="I want to stop my order")


def test_a_phrase_is_a_sentence_and_no_pattern() -> None:
    assert codes(PHRASE) == codes(replace(PHRASE, pattern="Where (is) my order?")) == []


def test_a_phrase_without_words_is_refused() -> None:
    assert list_messages(replace(PHRASE, pattern="?")) == [
        (
            "PHRASE_WITHOUT_WORDS",
            "This phrase has no word, so it matches no message. Write a sentence as users would type it.",
        )
    ]


def test_the_same_phrase_of_another_intent_is_questioned() -> None:
    other = replace(PHRASE, classifier_id=4, intent_code="FAQ", pattern="i want to STOP my order!")

    assert codes(PHRASE, other) == ["PHRASE_OF_OTHER_INTENT"]
    assert codes(replace(PHRASE, intent_code="FAQ"), other) == ["CLASSIFIER_OVERLAP"]
    assert codes(PHRASE, replace(other, enabled=False)) == codes(replace(PHRASE, enabled=False), other) == []


def test_a_pattern_that_takes_phrases_of_another_intent_is_questioned_on_both_sides() -> None:
    phrase = replace(PHRASE, intent_code="FAQ")

    assert list_messages(phrase) == [
        (
            "CLASSIFIER_OVERLAP",
            "The phrase like “stop order” or “cancel order” of “Cancel Order” matches these messages, too, and is "
            "tried earlier. It decides instead.",
        )
    ]
    ((code, message),) = list_messages(CLASSIFIER, phrase)
    assert code == "CLASSIFIER_OVERLAP"
    assert message == (
        "This takes over the phrase “I want to stop my order” of “Faq”. Users who write this get “Cancel Order” "
        "instead."
    )


def test_the_pattern_is_there() -> None:
    assert list_messages(replace(CLASSIFIER, pattern=" ")) == [("PATTERN_BLANK", "Enter a pattern.")]


@pytest.mark.parametrize(
    ("kind", "pattern"), [("REGEX", ".*"), ("REGEX", "a|b"), ("CONTAINS", "e"), ("STARTS_WITH", "I"), ("REGEX", "x*")]
)
def test_a_pattern_that_nearly_everything_matches_is_questioned(kind: str, pattern: str) -> None:
    assert (
        "PATTERN_TOO_BROAD",
        "This pattern matches almost every message and will collide with other intents. Make it more specific.",
    ) in list_messages(replace(CLASSIFIER, rule_type=kind, pattern=pattern))


@pytest.mark.parametrize(("kind", "pattern"), [("REGEX", "^y$"), ("EXACT", "y"), ("CONTAINS", "order")])
def test_a_short_answer_is_not_broad(kind: str, pattern: str) -> None:
    assert "PATTERN_TOO_BROAD" not in codes(replace(CLASSIFIER, rule_type=kind, pattern=pattern))


def test_a_row_that_hits_another_intents_words_overlaps() -> None:
    assert list_messages(replace(OTHER, pattern="stop")) == [
        (
            "CLASSIFIER_OVERLAP",
            "The phrase like “stop order” or “cancel order” of “Cancel Order” matches some of the same messages. If "
            "both match, no intent is recognised.",
        )
    ]


def test_a_row_whose_words_another_intent_hits_overlaps() -> None:
    broad = replace(OTHER, rule_type="REGEX", pattern="order")
    assert codes(CLASSIFIER, broad) == ["CLASSIFIER_OVERLAP"]


def test_the_same_pattern_for_two_intents_overlaps() -> None:
    assert codes(replace(CLASSIFIER, classifier_id=2, intent_code="FAQ")) == ["CLASSIFIER_OVERLAP"]


BY_PRIORITY = make_config("ClassifierIntentResolver/COLLISION_BY_PRIORITY", "true")


def test_phrases_that_priorities_separate_overlap_only_where_one_takes_all_texts_of_the_other() -> None:
    first = replace(OTHER, pattern="order", priority=5)
    part = replace(OTHER, pattern="please stop the order today", priority=20)

    assert codes(replace(CLASSIFIER, classifier_id=2, intent_code="FAQ"), BY_PRIORITY) == ["CLASSIFIER_OVERLAP"]
    assert codes(first) == codes(part) == ["CLASSIFIER_OVERLAP"]
    assert list_messages(first, BY_PRIORITY) == [
        (
            "CLASSIFIER_OVERLAP",
            "This takes over the phrase like “stop order” or “cancel order” of “Cancel Order”. Users who write this "
            "get “Order Status” instead.",
        )
    ]
    assert list_messages(part, BY_PRIORITY) == [
        (
            "CLASSIFIER_OVERLAP",
            "The phrase like “stop order” or “cancel order” of “Cancel Order” matches these messages, too, and has "
            "priority 10, this one 20. It decides instead.",
        )
    ]
    assert codes(replace(OTHER, pattern="stop", priority=20), BY_PRIORITY) == []


@pytest.mark.parametrize("change", [{}, {"intent_code": "CANCEL_ORDER", "pattern": "stop"}, {"enabled": False}])
def test_other_words_the_same_intent_and_a_disabled_row_do_not_overlap(change: dict[str, Any]) -> None:
    assert "CLASSIFIER_OVERLAP" not in codes(replace(OTHER, **change))


def test_the_samples_of_a_pattern_are_its_words() -> None:
    assert list_sample_texts(CLASSIFIER) == ("cancel", "stop", "order", "cancel stop order")
    assert list_sample_texts(replace(CLASSIFIER, pattern=r"(?i)\bwhere[a-z]? is\s+\p{L}{2,3}")) == (
        "where",
        "is",
        "where is",
    )


def test_a_row_is_built_once_however_many_texts_it_is_asked_about(monkeypatch: pytest.MonkeyPatch) -> None:
    others = [
        replace(OTHER, classifier_id=10 + number, rule_type="REGEX", pattern=f"topic{number} (one|two|three)")
        for number in range(200)
    ]
    built: list[object] = []
    made = TextBank.__init__
    monkeypatch.setattr(
        TextBank, "__init__", lambda self, *args, **kwargs: (built.append(args), made(self, *args, **kwargs))[1]
    )

    assert codes(replace(CLASSIFIER, classifier_id=9, pattern="counted here"), *others) == []
    assert len(built) <= 3
