"""SET_CONTEXT and CLEAR_CONTEXT: write context fields, and remove those whose values are stale."""

from collections.abc import Mapping
from typing import Any

from convengine.engine.rules.actions.contract import (
    REMOVED,
    Action,
    ActionFailed,
    Write,
    audit_action,
    clear_at_path,
    describe_values,
    read_assignments,
    read_context_path,
    read_scalar,
    require_names,
    require_value,
    set_at_path,
)
from convengine.engine.rules.stages import CLEAR_CONTEXT, SET_CONTEXT
from convengine.engine.turn.codec import loads
from convengine.engine.turn.enums import RuleAction
from convengine.engine.turn.rows import Rule
from convengine.engine.turn.session import Session
from convengine.engine.turn.turn import Turn

_ASSIGNED = "path:value, or JSON"
_CLEARED = "the context fields to remove, separated by commas"
_USAGE = 'Use path:value, for example order.priority:high, or JSON like {"order.priority":"high"}.'


def _parse_fields(value: str | None) -> Mapping[str, Any]:
    text = require_value("SET_CONTEXT", value, _ASSIGNED)
    return read_assignments(text, _USAGE, read_context_path, _read_value, bare=False)


def _read_value(text: str) -> Any:
    """A value after the colon: JSON if it begins like an object, list or quoted text, else a scalar."""
    if text.strip()[:1] in ("{", "[", '"'):
        try:
            return loads(text)
        except ValueError:
            return text.strip()
    return read_scalar(text)


def _set_fields(rule: Rule, session: Session, turn: Turn) -> Session:
    """Write the fields. Raises ActionValueError, and ActionFailed if a path leads through a value that is not an
    object.
    """
    values = _parse_fields(rule.action_value)
    context = dict(session.context)
    for path, value in values.items():
        try:
            context = set_at_path(context, path, value)
        except KeyError as error:
            raise ActionFailed("NotAnObject", f"{path}: {error.args[0]} is not an object.") from None
    session = session.evolve(context=context)
    audit_action(rule, session, turn, SET_CONTEXT, "context", values=dict(values), **session.where)
    return session


def _parse_paths(value: str | None) -> tuple[str, ...]:
    return tuple(read_context_path(path) for path in require_names("CLEAR_CONTEXT", value, _CLEARED))


def _clear_fields(rule: Rule, session: Session, turn: Turn) -> Session:
    paths = _parse_paths(rule.action_value)
    context = dict(session.context)
    for path in paths:
        context = clear_at_path(context, path)
    session = session.evolve(context=context)
    audit_action(rule, session, turn, CLEAR_CONTEXT, "context", paths=list(paths), **session.where)
    return session


ACTIONS = (
    Action(
        RuleAction.SET_CONTEXT.value,
        RuleAction.SET_CONTEXT.label,
        help="Writes a context field: path:value, or JSON.",
        value=_ASSIGNED,
        picker="context",
        parse=_parse_fields,
        apply=_set_fields,
        describe=describe_values,
        writes=lambda values: [Write(("context", *path.split(".")), value) for path, value in values.items()],
    ),
    Action(
        RuleAction.CLEAR_CONTEXT.value,
        RuleAction.CLEAR_CONTEXT.label,
        help="Removes context fields.",
        value=_CLEARED,
        picker="fields",
        parse=_parse_paths,
        apply=_clear_fields,
        describe=lambda paths: f"clear {', '.join(paths)}",
        writes=lambda paths: [Write(("context", *path.split(".")), REMOVED) for path in paths],
    ),
)
