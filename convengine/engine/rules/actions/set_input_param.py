"""SET_INPUT_PARAM: write input params."""

from collections.abc import Mapping
from typing import Any

from convengine.engine.rules.actions.contract import (
    Action,
    Write,
    audit_action,
    describe_values,
    read_assignments,
    read_param_key,
    read_scalar,
    require_value,
)
from convengine.engine.rules.stages import RULE_STEPS
from convengine.engine.turn.enums import RuleAction
from convengine.engine.turn.rows import Rule
from convengine.engine.turn.session import Session
from convengine.engine.turn.stage import Family, SentenceTemplate, declare_stage
from convengine.engine.turn.turn import Turn

VALUE = "key:value, or JSON"
USAGE = 'Use key:value, or JSON like {"key":"skip_tool_execution","value":true}.'


SET_INPUT_PARAM = declare_stage(
    "SET_INPUT_PARAM",
    Family.RULE,
    "A rule wrote input params.",
    steps=RULE_STEPS,
    keys="ruleId intent state appliedInputParams inputParams",
    sentences=(SentenceTemplate("set the parameters {appliedInputParams:data}"),),
)


def parse(value: str | None) -> Mapping[str, Any]:
    """The params that the value assigns. Raises ActionValueError."""
    text = require_value("SET_INPUT_PARAM", value, VALUE)
    return read_assignments(text, USAGE, read_param_key, read_scalar, bare=True)


def apply(rule: Rule, session: Session, turn: Turn) -> Session:
    """Write the params. Raises ActionValueError."""
    params = parse(rule.action_value)
    session = session.with_params(params)
    audit_action(
        rule,
        session,
        turn,
        SET_INPUT_PARAM,
        "inputParams",
        intent=session.intent,
        state=session.state,
        appliedInputParams=dict(params),
    )
    return session


ACTION = Action(
    RuleAction.SET_INPUT_PARAM.value,
    RuleAction.SET_INPUT_PARAM.label,
    help="Sets parameters: name:value, a name alone for true, or a JSON object for several.",
    value=VALUE,
    picker="params",
    parse=parse,
    apply=apply,
    describe=describe_values,
    writes=lambda params: [Write(("inputParams", key), value) for key, value in params.items()],
)
