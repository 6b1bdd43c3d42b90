"""Several intents match and none decides: ask which one is meant, and read the reply (R37, R45, pipeline-1 9.3)."""

from collections.abc import Sequence
from typing import Any

from convengine.engine.clarification.agent_answer import Score
from convengine.engine.text.compare import code
from convengine.engine.text.options import select_option
from convengine.engine.turn import rows
from convengine.engine.turn.scope import INTENT_COLLISION
from convengine.engine.turn.session import Clarification, Session
from convengine.engine.turn.snapshot import Snapshot

#: Reasons of a question: phrases collided, or the agent was unsure.
CLASSIFIER = "CLASSIFIER"
AGENT = "AGENT"
#: How often the engine asks before the state becomes UNKNOWN.
_MAX_ASKS = 2


def build_question(names: Sequence[str]) -> str:
    """The built question: "Do you mean A or B?"."""
    return f"Do you mean {', '.join(names[:-1])} or {names[-1]}?"


def ask_user(session: Session, snapshot: Snapshot, hits: Sequence[rows.Classifier]) -> Session:
    """Ask which of the matching intents is meant; the state becomes INTENT_COLLISION."""
    first_of: dict[str, rows.Classifier] = {}
    for row in hits:
        first_of.setdefault(code(row.intent_code), row)
    found: list[dict[str, Any]] = [
        {
            "intent": intent,
            "state": code(row.state_code),
            "label": get_intent_name(snapshot, intent),
            "classifierId": row.classifier_id,
        }
        for intent, row in first_of.items()
    ]
    clarification = Clarification(build_question([option["label"] for option in found]), CLASSIFIER, tuple(found))
    return session.move_to(state=INTENT_COLLISION, cause="INTENT_RESOLUTION").evolve(clarification=clarification)


def list_options(snapshot: Snapshot, close: Sequence[Score]) -> tuple[dict[str, Any], ...]:
    """The options of the agent's question: the intents whose scores are too close."""
    return tuple({"intent": score.intent, "label": get_intent_name(snapshot, score.intent)} for score in close)


def repeat_question(session: Session) -> Session | None:
    """Repeat the question; null when it was asked often enough."""
    before = session.clarification
    if before is None or before.asks >= _MAX_ASKS:
        return None
    again = Clarification(before.question, before.reason, before.options, asks=before.asks + 1)
    return session.evolve(clarification=again)


def find_chosen_row(session: Session, snapshot: Snapshot) -> rows.Classifier | None:
    """The classifier row that the reply chooses by number or name, or null."""
    option = _find_chosen(session, CLASSIFIER)
    row = snapshot.row(rows.Classifier, option.get("classifierId")) if option else None
    return row if row is not None and row.enabled and snapshot.is_active(row.intent_code) else None


def find_chosen_intent(session: Session) -> str | None:
    """The intent that the reply chooses among the agent's options, or null."""
    option = _find_chosen(session, AGENT)
    return code(str(option.get("intent") or "")) or None if option else None


def is_pending(session: Session) -> bool:
    """True while a question of an earlier turn is open."""
    return session.clarification is not None and session.clarification.from_previous_turn


def drop_questions(session: Session) -> Session:
    """Drop all questions and their reply, because an intent was accepted (R37)."""
    reply = session.reply_override
    repeated = reply is not None and reply.source == "DISAMBIGUATION"
    return session.evolve(clarification=None, reply_override=None if repeated else reply)


def get_intent_name(snapshot: Snapshot, intent: str) -> str:
    """The display name of an intent."""
    row = snapshot.row(rows.Intent, intent)
    return row.name if row else intent


def _find_chosen(session: Session, reason: str) -> dict[str, Any] | None:
    open_question = session.clarification
    if open_question is None or not open_question.from_previous_turn or open_question.reason != reason:
        return None
    offered = [option for option in open_question.options if isinstance(option, dict)]
    index = select_option(session.user_text, [(str(o.get("intent", "")), str(o.get("label", ""))) for o in offered])
    return None if index is None else offered[index]
