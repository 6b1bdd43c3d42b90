"""SET_CONTEXT: write context fields (pipeline-2 7.4, R97)."""

import json
from collections.abc import Mapping
from typing import Any

from convengine.domain.rows import Rule
from convengine.domain.session import Session
from convengine.domain.stages import Stage
from convengine.domain.turn import Turn
from convengine.rules.actions.assignments import assignments
from convengine.rules.actions.context_paths import context_path, written
from convengine.rules.actions.contract import ActionFailed, audit, required, scalar

VALUE = "path:value, or JSON"
USAGE = 'Use path:value, for example order.priority:high, or JSON like {"order.priority":"high"}.'


def parse(value: str | None) -> Mapping[str, Any]:
    """The paths that the value assigns. Raises ActionValueError."""
    text = required("SET_CONTEXT", value, VALUE)
    return assignments(text, USAGE, context_path, _value, bare=False)


def apply(rule: Rule, session: Session, turn: Turn) -> Session:
    """Write them. Raises ActionValueError, and ActionFailed where a path leads through something that is no object."""
    values = parse(rule.action_value)
    context = dict(session.context)
    for path, value in values.items():
        try:
            context = written(context, path, value)
        except KeyError as error:
            raise ActionFailed("NotAnObject", f"{path}: {error.args[0]} is not an object.") from None
    session = session.evolve(context=context)
    audit(
        rule,
        session,
        turn,
        Stage.SET_CONTEXT,
        "context",
        values=dict(values),
        intent=session.intent,
        state=session.state,
    )
    return session


def _value(text: str) -> Any:
    """A value after the colon: JSON where it begins like an object, list or quoted text, else a scalar."""
    if text.strip()[:1] in ("{", "[", '"'):
        try:
            return json.loads(text)
        except ValueError:
            return text.strip()
    return scalar(text)
