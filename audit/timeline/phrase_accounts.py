"""Why the phrases led a turn to its intent, word by word: computed on its configuration when somebody looks."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from audit.narration.decisions import NarratedChoice, list_choices
from audit.record.events import Event
from convengine.engine.forms.stages import FORM_LEAVE_ASKED
from convengine.engine.steps.intents.stages import INTENT_RESOLVE_NEEDS_CLARIFICATION, INTENT_RESOLVED_BY_CLASSIFIER
from convengine.engine.steps.responses.stages import DIGRESSION_ANSWERED, NOT_UNDERSTOOD
from convengine.engine.turn.enums import DecisionKind
from convengine.engine.turn.snapshot import Snapshot
from convengine.json_value import Json
from convengine.server.admin_site.phrase_account import PhraseAccount, build_phrase_account

#: The events after which a message is still to be understood.
_OPEN = (NOT_UNDERSTOOD, INTENT_RESOLVE_NEEDS_CLARIFICATION)
#: The events that name the intent for which a message was taken, and the key of the intent.
_TAKEN_FOR: Mapping[str, str] = {
    DIGRESSION_ANSWERED: "intent",
    FORM_LEAVE_ASKED: "intent",
    INTENT_RESOLVED_BY_CLASSIFIER: "resolvedIntent",
}


def has_compared_phrases(events: Sequence[Event]) -> bool:
    """True if the turn compared its message with phrases."""
    return bool(_list_compared(events))


def build_phrase_accounts(events: Sequence[Event], snapshot: Snapshot) -> list[PhraseAccount]:
    """The accounts of the texts that a turn compared with phrases; `snapshot` is its configuration."""
    is_open = any(event.name in _OPEN for event in events)
    taken_for = {str(event.payload.get(_TAKEN_FOR[event.name])) for event in events if event.name in _TAKEN_FOR}
    return [
        build_phrase_account(snapshot, **compared, taken_for=None if is_open else taken_for)
        for compared in list_compared_texts(events, snapshot)
    ]


def list_compared_texts(events: Sequence[Event], snapshot: Snapshot) -> Iterator[dict[str, Any]]:
    """What a turn compared with phrases, each once: as `build_phrase_account` takes it."""
    seen = set()
    for choice in _list_compared(events):
        key, state = choice.payload["key"], choice.event.state
        interrupting = bool(key.get("interrupting"))
        text = key.get("userText") or state.get("standaloneQuery" if key.get("queryRewritten") else "userText")
        if isinstance(text, str) and (text, interrupting) not in seen:
            seen.add((text, interrupting))
            yield {
                "text": text,
                "interrupting": interrupting,
                "own": snapshot.list_questions_beside(state.get("intent")),
                "recorded": _read_confidences(choice),
            }


def _list_compared(events: Sequence[Event]) -> list[NarratedChoice]:
    classified = (choice for choice in list_choices(events) if choice.kind == DecisionKind.CLASSIFIER)
    return [choice for choice in classified if "phrases" in choice.payload["key"]]


def _read_confidences(choice: NarratedChoice) -> Mapping[Json, float] | None:
    """The recorded confidences by phrase. Returns None if they were masked."""
    recorded: dict[Json, float] = {}
    for candidate in choice.payload.get("candidates") or ():
        for operand in candidate.get("operands") or ():
            score = operand.get("score", 0.0) if isinstance(operand, Mapping) else None
            if not isinstance(score, (int, float)):
                return None
            if "score" in operand:
                recorded[candidate["id"]] = score
    return recorded
