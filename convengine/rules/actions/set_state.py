"""SET_STATE: move the conversation to another state (pipeline-2 7.4)."""

from convengine.domain.rows import Rule
from convengine.domain.scope import ANY
from convengine.domain.session import Session
from convengine.domain.stages import Stage
from convengine.domain.text import code
from convengine.domain.turn import Turn
from convengine.rules.actions.contract import ActionValueError, audit, required

VALUE = "the state to move to"


def parse(value: str | None) -> str:
    """The state code. Raises ActionValueError."""
    state = code(required("SET_STATE", value, VALUE))
    if state == ANY:
        raise ActionValueError("A conversation cannot be in state ANY. Enter the state to move to.", "CONFLICT")
    return state


def apply(rule: Rule, session: Session, turn: Turn) -> Session:
    """Set it. Raises ActionValueError."""
    before, state = session.state, parse(rule.action_value)
    session = session.moved(state=state, cause="RULE", rule_id=rule.rule_id, phase=code(rule.phase))
    audit(rule, session, turn, Stage.SET_STATE, "context", fromState=before, toState=state, intent=session.intent)
    return session
