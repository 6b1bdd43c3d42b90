"""SET_JSON: copy what a path leads to into an input param (pipeline-2 7.4, R66)."""

from dataclasses import dataclass

from convengine.domain.facts import facts
from convengine.domain.params import KEY_SHAPE
from convengine.domain.rows import Rule
from convengine.domain.session import Session
from convengine.domain.stages import Stage
from convengine.domain.text import blank
from convengine.domain.turn import Turn
from convengine.rules.actions.contract import ActionValueError, audit
from convengine.rules.json_path import JsonPath, PathError, compile_path

VALUE = "key:path"
USAGE = "Use key:path, for example amount:$.context.claim.amount, or one plain name."
#: Without a value, the model's last JSON goes to the param of this name.
DEFAULT_KEY, DEFAULT_PATH = "llm_json", "$.lastLlmOutput"


@dataclass(frozen=True)
class Copy:
    """Which param gets the first hit of which path."""

    key: str
    path: JsonPath


def parse(value: str | None) -> Copy:
    """`key:path`, split at the first colon; one plain name is key and path. Raises ActionValueError."""
    if value is None or blank(value):
        return Copy(DEFAULT_KEY, compile_path(DEFAULT_PATH))
    key, colon, path = value.strip().partition(":")
    if not KEY_SHAPE.fullmatch(key.strip()) or (colon and blank(path)):
        raise ActionValueError(USAGE)
    try:
        return Copy(key.strip(), compile_path(path.strip() if colon else key))
    except PathError as error:
        reason = f"This JSON path does not parse: {error.reason} at position {error.position}. {USAGE}"
        raise ActionValueError(reason, "JSONPATH_INVALID") from None


def apply(rule: Rule, session: Session, turn: Turn) -> Session:
    """Copy the first hit; no hit leaves everything as it is. Raises ActionValueError."""
    copy = parse(rule.action_value)
    found, value = copy.path.first(facts(session))
    if not found:
        return session
    session = session.with_params({copy.key: value})
    audit(
        rule,
        session,
        turn,
        Stage.SET_JSON,
        "sessionInputParams",
        key=copy.key,
        path=copy.path.text,
        intent=session.intent,
        state=session.state,
        value=value,
    )
    return session
