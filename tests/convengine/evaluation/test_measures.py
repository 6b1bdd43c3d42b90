"""Measures of intents."""

from collections.abc import Sequence
from typing import Any

from convengine.evaluation.intents import IntentDecision, RankedIntent
from convengine.evaluation.measures import IntentOutcome, summarize_intents


def decide(message: str, intent: str, *decided: str, best: str = "", confidence: float = 0.5) -> IntentOutcome:
    ranked = [RankedIntent(each, confidence, 7, f"phrase of {each}") for each in (decided or [best]) if each]
    return IntentOutcome(message, intent, IntentDecision(decided, tuple(ranked)), phrase_id=3)


OUTCOMES: Sequence[IntentOutcome] = [
    decide("a", "BUY", "BUY", confidence=0.9),
    decide("b", "BUY", "REPAIR", confidence=0.8),
    decide("c", "BUY", "REPAIR", confidence=0.4),
    decide("d", "BUY", "REPAIR", "BUY", confidence=0.6),
    decide("e", "REPAIR", "REPAIR", confidence=0.95),
    decide("f", "REPAIR", best="REPAIR", confidence=0.2),
    decide("g", "", "BUY", confidence=0.3),
    decide("h", ""),
]


def summarize() -> dict[str, Any]:
    return summarize_intents(OUTCOMES)


def test_precision_counts_decisions_and_recall_messages_with_an_intent() -> None:
    document = summarize()

    assert (document["precision"], document["recall"], document["near"]) == (0.4, 0.3333, 0.1667)
    assert document["firstThree"] == 0.6667
    assert document["noneOfThem"] == {"messages": 2, "claimed": 1, "asked": 0}


def test_each_intent_has_its_measures_most_faults_first() -> None:
    assert summarize()["intents"] == [
        {
            "intent": "BUY",
            "messages": 4,
            "right": 1,
            "near": 1,
            "asked": 1,
            "taken": 2,
            "missed": 0,
            "claimed": 2,
            "precision": 0.5,
            "recall": 0.25,
            "f1": 0.3333,
        },
        {
            "intent": "REPAIR",
            "messages": 2,
            "right": 1,
            "near": 0,
            "asked": 0,
            "taken": 0,
            "missed": 1,
            "claimed": 3,
            "precision": 0.3333,
            "recall": 0.5,
            "f1": 0.4,
        },
    ]


def test_averages_are_weighted_by_the_messages_of_each_intent_or_are_not() -> None:
    document = summarize()

    assert document["weighted"] == {"precision": 0.4444, "recall": 0.3333, "f1": 0.3555}
    assert document["macro"] == {"precision": 0.4166, "recall": 0.375, "f1": 0.3667}
    assert summarize_intents([])["weighted"] == {"precision": None, "recall": None, "f1": None}


def test_confusions_have_their_messages_and_the_phrases_that_spoke_for_each_intent() -> None:
    first, second = summarize()["confusions"]

    assert (first["intent"], first["decision"], first["count"]) == ("BUY", "REPAIR", 2)
    assert first["messages"][0] == {
        "message": "b",
        "ranked": [
            {"intent": "REPAIR", "confidence": 0.8, "phraseId": 7, "phrase": "phrase of REPAIR", "isPattern": False}
        ],
        "phraseId": 3,
    }
    assert (second["intent"], second["decision"]) == ("", "BUY")


def test_questions_and_messages_that_led_to_nothing_are_listed() -> None:
    listed = summarize()["undecided"]

    assert [(each["message"], each["decision"]) for each in listed] == [("d", ["REPAIR", "BUY"]), ("f", [])]


def test_the_recall_at_a_precision_takes_the_best_intents_by_confidence() -> None:
    # e and a are right; b, which is next, is not.
    assert summarize()["recallAtPrecision"] == {"precision": 0.9, "recall": 0.3333, "confidence": 0.9}


def test_without_messages_nothing_is_measured() -> None:
    document = summarize_intents([])

    assert (document["precision"], document["recall"], document["recallAtPrecision"]["recall"]) == (None, None, None)
