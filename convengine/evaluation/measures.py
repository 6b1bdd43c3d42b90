"""What was decided rightly: per intent precision, recall, F1 and confusions."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from convengine.engine.understanding.phrases.terms import detect_languages
from convengine.evaluation.intents import IntentDecision

#: The precision at which the recall is told besides that of the decisions.
_PRECISION = 0.9
#: The right one is looked for among this many.
_FIRST = 3


@dataclass(frozen=True)
class IntentOutcome:
    """A message, what it means, and what it was taken for."""

    message: str
    #: The labelled intent; blank for "none of them".
    intent: str
    decision: IntentDecision
    #: The phrase that the message is, in a cross-validation.
    phrase_id: int | None = None
    #: The file of the message, and where in it.
    source: str = ""
    #: What documents say to it.
    cards: Sequence[Mapping[str, Any]] = ()

    @property
    def is_right(self) -> bool:
        """True if it was taken for its intent, or for none if it means none."""
        return not self.decision.is_question and self.decision.intents == ((self.intent,) if self.intent else ())

    @property
    def is_near(self) -> bool:
        """True if the user is asked, and the right intent is among the choices."""
        return self.decision.is_question and self.intent in self.decision.intents

    @property
    def claimed(self) -> str:
        """The only intent that it was taken for; blank for a question and for nothing."""
        return self.decision.intents[0] if self.decision.intents and not self.decision.is_question else ""


def summarize_intents(outcomes: Sequence[IntentOutcome]) -> dict[str, Any]:
    """All measures as a document of JSON, with the messages that were not decided rightly."""
    meant = [outcome for outcome in outcomes if outcome.intent]
    right = sum(outcome.is_right for outcome in meant)
    claimed = sum(bool(outcome.claimed) for outcome in outcomes)
    strange = [outcome for outcome in outcomes if not outcome.intent]
    first_three = sum(
        outcome.intent in [ranked.intent for ranked in outcome.decision.ranked[:_FIRST]] for outcome in meant
    )
    intents = _summarize_each(outcomes)
    return {
        "messages": len(outcomes),
        "precision": _share(right, claimed),
        "recall": _share(right, len(meant)),
        "near": _share(sum(outcome.is_near for outcome in meant), len(meant)),
        "firstThree": _share(first_three, len(meant)),
        "recallAtPrecision": {"precision": _PRECISION, **_find_recall_at(outcomes, len(meant))},
        "noneOfThem": {
            "messages": len(strange),
            "claimed": sum(bool(outcome.claimed) for outcome in strange),
            "asked": sum(outcome.decision.is_question for outcome in strange),
        },
        "weighted": _average(intents, [each["messages"] for each in intents]),
        "macro": _average(intents, [1] * len(intents)),
        "intents": intents,
        "confusions": _list_confusions(outcomes),
        "undecided": _list_undecided(outcomes),
    }


def summarize_languages(outcomes: Sequence[IntentOutcome], languages: Sequence[str]) -> list[dict[str, Any]]:
    """The messages that mean an intent, by language. Left out are those that could be in several languages."""
    counts: dict[str, Counter[str]] = {language: Counter() for language in languages}
    for outcome in outcomes:
        detected = detect_languages(outcome.message, languages) if outcome.intent else ()
        if len(detected) == 1:
            result = "right" if outcome.is_right else "asked" if outcome.decision.is_question else "wrong"
            counts[detected[0].tables.name].update(("messages", result))
    return [
        {
            "language": language,
            "messages": own["messages"],
            "right": own["right"],
            "asked": own["asked"],
            "recall": _share(own["right"], own["messages"]),
        }
        for language, own in counts.items()
    ]


def _average(intents: Sequence[Mapping[str, Any]], weights: Sequence[int]) -> dict[str, float | None]:
    """Precision, recall and F1 over the intents; a measure that an intent does not have counts as 0."""
    total = sum(weights)
    return {
        name: round(sum(weight * (each[name] or 0) for each, weight in zip(intents, weights, strict=True)) / total, 4)
        if total
        else None
        for name in ("precision", "recall", "f1")
    }


def _share(count: int, total: int) -> float | None:
    return round(count / total, 4) if total else None


def _find_recall_at(outcomes: Sequence[IntentOutcome], total: int) -> dict[str, float | None]:
    """The highest recall whose decisions reach the precision, if the best intent is taken from a confidence on."""
    best: dict[str, float | None] = {"recall": 0.0 if total else None, "confidence": None}
    right = 0
    ranked = sorted(
        (outcome for outcome in outcomes if outcome.decision.ranked), key=lambda each: -each.decision.confidence
    )
    for count, outcome in enumerate(ranked, 1):
        right += outcome.decision.ranked[0].intent == outcome.intent
        if total and right / count >= _PRECISION:
            best = {"recall": round(right / total, 4), "confidence": outcome.decision.confidence}
    return best


def _summarize_each(outcomes: Sequence[IntentOutcome]) -> list[dict[str, Any]]:
    """The intents, those with most faults first. `right`, `asked`, `taken` and `missed` add up to the messages."""
    counts: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for outcome in outcomes:
        if outcome.claimed:
            counts[outcome.claimed]["claimed"] += 1
        if outcome.intent:
            result = "asked" if outcome.decision.is_question else "taken" if outcome.claimed else "missed"
            own = counts[outcome.intent]
            own.update(("messages", "right" if outcome.is_right else result, *(["near"] * outcome.is_near)))
    names = ("messages", "right", "near", "asked", "taken", "missed", "claimed")
    listed: list[dict[str, Any]] = [
        {
            "intent": intent,
            **{name: own[name] for name in names},
            "precision": _share(own["right"], own["claimed"]),
            "recall": _share(own["right"], own["messages"]),
            "f1": _share(2 * own["right"], own["messages"] + own["claimed"]),
        }
        for intent, own in counts.items()
    ]
    return sorted(listed, key=lambda each: (2 * each["right"] - each["messages"] - each["claimed"], each["intent"]))


def _list_confusions(outcomes: Iterable[IntentOutcome]) -> list[dict[str, Any]]:
    """Each pair of a labelled and a decided intent with its messages, the most frequent first."""
    pairs: defaultdict[tuple[str, str], list[dict[str, Any]]] = defaultdict(list)
    for outcome in outcomes:
        if outcome.claimed and not outcome.is_right:
            pairs[outcome.intent, outcome.claimed].append(_describe(outcome))
    ordered = sorted(pairs.items(), key=lambda pair: (-len(pair[1]), pair[0]))
    return [
        {"intent": intent, "decision": decided, "count": len(messages), "messages": messages}
        for (intent, decided), messages in ordered
    ]


def _list_undecided(outcomes: Iterable[IntentOutcome]) -> list[dict[str, Any]]:
    """The messages that led to a question, and those with an intent that led to nothing."""
    return [
        {"intent": outcome.intent, "decision": list(outcome.decision.intents), **_describe(outcome)}
        for outcome in outcomes
        if not outcome.claimed and not outcome.is_right
    ]


def _describe(outcome: IntentOutcome) -> dict[str, Any]:
    """A message with the intents that came into question: their confidence, and the phrase that speaks for each."""
    described: dict[str, Any] = {
        "message": outcome.message,
        "ranked": [
            {
                "intent": each.intent,
                "confidence": each.confidence,
                "phraseId": each.phrase_id,
                "phrase": each.phrase,
                "isPattern": each.is_pattern,
            }
            for each in outcome.decision.ranked[:_FIRST]
        ],
    }
    if outcome.phrase_id is not None:
        described["phraseId"] = outcome.phrase_id
    if outcome.source:
        described["source"] = outcome.source
    return described
