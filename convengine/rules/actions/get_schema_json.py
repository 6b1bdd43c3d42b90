"""GET_SCHEMA_JSON: copy the collected values into an input param (pipeline-2 7.4)."""

from convengine.domain.facts import schema_values
from convengine.domain.rows import Rule
from convengine.domain.session import Session
from convengine.domain.stages import Stage
from convengine.domain.text import blank
from convengine.domain.turn import Turn
from convengine.rules.actions.contract import audit, param_key

VALUE = "the name of the input param"
DEFAULT = "schema_json"


def parse(value: str | None) -> str:
    """The name of the param. Raises ActionValueError."""
    return DEFAULT if value is None or blank(value) else param_key(value)


def apply(rule: Rule, session: Session, turn: Turn) -> Session:
    """Copy the context, reduced to the fields of the schema in force. Raises ActionValueError."""
    key = parse(rule.action_value)
    session = session.with_params({key: dict(schema_values(session))})
    folded = ("schemaJson", "sessionInputParams")
    audit(rule, session, turn, Stage.GET_SCHEMA_JSON, *folded, key=key, intent=session.intent, state=session.state)
    return session
