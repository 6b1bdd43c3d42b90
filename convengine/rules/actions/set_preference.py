"""SET_PREFERENCE: choose a model, planner, resolver, knowledge base or tool set for this conversation (R55)."""

from convengine.domain.preferences import KINDS, KNOWLEDGE_BASE
from convengine.domain.rows import Rule
from convengine.domain.session import Session
from convengine.domain.stages import Stage
from convengine.domain.text import blank
from convengine.domain.turn import Turn
from convengine.rules.actions.contract import ActionValueError, audit, one_of, required

VALUE = "kind:id"


def parse(value: str | None) -> tuple[str, str]:
    """The kind and the id to prefer. Raises ActionValueError; what is registered is for the save check to say."""
    kind, _, wanted = required("SET_PREFERENCE", value, VALUE).partition(":")
    if kind.strip().lower() not in KINDS or blank(wanted):
        raise ActionValueError(f"Use kind:id; the kind is one of {one_of(KINDS)}.")
    return kind.strip().lower(), wanted.strip()


def apply(rule: Rule, session: Session, turn: Turn) -> Session:
    """Remember it with the conversation. Raises ActionValueError."""
    kind, wanted = parse(rule.action_value)
    before = session.preferences.get(kind)
    mounted = {"mounted_kb_id": wanted} if kind == KNOWLEDGE_BASE else {}
    session = session.evolve(preferences={**session.preferences, kind: wanted}, **mounted)
    where = {"intent": session.intent, "state": session.state}
    audit(rule, session, turn, Stage.SET_PREFERENCE, kind=kind, fromId=before, toId=wanted, **where)
    return session
