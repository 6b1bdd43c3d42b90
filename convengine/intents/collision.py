"""Two intents fit and nobody decides: the question, and what its answer means (R37, R45, pipeline-1 9.3)."""

from collections.abc import Sequence
from typing import Any

from convengine.domain import rows
from convengine.domain.options import selected
from convengine.domain.scope import INTENT_COLLISION
from convengine.domain.session import Clarification, Session
from convengine.domain.snapshot import Snapshot
from convengine.domain.text import code

#: Reason of a question that classifiers raised.
CLASSIFIER = "CLASSIFIER"
#: How often the question is asked before the state becomes UNKNOWN.
_MAX_ASKS = 2


def question(names: Sequence[str]) -> str:
    """The built question: "Do you mean A or B?"."""
    return f"Do you mean {', '.join(names[:-1])} or {names[-1]}?"


def asked(session: Session, snapshot: Snapshot, hits: Sequence[rows.Classifier]) -> Session:
    """The session with the question which of the classifiers' intents is meant, in state INTENT_COLLISION."""
    first_of: dict[str, rows.Classifier] = {}
    for row in hits:
        first_of.setdefault(code(row.intent_code), row)
    options: list[dict[str, Any]] = [
        {
            "intent": intent,
            "state": code(row.state_code),
            "label": _name(snapshot, intent),
            "classifierId": row.classifier_id,
        }
        for intent, row in first_of.items()
    ]
    clarification = Clarification(question([option["label"] for option in options]), CLASSIFIER, tuple(options))
    return session.moved(state=INTENT_COLLISION, cause="INTENT_RESOLUTION").evolve(clarification=clarification)


def asked_again(session: Session) -> Session | None:
    """The same question once more, or null when it was asked often enough."""
    before = session.clarification
    if before is None or before.asks >= _MAX_ASKS:
        return None
    again = Clarification(before.question, before.reason, before.options, asks=before.asks + 1)
    return session.evolve(clarification=again)


def answered(session: Session, snapshot: Snapshot) -> rows.Classifier | None:
    """The classifier row that the reply chooses, by number or name; null when it chooses none."""
    open_question = session.clarification
    if open_question is None or not open_question.from_previous_turn or open_question.reason != CLASSIFIER:
        return None
    options = [option for option in open_question.options if isinstance(option, dict)]
    index = selected(session.user_text, [(str(o.get("intent", "")), str(o.get("label", ""))) for o in options])
    if index is None:
        return None
    row = snapshot.row(rows.Classifier, options[index].get("classifierId"))
    return row if row is not None and row.enabled and snapshot.is_active(row.intent_code) else None


def _name(snapshot: Snapshot, intent: str) -> str:
    row = snapshot.row(rows.Intent, intent)
    return row.name if row else intent
