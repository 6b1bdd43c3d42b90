"""Read the answer of the intent agent leniently."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from convengine.engine.llm.reply import read_confidence
from convengine.engine.text.compare import blank, code, truthy
from convengine.engine.turn.live_settings import declare, prompt
from convengine.engine.turn.scope import INTENT_COLLISION
from convengine.engine.turn.session import Session
from convengine.engine.turn.snapshot import Snapshot
from convengine.engine.turn.turn import Turn
from convengine.json_value import Json

AGENT_FAMILY = "AgentIntentResolver"
#: The part of a prompt that lists the intents; of each what it is for, once.
ALLOWED_INTENTS = (
    "Allowed intents:\n{% for intent in allowed_intents %}- {{ intent.code }}: {{ intent.name }}"
    "{% if intent.description and intent.description != intent.name %} | {{ intent.description }}{% endif %}"
    "{% if intent.llmHint %} | {{ intent.llmHint }}{% endif %}\n{% endfor %}"
)
SYSTEM_PROMPT = declare(
    AGENT_FAMILY,
    "SYSTEM_PROMPT",
    prompt(),
    "You decide which of the allowed intents a message belongs to. Reply with JSON only:\n"
    '{"intent": code, "confidence": 0 to 1, "needsClarification": true or false, "clarificationResolved": true or '
    'false, "clarificationQuestion": text, "intentScores": [{"intent": code, "confidence": 0 to 1}], '
    '"followups": [text]}\n'
    "Rules:\n"
    "- Use codes of the list only, and invent no facts.\n"
    "- Score every intent that is plausible, the best first. For a question, keep intents that only inform in the "
    "list.\n"
    "- When the best two are close, needsClarification is true, and followups holds one question that tells them "
    "apart.\n"
    "- When the message answers an open question, set clarificationResolved.",
    "System prompt for recognising the intent.",
)
USER_PROMPT = declare(
    AGENT_FAMILY,
    "USER_PROMPT",
    prompt(),
    f"{ALLOWED_INTENTS}\n"
    "{% if intent_collision_candidates %}Candidates so far: {{ intent_collision_candidates }}\n{% endif %}"
    "{% if pending_clarification %}Open question: {{ pending_clarification.question }}\n{% endif %}"
    "{% if known_facts %}Known facts: {{ known_facts }}\n{% endif %}\n"
    "{% if context_summary and older_turns %}Summary so far:\n{{ context_summary }}\n\n{% endif %}"
    "{% if conversation_history %}Conversation so far, oldest first:\n{{ conversation_history }}\n\n{% endif %}"
    "Message:\n{{ user_input }}"
    "{% if standalone_query and standalone_query != user_input %}\n\nIn full:\n{{ standalone_query }}{% endif %}",
    "User prompt for recognising the intent.",
)
#: What the model that names the dialogue act is asked besides, so that a message takes one call.
SCORING = (
    'Besides, score under "intentScores" each intent that the message may belong to, the best first: [{"intent": code, '
    '"confidence": 0 to 1}]. Use codes of the list only. The scores are empty for a message that only answers the last '
    f"question.\n{ALLOWED_INTENTS}"
)

#: The answer schema that the model sees. The reader accepts more than this.
ANSWER_SCHEMA: Mapping[str, Json] = {
    "type": "object",
    "properties": {
        "intent": {"type": "string"},
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
        "intent", "confidence", "needsClarification", "clarificationResolved", "clarificationQuestion",
        "intentScores", "followups",
    ],
    "additionalProperties": False,
}  # fmt: skip

#: The part of another answer in which a model scores the intents, too.
SCORES_SCHEMA: Mapping[str, Json] = ANSWER_SCHEMA["properties"]["intentScores"]


class Score(NamedTuple):
    """How sure the model is of one allowed intent, from 0 to 1."""

    intent: str
    confidence: float

    def to_json(self) -> dict[str, Json]:
        return {"intent": self.intent, "confidence": self.confidence}


@dataclass(frozen=True)
class AgentAnswer:
    """The model's answer. Codes are upper case; a blank text is the empty one."""

    intent: str
    confidence: float
    needs_clarification: bool
    question: str
    clarification_resolved: bool
    #: Allowed intents only, one score each, best first.
    scores: tuple[Score, ...]
    followups: tuple[str, ...]
    #: The scores that are too close, best first; its evaluation finds them.
    close: tuple[Score, ...] = ()
    #: The best intents are too close.
    is_collision: bool = False


def read_answer(answer: Mapping[str, Json], snapshot: Snapshot) -> AgentAnswer:
    """Read the answer. A blank intent becomes the intent with the best score; a missing confidence becomes its
    score.
    """
    scores = _read_scores(_get_either(answer, "intentScores", "intent_scores"), snapshot)
    intent, confidence = code(_read_text(answer.get("intent"))), read_confidence(answer.get("confidence"))
    if not intent and scores:
        intent, confidence = code(scores[0].intent), max(confidence or 0.0, scores[0].confidence)
    if confidence is None:
        confidence = next((score.confidence for score in scores if code(score.intent) == intent), 0.0)
    return AgentAnswer(
        intent=intent,
        confidence=confidence,
        needs_clarification=truthy(answer.get("needsClarification")),
        question=_read_text(answer.get("clarificationQuestion")),
        clarification_resolved=truthy(answer.get("clarificationResolved")),
        scores=scores,
        followups=_read_texts(_get_either(answer, "followups", "follow_ups")),
        is_collision=code(_read_text(answer.get("state"))) == INTENT_COLLISION,
    )


def map_spellings(snapshot: Snapshot) -> Mapping[str, str]:
    """Map upper-case intent codes to the spelling in their rows."""
    return snapshot.memo.get(
        "intent spelling", lambda: {code(row.intent_code): row.intent_code for row in snapshot.allowed_intents}
    )


def _read_scores(given: Json, snapshot: Snapshot) -> tuple[Score, ...]:
    best: dict[str, float] = {}
    for name, value in _list_pairs(given):
        intent, share = map_spellings(snapshot).get(code(_read_text(name))), read_confidence(value)
        if intent is not None and share is not None:
            best[intent] = max(share, best.get(intent, 0.0))
    ranked = (Score(intent, share) for intent, share in best.items())
    return tuple(sorted(ranked, key=lambda score: (-score.confidence, score.intent)))


def _list_pairs(given: Json) -> Iterable[tuple[Json, Json]]:
    if isinstance(given, Mapping):
        return given.items()
    entries = [entry for entry in given if isinstance(entry, Mapping)] if isinstance(given, list) else []
    return [(_get_either(entry, "intent", "code"), _get_either(entry, "confidence", "score")) for entry in entries]


def _get_either(answer: Mapping[str, Json], name: str, other: str) -> Json:
    value = answer.get(name)
    return answer.get(other) if value is None else value


def _read_text(value: Json) -> str:
    return value.strip() if isinstance(value, str) else ""


def _read_texts(value: Json) -> tuple[str, ...]:
    entries = value if isinstance(value, list) else [value]
    return tuple(entry.strip() for entry in entries if isinstance(entry, str) and not blank(entry))


def scores_intents(session: Session, turn: Turn) -> bool:
    """True when the model that is asked for the dialogue act scores the intents, too.

    Not while something holds the intent, and not with prompts of the deployment's own for the intent.
    """
    built_in = all(turn.config(session, setting) == setting.default for setting in (SYSTEM_PROMPT, USER_PROMPT))
    return built_in and bool(turn.snapshot.allowed_intents) and not session.intent_locked
