"""SET_PREFERENCE: choose a model, planner, resolver, knowledge base or tool set for this conversation."""

from convengine.engine.rules.actions.contract import (
    Action,
    ActionValueError,
    Write,
    audit_action,
    require_value,
)
from convengine.engine.rules.stages import SET_PREFERENCE
from convengine.engine.text.compare import blank
from convengine.engine.turn.enums import RuleAction
from convengine.engine.turn.rows import Rule
from convengine.engine.turn.session import KNOWLEDGE_BASE, PREFERENCE_KINDS, Session
from convengine.engine.turn.turn import Turn

VALUE = "kind:id"


def parse(value: str | None) -> tuple[str, str]:
    """The kind and the id. Raises ActionValueError. The save check tests what is registered."""
    kind, _, wanted = require_value("SET_PREFERENCE", value, VALUE).partition(":")
    if kind.strip().lower() not in PREFERENCE_KINDS or blank(wanted):
        raise ActionValueError(f"Use kind:id; the kind is one of {', '.join(PREFERENCE_KINDS)}.")
    return kind.strip().lower(), wanted.strip()


def apply(rule: Rule, session: Session, turn: Turn) -> Session:
    """Store it with the conversation. Raises ActionValueError."""
    kind, wanted = parse(rule.action_value)
    before = session.preferences.get(kind)
    mounted = {"mounted_kb_id": wanted} if kind == KNOWLEDGE_BASE else {}
    session = session.evolve(preferences={**session.preferences, kind: wanted}, **mounted)
    audit_action(rule, session, turn, SET_PREFERENCE, kind=kind, fromId=before, toId=wanted, **session.where)
    return session


ACTION = Action(
    RuleAction.SET_PREFERENCE.value,
    RuleAction.SET_PREFERENCE.label,
    help="Chooses a model, planner, intent resolver, knowledge base or tool set for this conversation.",
    value=VALUE,
    picker="preference",
    parse=parse,
    apply=apply,
    describe=lambda preference: f"use the {preference[0].replace('_', ' ')} {preference[1]} from now on",
    writes=lambda preference: [Write(("preference", preference[0]), preference[1])],
)
