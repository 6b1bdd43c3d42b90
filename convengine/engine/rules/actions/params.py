"""SET_INPUT_PARAM, REMOVE_INPUT_PARAM and SET_RESPONSE_HINT: write and remove input params."""

from collections.abc import Mapping
from typing import Any

from convengine.engine.rules.actions.contract import (
    REMOVED,
    SHOWN,
    Action,
    Write,
    audit_action,
    describe_values,
    read_assignments,
    read_param_key,
    read_scalar,
    require_names,
    require_value,
)
from convengine.engine.rules.stages import REMOVE_INPUT_PARAM, SET_INPUT_PARAM, SET_RESPONSE_HINT
from convengine.engine.text.compare import shorten
from convengine.engine.turn.enums import RuleAction
from convengine.engine.turn.owned_params import DialogueParams
from convengine.engine.turn.rows import Rule
from convengine.engine.turn.session import Session
from convengine.engine.turn.turn import Turn

_ASSIGNED = "key:value, or JSON"
_REMOVED = "the parameters to remove, separated by commas"
_HINT = "the hint for the answer"
_USAGE = 'Use key:value, or JSON like {"key":"skip_tool_execution","value":true}.'


def _parse_params(value: str | None) -> Mapping[str, Any]:
    text = require_value("SET_INPUT_PARAM", value, _ASSIGNED)
    return read_assignments(text, _USAGE, read_param_key, read_scalar, bare=True)


def _set_params(rule: Rule, session: Session, turn: Turn) -> Session:
    params = _parse_params(rule.action_value)
    session = session.with_params(params)
    audit_action(rule, session, turn, SET_INPUT_PARAM, "inputParams", **session.where, appliedInputParams=dict(params))
    return session


def _parse_names(value: str | None) -> tuple[str, ...]:
    return tuple(read_param_key(key) for key in require_names("REMOVE_INPUT_PARAM", value, _REMOVED))


def _remove_params(rule: Rule, session: Session, turn: Turn) -> Session:
    removed = [key for key in _parse_names(rule.action_value) if key in session.input_params]
    session = session.without_params(*removed)
    audit_action(rule, session, turn, REMOVE_INPUT_PARAM, "inputParams", removed=removed, **session.where)
    return session


def _parse_hint(value: str | None) -> str:
    return require_value("SET_RESPONSE_HINT", value, _HINT)


def _set_hint(rule: Rule, session: Session, turn: Turn) -> Session:
    """Set the hint for this turn; the last rule's hint applies. Raises ActionValueError."""
    hint = _parse_hint(rule.action_value)
    session = session.with_values(DialogueParams(response_hint=hint))
    audit_action(rule, session, turn, SET_RESPONSE_HINT, responseHint=hint, **session.where)
    return session


ACTIONS = (
    Action(
        RuleAction.SET_INPUT_PARAM.value,
        RuleAction.SET_INPUT_PARAM.label,
        help="Sets parameters: name:value, a name alone for true, or a JSON object for several.",
        value=_ASSIGNED,
        picker="params",
        parse=_parse_params,
        apply=_set_params,
        describe=describe_values,
        writes=lambda params: [Write(("inputParams", key), value) for key, value in params.items()],
    ),
    Action(
        RuleAction.REMOVE_INPUT_PARAM.value,
        RuleAction.REMOVE_INPUT_PARAM.label,
        help="Removes parameters.",
        value=_REMOVED,
        picker="names",
        parse=_parse_names,
        apply=_remove_params,
        describe=lambda keys: f"remove {', '.join(keys)}",
        writes=lambda keys: [Write(("inputParams", key), REMOVED) for key in keys],
    ),
    Action(
        RuleAction.SET_RESPONSE_HINT.value,
        RuleAction.SET_RESPONSE_HINT.label,
        help="Adds a hint for the answer that a model writes in this turn.",
        value=_HINT,
        picker="text",
        parse=_parse_hint,
        apply=_set_hint,
        describe=lambda hint: f"give the model the hint “{shorten(str(hint), SHOWN)}”",
    ),
)
