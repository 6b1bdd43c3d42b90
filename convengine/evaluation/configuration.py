"""How well a configuration understands labelled messages, and its own phrases without themselves."""

from collections.abc import Sequence
from typing import Any

from convengine.engine.text.compare import blank, code
from convengine.engine.turn import rows
from convengine.engine.turn.scope import ANY, UNKNOWN
from convengine.engine.turn.snapshot import Snapshot
from convengine.evaluation.cross_validation import FOLDS, Progress, cross_validate
from convengine.evaluation.fields import read_fields, summarize_fields
from convengine.evaluation.intents import decide_by, make_phrases, name_intents
from convengine.evaluation.labelled import LabelledMessage
from convengine.evaluation.measures import IntentOutcome, summarize_intents
from convengine.evaluation.read import EvaluationError

#: Names that a note lists.
_NAMED = 5


def validate_configuration(snapshot: Snapshot, *, folds: int = FOLDS, report: Progress) -> dict[str, Any]:
    """Cross-validate the phrases of a configuration; its patterns and forms take part. Raises EvaluationError."""
    return _validate(_list_phrases(snapshot), snapshot, folds, report)


def validate_messages(messages: Sequence[LabelledMessage], *, folds: int = FOLDS, report: Progress) -> dict[str, Any]:
    """Cross-validate labelled messages as if they were the phrases of a configuration. Raises EvaluationError."""
    texts: dict[str, list[str]] = {}
    for message in messages:
        if message.intent:
            texts.setdefault(message.intent, []).append(message.text)
    return _validate(make_phrases(texts), None, folds, report)


def evaluate_messages(snapshot: Snapshot, messages: Sequence[LabelledMessage], *, report: Progress) -> dict[str, Any]:
    """What labelled messages lead to as the first of a conversation, and what is read of their fields."""
    # An answer to a question begins no conversation.
    labelled = [message for message in messages if message.intent is not None and "asked" not in message.situation]
    fields, left_out = read_fields(snapshot, messages)
    names, decide = name_intents(snapshot.rows(rows.Classifier)), decide_by(snapshot)
    outcomes = []
    for done, message in enumerate(labelled, 1):
        intent = "" if code(message.intent) in ("", UNKNOWN) else names.get(code(message.intent), message.intent or "")
        outcomes.append(IntentOutcome(message.text, intent, decide(message.text), source=message.source))
        report(done, len(labelled))
    unknown = sorted({outcome.intent for outcome in outcomes if outcome.intent} - {*names.values()})
    return {
        "kind": "messages",
        "notes": [*_note("Intents without a phrase, which no message can lead to", unknown), *left_out],
        "intents": summarize_intents(outcomes) if outcomes else None,
        "fields": summarize_fields(fields) if fields else None,
    }


def _validate(
    phrases: Sequence[rows.Classifier], snapshot: Snapshot | None, folds: int, report: Progress
) -> dict[str, Any]:
    result = cross_validate(phrases, snapshot, folds=folds, report=report)
    if not result.outcomes:
        raise EvaluationError("There is nothing to cross-validate: no intent has two different phrases.")
    return {
        "kind": "cross-validation",
        "notes": _note("Not measured, because they have a single phrase", result.single),
        "intents": summarize_intents(result.outcomes),
        "fields": None,
    }


def _list_phrases(snapshot: Snapshot) -> Sequence[rows.Classifier]:
    """The enabled phrases of the intents in use."""
    return [
        row
        for row in snapshot.enabled_rows(rows.Classifier)
        if row.is_phrase
        and not blank(row.pattern)
        and snapshot.is_active(row.intent_code)
        and code(row.intent_code) not in (ANY, UNKNOWN, "")
    ]


def _note(text: str, names: Sequence[str]) -> list[str]:
    if not names:
        return []
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return [f"{text}: {', '.join(names[:_NAMED])}{more}."]
