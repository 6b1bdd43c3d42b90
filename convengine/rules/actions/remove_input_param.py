"""REMOVE_INPUT_PARAM: drop input params (pipeline-2 7.4)."""

from convengine.domain.rows import Rule
from convengine.domain.session import Session
from convengine.domain.stages import Stage
from convengine.domain.turn import Turn
from convengine.rules.actions.contract import audit, param_key, required_names

VALUE = "the input params to drop, separated by commas"


def parse(value: str | None) -> tuple[str, ...]:
    """Their names. Raises ActionValueError."""
    return tuple(param_key(key) for key in required_names("REMOVE_INPUT_PARAM", value, VALUE))


def apply(rule: Rule, session: Session, turn: Turn) -> Session:
    """Drop those that are there. Raises ActionValueError."""
    keys = parse(rule.action_value)
    removed = [key for key in keys if key in session.input_params]
    session = session.without_params(*removed)
    where = {"intent": session.intent, "state": session.state}
    audit(rule, session, turn, Stage.REMOVE_INPUT_PARAM, "inputParams", removed=removed, **where)
    return session
