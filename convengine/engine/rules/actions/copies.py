"""GET_CONTEXT, GET_SCHEMA_JSON, GET_SESSION and SET_JSON: copy facts into an input param."""

from collections.abc import Callable
from dataclasses import dataclass

from convengine.engine.rules.actions.contract import (
    COMPUTED,
    Action,
    ActionValueError,
    Write,
    audit_action,
    read_param_key,
)
from convengine.engine.rules.conditions.evaluate import JsonPath, compile_path
from convengine.engine.rules.conditions.nodes import PathError
from convengine.engine.rules.conditions.words import noun
from convengine.engine.rules.stages import GET_CONTEXT, GET_SCHEMA_JSON, GET_SESSION, SET_JSON
from convengine.engine.text.compare import blank
from convengine.engine.turn.enums import RuleAction
from convengine.engine.turn.facts import collect_facts, collect_schema_values, collect_session_facts
from convengine.engine.turn.params import KEY_SHAPE
from convengine.engine.turn.rows import Rule
from convengine.engine.turn.session import Session
from convengine.engine.turn.stage import Stage
from convengine.engine.turn.turn import Turn
from convengine.json_value import Json

_USAGE = "Use key:path, for example amount:$.context.claim.amount, or one plain name."
#: Without a value, the model's last JSON goes to this param.
DEFAULT_KEY, DEFAULT_PATH = "llm_json", "$.lastLlmOutput"


@dataclass(frozen=True)
class Copy:
    """The param and the path whose first hit it gets."""

    key: str
    path: JsonPath


def parse_copy(value: str | None) -> Copy:
    """`key:path`, split at the first colon; one plain name is both key and path. Raises ActionValueError."""
    if value is None or blank(value):
        return Copy(DEFAULT_KEY, compile_path(DEFAULT_PATH))
    key, colon, path = value.strip().partition(":")
    if not KEY_SHAPE.fullmatch(key.strip()) or (colon and blank(path)):
        raise ActionValueError(_USAGE)
    try:
        return Copy(key.strip(), compile_path(path.strip() if colon else key))
    except PathError as error:
        reason = f"This is not a valid JSON path: {error.reason} at position {error.position}. {_USAGE}"
        raise ActionValueError(reason, "JSONPATH_INVALID") from None


def _copy_path(rule: Rule, session: Session, turn: Turn) -> Session:
    """Copy the first hit of the path; without a hit nothing changes. Raises ActionValueError."""
    copy = parse_copy(rule.action_value)
    exists, value = copy.path.first(collect_facts(session))
    if not exists:
        return session
    session = session.with_params({copy.key: value})
    audit_action(
        rule,
        session,
        turn,
        SET_JSON,
        "sessionInputParams",
        key=copy.key,
        path=copy.path.text,
        **session.where,
        value=value,
    )
    return session


def _build_copy(
    action: RuleAction, stage: Stage, read: Callable[[Session], Json], *, default: str, copied: str, key: str, help: str
) -> Action:
    """An action that copies what `read` gives into the param of its value, or into `default`.

    `copied` names the copy in sentences, `key` in the payload of the stage.
    """

    def parse(text: str | None) -> str:
        return default if text is None or blank(text) else read_param_key(text)

    def apply(rule: Rule, session: Session, turn: Turn) -> Session:
        param = parse(rule.action_value)
        session = session.with_params({param: read(session)})
        facts = {"key": param, "intent": session.intent, "state": session.state}
        payload = {name: fact for name, fact in facts.items() if name in stage.keys}
        audit_action(rule, session, turn, stage, key, "sessionInputParams", **payload)
        return session

    return Action(
        action.value,
        action.label,
        help=help,
        value="the name of the parameter",
        picker="name",
        parse=parse,
        apply=apply,
        value_required=False,
        describe=lambda param: f"copy {copied} to {param}",
        writes=lambda param: [Write(("inputParams", param), COMPUTED)],
    )


ACTIONS = (
    Action(
        RuleAction.SET_JSON.value,
        RuleAction.SET_JSON.label,
        help="Copies the first match of a path in the facts into a parameter.",
        value="key:path",
        picker="path",
        parse=parse_copy,
        apply=_copy_path,
        value_required=False,
        describe=lambda copy: f"copy {noun(copy.path.text)} to {copy.key}",
        writes=lambda copy: [Write(("inputParams", copy.key), COMPUTED)],
    ),
    _build_copy(
        RuleAction.GET_CONTEXT,
        GET_CONTEXT,
        lambda session: dict(session.context),
        default="context",
        copied="the context",
        key="context",
        help="Copies the whole context into a parameter.",
    ),
    _build_copy(
        RuleAction.GET_SCHEMA_JSON,
        GET_SCHEMA_JSON,
        lambda session: dict(collect_schema_values(session)),
        default="schema_json",
        copied="the collected values",
        key="schemaJson",
        help="Copies the values of the current form into a parameter.",
    ),
    _build_copy(
        RuleAction.GET_SESSION,
        GET_SESSION,
        collect_session_facts,
        default="session",
        copied="the session facts",
        key="session",
        help="Copies the session facts into a parameter.",
    ),
)
