"""GET_CONTEXT: copy the whole context into an input param (pipeline-2 7.4)."""

from convengine.engine.rules.actions.contract import Action, audit_action, list_copy_writes, read_param_key
from convengine.engine.rules.stages import RULE_STEPS
from convengine.engine.text.compare import blank
from convengine.engine.turn.enums import RuleAction
from convengine.engine.turn.rows import Rule
from convengine.engine.turn.session import Session
from convengine.engine.turn.stage import Family, SentenceTemplate, declare_stage
from convengine.engine.turn.turn import Turn

VALUE = "the name of the parameter"
DEFAULT = "context"


GET_CONTEXT = declare_stage(
    "GET_CONTEXT",
    Family.RULE,
    "A rule copied the context into an input param.",
    steps=RULE_STEPS,
    keys="ruleId key intent state context sessionInputParams",
    sentences=(SentenceTemplate("copied the context to {key}"),),
)


def parse(value: str | None) -> str:
    """The name of the param. Raises ActionValueError."""
    return DEFAULT if value is None or blank(value) else read_param_key(value)


def apply(rule: Rule, session: Session, turn: Turn) -> Session:
    """Copy the context. Raises ActionValueError."""
    key = parse(rule.action_value)
    session = session.with_params({key: dict(session.context)})
    folded = ("context", "sessionInputParams")
    audit_action(rule, session, turn, GET_CONTEXT, *folded, key=key, intent=session.intent, state=session.state)
    return session


ACTION = Action(
    RuleAction.GET_CONTEXT.value,
    RuleAction.GET_CONTEXT.label,
    help="Copies the whole context into a parameter.",
    value=VALUE,
    picker="name",
    parse=parse,
    apply=apply,
    value_required=False,
    describe=lambda key: f"copy the context to {key}",
    writes=list_copy_writes,
)
