"""SET_CONTEXT: write context fields."""

from collections.abc import Mapping
from typing import Any

from convengine.engine.rules.actions.contract import (
    Action,
    ActionFailed,
    Write,
    audit_action,
    describe_values,
    read_assignments,
    read_context_path,
    read_scalar,
    require_value,
    set_at_path,
)
from convengine.engine.rules.stages import RULE_STEPS
from convengine.engine.turn.codec import loads
from convengine.engine.turn.enums import RuleAction
from convengine.engine.turn.rows import Rule
from convengine.engine.turn.session import Session
from convengine.engine.turn.stage import Family, SentenceTemplate, declare_stage
from convengine.engine.turn.turn import Turn

VALUE = "path:value, or JSON"
USAGE = 'Use path:value, for example order.priority:high, or JSON like {"order.priority":"high"}.'


SET_CONTEXT = declare_stage(
    "SET_CONTEXT",
    Family.RULE,
    "A rule wrote fields of the context.",
    steps=RULE_STEPS,
    keys="ruleId intent state values context",
    sentences=(SentenceTemplate("set {values:data} in the context"),),
)


def parse(value: str | None) -> Mapping[str, Any]:
    """The paths that the value assigns. Raises ActionValueError."""
    text = require_value("SET_CONTEXT", value, VALUE)
    return read_assignments(text, USAGE, read_context_path, _value, bare=False)


def apply(rule: Rule, session: Session, turn: Turn) -> Session:
    """Write the fields. Raises ActionValueError, and ActionFailed if a path leads through a value that is not an
    object.
    """
    values = parse(rule.action_value)
    context = dict(session.context)
    for path, value in values.items():
        try:
            context = set_at_path(context, path, value)
        except KeyError as error:
            raise ActionFailed("NotAnObject", f"{path}: {error.args[0]} is not an object.") from None
    session = session.evolve(context=context)
    audit_action(
        rule,
        session,
        turn,
        SET_CONTEXT,
        "context",
        values=dict(values),
        intent=session.intent,
        state=session.state,
    )
    return session


def _value(text: str) -> Any:
    """A value after the colon: JSON if it begins like an object, list or quoted text, else a scalar."""
    if text.strip()[:1] in ("{", "[", '"'):
        try:
            return loads(text)
        except ValueError:
            return text.strip()
    return read_scalar(text)


ACTION = Action(
    RuleAction.SET_CONTEXT.value,
    RuleAction.SET_CONTEXT.label,
    help="Writes a context field: path:value, or JSON.",
    value=VALUE,
    picker="context",
    parse=parse,
    apply=apply,
    describe=describe_values,
    writes=lambda values: [Write(("context", *path.split(".")), value) for path, value in values.items()],
)
