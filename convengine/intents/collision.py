"""Several intents fit and nobody decides: the question, and what its answer means (R37, R45, pipeline-1 9.3)."""

from collections.abc import Sequence
from typing import Any

from convengine.domain import rows
from convengine.domain.options import selected
from convengine.domain.scope import INTENT_COLLISION
from convengine.domain.session import Clarification, Session
from convengine.domain.snapshot import Snapshot
from convengine.domain.text import code
from convengine.intents.answer import Score

#: Reasons of a question: classifiers raised it, or the agent.
CLASSIFIER = "CLASSIFIER"
AGENT = "AGENT"
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
    found: list[dict[str, Any]] = [
        {
            "intent": intent,
            "state": code(row.state_code),
            "label": name_of(snapshot, intent),
            "classifierId": row.classifier_id,
        }
        for intent, row in first_of.items()
    ]
    clarification = Clarification(question([option["label"] for option in found]), CLASSIFIER, tuple(found))
    return session.moved(state=INTENT_COLLISION, cause="INTENT_RESOLUTION").evolve(clarification=clarification)


def options(snapshot: Snapshot, close: Sequence[Score]) -> tuple[dict[str, Any], ...]:
    """What a question of the agent offers: the intents too close to call."""
    return tuple({"intent": score.intent, "label": name_of(snapshot, score.intent)} for score in close)


def asked_again(session: Session) -> Session | None:
    """The same question once more, or null when it was asked often enough."""
    before = session.clarification
    if before is None or before.asks >= _MAX_ASKS:
        return None
    again = Clarification(before.question, before.reason, before.options, asks=before.asks + 1)
    return session.evolve(clarification=again)


def answered(session: Session, snapshot: Snapshot) -> rows.Classifier | None:
    """The classifier row that the reply chooses, by number or name; null when it chooses none."""
    option = _chosen(session, CLASSIFIER)
    row = snapshot.row(rows.Classifier, option.get("classifierId")) if option else None
    return row if row is not None and row.enabled and snapshot.is_active(row.intent_code) else None


def answered_intent(session: Session) -> str | None:
    """The intent that the reply chooses of those that the agent was not sure of; null when it chooses none."""
    option = _chosen(session, AGENT)
    return code(str(option.get("intent") or "")) or None if option else None


def pending(session: Session) -> bool:
    """True while a question of an earlier turn is open."""
    return session.clarification is not None and session.clarification.from_previous_turn


def without_questions(session: Session) -> Session:
    """An accepted intent leaves every question behind (R37), also one that was just put again, and its reply."""
    reply = session.reply_override
    repeated = reply is not None and reply.source == "DISAMBIGUATION"
    return session.evolve(clarification=None, reply_override=None if repeated else reply)


def name_of(snapshot: Snapshot, intent: str) -> str:
    """What users call an intent."""
    row = snapshot.row(rows.Intent, intent)
    return row.name if row else intent


def _chosen(session: Session, reason: str) -> dict[str, Any] | None:
    open_question = session.clarification
    if open_question is None or not open_question.from_previous_turn or open_question.reason != reason:
        return None
    offered = [option for option in open_question.options if isinstance(option, dict)]
    index = selected(session.user_text, [(str(o.get("intent", "")), str(o.get("label", ""))) for o in offered])
    return None if index is None else offered[index]
