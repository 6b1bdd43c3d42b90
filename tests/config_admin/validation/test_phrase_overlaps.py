"""Which of two phrases decides, and their names in messages."""

from typing import Any

import pytest

from config_admin.validation.phrase_overlaps import choose_deciding_row, describe_phrase, quote_intent
from tests.builders import make_classifier, make_config, make_intent, make_snapshot

BY_PRIORITY = make_config("ClassifierIntentResolver/COLLISION_BY_PRIORITY", "true")
PHRASES_FIRST = make_config("Classifier/ORDER", "PHRASE")
PATTERN, EXACT = (
    make_classifier("CANCEL", "cancel", rule_type="REGEX", priority=5),
    make_classifier("BILL", "cancel", rule_type="EXACT", priority=9),
)
PHRASE = make_classifier("BILL", "cancel it", rule_type="PHRASE", priority=1)


@pytest.mark.parametrize(
    ("other", "settings", "winner"),
    [
        (EXACT, (), None),
        (EXACT, (BY_PRIORITY,), PATTERN),
        (PHRASE, (), PATTERN),
        (PHRASE, (BY_PRIORITY,), PATTERN),
        (PHRASE, (PHRASES_FIRST,), PHRASE),
    ],
)
def test_the_order_of_match_types_decides_and_then_priorities_where_they_may(
    other: Any, settings: tuple[Any, ...], winner: Any
) -> None:
    snapshot = make_snapshot(PATTERN, other, *settings)

    assert choose_deciding_row(snapshot, PATTERN, other) == choose_deciding_row(snapshot, other, PATTERN) == winner


@pytest.mark.parametrize(
    ("intent", "name"),
    [
        (make_intent("BILL", display_name="Understanding the bill"), "“Understanding the bill” (BILL)"),
        (make_intent("BILL", display_name="Bill"), "“Bill”"),
        (make_intent("BILL"), "“Bill”"),
        (make_intent("PAY_BILL", display_name="Pay bill"), "“BILL”"),
    ],
)
def test_an_intent_is_called_by_its_name_before_its_code(intent: Any, name: str) -> None:
    assert quote_intent(make_snapshot(intent), "BILL") == name


def test_a_phrase_is_called_by_its_description_or_its_words() -> None:
    assert describe_phrase(make_snapshot(), PHRASE) == "phrase “cancel it” of “BILL”"
    assert describe_phrase(
        make_snapshot(), make_classifier("BILL", r"\b(pay|send)\b.*\bbill\b", rule_type="REGEX")
    ) == ("phrase like “pay bill” or “send bill” of “BILL”")
    described = make_classifier("BILL", r"\bbill\b", rule_type="REGEX", description="asks for the bill")
    assert describe_phrase(make_snapshot(), described) == "phrase “asks for the bill” of “BILL”"
