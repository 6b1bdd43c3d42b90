"""Applies one action to a session."""

from typing import Any

from convengine.engine.rules.vocabulary import get_action
from convengine.engine.turn.session import Session
from convengine.engine.turn.turn import Turn
from tests.builders import make_rule, make_turn


def apply(name: str, value: str | None, session: Session, **turn: Any) -> tuple[Session, Turn]:
    """The session after the action, and the turn with what it told."""
    carrier = make_turn(**turn)
    action = get_action(name)
    assert action is not None
    return action.apply(make_rule(rule_id=41, action=name, action_value=value), session, carrier), carrier


def parse(name: str, value: str | None) -> Any:
    """The parsed value of an action. Raises ActionValueError."""
    action = get_action(name)
    assert action is not None
    return action.parse(value)
