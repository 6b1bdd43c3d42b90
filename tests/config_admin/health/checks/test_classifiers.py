from typing import Any

import pytest

from config_admin.health.checks.classifiers import find_classifier_collisions, find_taken_phrases
from convengine.engine.steps.intents.classifiers import classify
from convengine.engine.turn import rows
from tests.builders import (
    make_classifier,
    make_config,
    make_intent,
    make_policy,
    make_session,
    make_snapshot,
    make_turn,
)
from tests.config_admin.health.run_check import run_check

INTENTS = (make_intent("CANCEL"), make_intent("BILL"))


def _regex(intent: str, pattern: str, **values: Any) -> rows.Classifier:
    return make_classifier(intent, pattern, **{"rule_type": "REGEX", **values})


@pytest.mark.parametrize(
    ("row", "other"),
    [
        (_regex("CANCEL", r"\bcancel\b"), make_classifier("BILL", "cancel my bill")),
        (_regex("CANCEL", r"\bcancel\b.*\border\b"), _regex("BILL", r"\bcancel\b.*\bbill\b")),
        (_regex("CANCEL", r"^\d{3,5}$"), _regex("BILL", r"^\d{5,8}$")),
        (_regex("CANCEL", "stop it"), make_classifier("BILL", "Stop", rule_type="STARTS_WITH")),
        (make_classifier("CANCEL", "no", rule_type="EXACT"), _regex("BILL", "^n")),
    ],
)
def test_a_message_that_two_intents_claim_is_shown(row: rows.Classifier, other: rows.Classifier) -> None:
    (diagnosis,) = run_check(find_classifier_collisions, *INTENTS, row, other)

    assert diagnosis.code == "CLASSIFIER_COLLISION"
    assert {key.pk for key in diagnosis.rows} == {row.pk, other.pk}
    assert diagnosis.witness is not None
    turn = make_turn(make_snapshot(*INTENTS, row, other))
    assert classify(make_session(user_text=diagnosis.witness.text), turn, diagnosis.witness.text).has_collision


@pytest.mark.parametrize(
    "rows_",
    [
        # A text of each behind the other is always hit by both: that says nothing.
        (_regex("CANCEL", r"\bcancel\b"), _regex("BILL", r"\bbill\b")),
        (_regex("CANCEL", r"\bcancel\b"), _regex("CANCEL", "cancel")),
        (_regex("CANCEL", "cancel"), _regex("BILL", "cancel", enabled=False)),
        (_regex("CANCEL", "cancel"), _regex("GONE", "cancel")),
        (_regex("CANCEL", "^cancel$"), _regex("BILL", "^cancel it$")),
        (_regex("CANCEL", "cvv"), _regex("BILL", "cvv"), make_policy("REGEX", "cvv")),
        (
            _regex("CANCEL", "cancel", priority=1),
            _regex("BILL", "cancel", priority=2),
            make_config("ClassifierIntentResolver/COLLISION_BY_PRIORITY", "true"),
        ),
    ],
)
def test_what_is_decided_or_never_asked_is_no_collision(rows_: tuple[rows.Row, ...]) -> None:
    assert not run_check(find_classifier_collisions, *INTENTS, *rows_)


def test_a_phrase_that_was_saved_is_compared_with_no_pattern() -> None:
    phrase = make_classifier("BILL", "where is my invoice", rule_type="PHRASE")

    assert run_check(find_classifier_collisions, *INTENTS, phrase, _regex("CANCEL", "stop"), touched=phrase) == []


def test_of_a_touched_row_its_collisions_are_told_whoever_has_the_words() -> None:
    wide, narrow = _regex("CANCEL", "order"), make_classifier("BILL", "bill for my order")
    others = [_regex("CANCEL", "phone"), _regex("BILL", "phone bill")]

    for touched in (wide, narrow):
        (diagnosis,) = run_check(find_classifier_collisions, *INTENTS, wide, narrow, *others, touched=touched)

        assert {key.pk for key in diagnosis.rows} == {wide.pk, narrow.pk}


def test_a_row_whose_every_message_another_intent_claims_is_named() -> None:
    (diagnosis,) = run_check(
        find_classifier_collisions, *INTENTS, _regex("CANCEL", r"\border\b"), _regex("BILL", r"\bmy order\b")
    )
    (other,) = run_check(
        find_classifier_collisions, *INTENTS, _regex("CANCEL", r"^\d{3,5}$"), _regex("BILL", r"^\d{5,8}$")
    )

    assert "every message of the phrase like “my order” of “Bill”, so it never decides alone" in diagnosis.consequence
    assert "never decides" not in other.consequence


def _phrase(intent: str, text: str) -> rows.Classifier:
    return make_classifier(intent, text, rule_type="PHRASE")


def test_a_pattern_that_takes_phrases_of_another_intent_is_named_with_them() -> None:
    pattern = _regex("BILL", "order")
    phrases = [_phrase("CANCEL", f"cancel order {number}") for number in range(5)]
    (finding,) = run_check(find_taken_phrases, *INTENTS, pattern, *phrases, _phrase("BILL", "pay the order"))

    assert (finding.code, finding.row) == ("PHRASES_TAKEN", pattern.pk)
    assert "“cancel order 0” of “Cancel”" in finding.message
    assert finding.message.endswith("and 2 more.")
    first = make_config("Classifier/ORDER", "PHRASE")
    assert run_check(find_taken_phrases, *INTENTS, pattern, *phrases, first) == []
    assert run_check(find_taken_phrases, *INTENTS, pattern, phrases[0], touched=pattern) != []
    assert run_check(find_taken_phrases, *INTENTS, pattern, phrases[0], touched=INTENTS[0]) == []


def test_a_pattern_that_wins_by_priority_is_named_with_the_phrases_that_it_takes() -> None:
    by_priority = make_config("ClassifierIntentResolver/COLLISION_BY_PRIORITY", "true")
    wide, part = _regex("BILL", "order", priority=1), _regex("CANCEL", r"\border (a|b)\b", priority=2)
    partly = _regex("CANCEL", "(order|shop)", priority=3)

    (finding,) = run_check(find_taken_phrases, *INTENTS, wide, part, partly, by_priority)

    assert finding.message == (
        "The phrase like “order” of “Bill” takes over phrases of other intents: phrase like “order a” or “order b” of "
        "“Cancel”."
    )
    assert run_check(find_taken_phrases, *INTENTS, wide, part, partly) == []


def test_phrases_are_no_patterns_for_the_search_of_collisions() -> None:
    assert (
        run_check(find_classifier_collisions, *INTENTS, _phrase("BILL", "my (order"), _phrase("CANCEL", "order")) == []
    )
