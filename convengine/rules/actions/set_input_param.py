"""SET_INPUT_PARAM: write input params (pipeline-2 7.4)."""

from collections.abc import Mapping
from typing import Any

from convengine.domain.rows import Rule
from convengine.domain.session import Session
from convengine.domain.stages import Stage
from convengine.domain.turn import Turn
from convengine.rules.actions.assignments import assignments
from convengine.rules.actions.contract import audit, param_key, required, scalar

VALUE = "key:value, or JSON"
USAGE = 'Use key:value, or JSON like {"key":"skip_tool_execution","value":true}.'


def parse(value: str | None) -> Mapping[str, Any]:
    """The params that the value assigns. Raises ActionValueError."""
    text = required("SET_INPUT_PARAM", value, VALUE)
    return assignments(text, USAGE, param_key, scalar, bare=True)


def apply(rule: Rule, session: Session, turn: Turn) -> Session:
    """Write them. Raises ActionValueError."""
    params = parse(rule.action_value)
    session = session.with_params(params)
    audit(
        rule,
        session,
        turn,
        Stage.SET_INPUT_PARAM,
        "inputParams",
        intent=session.intent,
        state=session.state,
        appliedInputParams=dict(params),
    )
    return session
