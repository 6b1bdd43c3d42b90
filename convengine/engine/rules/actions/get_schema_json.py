"""GET_SCHEMA_JSON: copy the collected values into an input param (pipeline-2 7.4)."""

from convengine.engine.rules.actions.contract import Action, audit_action, list_copy_writes, read_param_key
from convengine.engine.rules.stages import RULE_STEPS
from convengine.engine.text.compare import blank
from convengine.engine.turn.enums import RuleAction
from convengine.engine.turn.facts import collect_schema_values
from convengine.engine.turn.rows import Rule
from convengine.engine.turn.session import Session
from convengine.engine.turn.stage import Family, SentenceTemplate, declare_stage
from convengine.engine.turn.turn import Turn

VALUE = "the name of the parameter"
DEFAULT = "schema_json"


GET_SCHEMA_JSON = declare_stage(
    "GET_SCHEMA_JSON",
    Family.RULE,
    "A rule copied the collected values into an input param.",
    steps=RULE_STEPS,
    keys="ruleId key intent state schemaJson sessionInputParams",
    sentences=(SentenceTemplate("copied the collected values to {key}"),),
)


def parse(value: str | None) -> str:
    """The name of the param. Raises ActionValueError."""
    return DEFAULT if value is None or blank(value) else read_param_key(value)


def apply(rule: Rule, session: Session, turn: Turn) -> Session:
    """Copy the context fields of the current form. Raises ActionValueError."""
    key = parse(rule.action_value)
    session = session.with_params({key: dict(collect_schema_values(session))})
    folded = ("schemaJson", "sessionInputParams")
    audit_action(rule, session, turn, GET_SCHEMA_JSON, *folded, key=key, intent=session.intent, state=session.state)
    return session


ACTION = Action(
    RuleAction.GET_SCHEMA_JSON.value,
    RuleAction.GET_SCHEMA_JSON.label,
    help="Copies the values of the current form into a parameter.",
    value=VALUE,
    picker="name",
    parse=parse,
    apply=apply,
    value_required=False,
    describe=lambda key: f"copy the collected values to {key}",
    writes=list_copy_writes,
)
