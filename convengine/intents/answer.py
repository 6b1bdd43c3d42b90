"""What the intent agent said, read leniently (pipeline-1 14.5): a model that means well need not spell well."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from convengine.domain.snapshot import Snapshot
from convengine.domain.text import blank, code, truthy
from convengine.llm.confidence import confidence_of

Json = Any

#: What the model is told its answer must look like. Reading takes more than this.
ANSWER_SCHEMA: Mapping[str, Json] = {
    "type": "object",
    "properties": {
        "intent": {"type": "string"},
        "state": {"type": "string"},
        "confidence": {"type": "number", "minimum": 0, "maximum": 1},
        "needsClarification": {"type": "boolean"},
        "clarificationResolved": {"type": "boolean"},
        "clarificationQuestion": {"type": "string"},
        "intentScores": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "intent": {"type": "string"},
                    "confidence": {"type": "number", "minimum": 0, "maximum": 1},
                },
                "required": ["intent", "confidence"],
                "additionalProperties": False,
            },
        },
        "followups": {"type": "array", "items": {"type": "string"}},
    },
    "required": [
        "intent", "state", "confidence", "needsClarification", "clarificationResolved", "clarificationQuestion",
        "intentScores", "followups",
    ],
    "additionalProperties": False,
}  # fmt: skip


class Score(NamedTuple):
    """How sure the model is of one allowed intent, from 0 to 1."""

    intent: str
    confidence: float

    def stored(self) -> dict[str, Json]:
        """The score as input params and events hold it."""
        return {"intent": self.intent, "confidence": self.confidence}


@dataclass(frozen=True)
class AgentAnswer:
    """The model's answer. Codes are upper case; a blank text is the empty one."""

    intent: str
    state: str
    confidence: float
    needs_clarification: bool
    question: str
    clarification_resolved: bool
    #: Of allowed intents only, one each, the best first.
    scores: tuple[Score, ...]
    followups: tuple[str, ...]


def read_answer(said: Mapping[str, Json], snapshot: Snapshot) -> AgentAnswer:
    """The answer in `said`. A blank intent becomes the best score's; a missing confidence that of the intent (A6)."""
    scores = _scores(_either(said, "intentScores", "intent_scores"), snapshot)
    intent, confidence = code(_text(said.get("intent"))), confidence_of(said.get("confidence"))
    if not intent and scores:
        intent, confidence = code(scores[0].intent), max(confidence or 0.0, scores[0].confidence)
    if confidence is None:
        confidence = next((score.confidence for score in scores if code(score.intent) == intent), 0.0)
    return AgentAnswer(
        intent=intent,
        state=code(_text(said.get("state"))),
        confidence=confidence,
        needs_clarification=truthy(said.get("needsClarification")),
        question=_text(said.get("clarificationQuestion")),
        clarification_resolved=truthy(said.get("clarificationResolved")),
        scores=scores,
        followups=_texts(_either(said, "followups", "follow_ups")),
    )


def spelling(snapshot: Snapshot) -> Mapping[str, str]:
    """The allowed intents: their codes in upper case, and as their rows spell them."""
    return snapshot.memo.get(
        "intent spelling", lambda: {code(row.intent_code): row.intent_code for row in snapshot.allowed_intents}
    )


def _scores(given: Json, snapshot: Snapshot) -> tuple[Score, ...]:
    best: dict[str, float] = {}
    for name, value in _pairs(given):
        intent, share = spelling(snapshot).get(code(_text(name))), confidence_of(value)
        if intent is not None and share is not None:
            best[intent] = max(share, best.get(intent, 0.0))
    ranked = (Score(intent, share) for intent, share in best.items())
    return tuple(sorted(ranked, key=lambda score: (-score.confidence, score.intent)))


def _pairs(given: Json) -> Iterable[tuple[Json, Json]]:
    """(code, value) of `[{intent|code, confidence|score}]` or of `{code: value}`."""
    if isinstance(given, Mapping):
        return given.items()
    entries = [entry for entry in given if isinstance(entry, Mapping)] if isinstance(given, list) else []
    return [(_either(entry, "intent", "code"), _either(entry, "confidence", "score")) for entry in entries]


def _either(said: Mapping[str, Json], name: str, other: str) -> Json:
    found = said.get(name)
    return said.get(other) if found is None else found


def _text(value: Json) -> str:
    return value.strip() if isinstance(value, str) else ""


def _texts(value: Json) -> tuple[str, ...]:
    entries = value if isinstance(value, list) else [value]
    return tuple(entry.strip() for entry in entries if isinstance(entry, str) and not blank(entry))
