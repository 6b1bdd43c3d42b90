"""Decisions by a set of phrases."""

from convengine.engine.turn import rows
from convengine.engine.turn.snapshot import Snapshot, Table
from convengine.evaluation.intents import build_decider, decide_by, make_phrases

PHRASES = make_phrases(
    {
        "Repair": ["my bicycle is broken", "can you mend a flat tyre", "the brakes need a repair"],
        "buy-one": ["I want to buy a bicycle", "which models do you sell", "what does a new bike cost"],
    }
)
PATTERN = rows.Classifier(classifier_id=90, intent_code="HOURS", rule_type="CONTAINS", pattern="opening hours")


def make_snapshot() -> Snapshot:
    codes = ("REPAIR", "BUY-ONE", "HOURS")
    tables = [
        Table(rows.Intent.table, [rows.Intent(intent_code=code) for code in codes]),
        Table(rows.Classifier.table, [*PHRASES, PATTERN]),
    ]
    return Snapshot(1, {table.name: table for table in tables})


def test_a_decision_names_the_intent_as_it_was_given() -> None:
    decision = build_decider(PHRASES)("can you mend a tyre that is flat")

    assert decision.intents == ("Repair",)
    assert decision.ranked[0].phrase == "can you mend a flat tyre"
    assert decision.ranked[0].phrase_id == 2
    assert decision.to_json() == {
        "decision": "Repair",
        "confidence": decision.confidence,
        "ranked": [[each.intent, each.confidence] for each in decision.ranked],
    }


def test_a_message_of_no_intent_is_null() -> None:
    assert build_decider(PHRASES)("lovely weather").to_json() == {"decision": None, "confidence": 0.0, "ranked": []}


def test_the_same_phrase_of_two_intents_is_a_question() -> None:
    decision = build_decider(make_phrases({"A": ["mend my tyre"], "B": ["mend my tyre"]}))("mend my tyre")

    assert decision.to_json()["decision"] == ["A", "B"]


def test_other_phrases_take_the_place_of_those_of_a_configuration() -> None:
    snapshot, message = make_snapshot(), "can you mend a flat tyre"

    assert decide_by(snapshot)(message).intents == ("Repair",)
    assert build_decider(PHRASES[3:], snapshot)(message).intents == ()


def test_patterns_of_a_configuration_decide_first() -> None:
    decision = build_decider(PHRASES, make_snapshot())("opening hours, and mend a flat tyre")

    assert decision.intents == ("HOURS",)
    assert decision.confidence == 1.0
