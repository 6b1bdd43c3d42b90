"""GET_SESSION: copy the session facts into an input param (pipeline-2 7.4)."""

from convengine.engine.rules.actions.contract import Action, audit_action, list_copy_writes, read_param_key
from convengine.engine.rules.stages import RULE_STEPS
from convengine.engine.text.compare import blank
from convengine.engine.turn.enums import RuleAction
from convengine.engine.turn.facts import collect_session_facts
from convengine.engine.turn.rows import Rule
from convengine.engine.turn.session import Session
from convengine.engine.turn.stage import Family, SentenceTemplate, declare_stage
from convengine.engine.turn.turn import Turn

VALUE = "the name of the parameter"
DEFAULT = "session"


GET_SESSION = declare_stage(
    "GET_SESSION",
    Family.RULE,
    "A rule copied the session's facts into an input param.",
    steps=RULE_STEPS,
    keys="ruleId key session sessionInputParams",
    sentences=(SentenceTemplate("copied the session facts to {key}"),),
)


def parse(value: str | None) -> str:
    """The name of the param. Raises ActionValueError."""
    return DEFAULT if value is None or blank(value) else read_param_key(value)


def apply(rule: Rule, session: Session, turn: Turn) -> Session:
    """Copy the facts. Raises ActionValueError."""
    key = parse(rule.action_value)
    session = session.with_params({key: collect_session_facts(session)})
    audit_action(rule, session, turn, GET_SESSION, "session", "sessionInputParams", key=key)
    return session


ACTION = Action(
    RuleAction.GET_SESSION.value,
    RuleAction.GET_SESSION.label,
    help="Copies the session facts into a parameter.",
    value=VALUE,
    picker="name",
    parse=parse,
    apply=apply,
    value_required=False,
    describe=lambda key: f"copy the session facts to {key}",
    writes=list_copy_writes,
)
