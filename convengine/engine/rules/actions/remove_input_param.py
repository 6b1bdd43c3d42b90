"""REMOVE_INPUT_PARAM: remove input params."""

from convengine.engine.rules.actions.contract import REMOVED, Action, Write, audit_action, read_param_key, require_names
from convengine.engine.rules.stages import RULE_STEPS
from convengine.engine.turn.enums import RuleAction
from convengine.engine.turn.rows import Rule
from convengine.engine.turn.session import Session
from convengine.engine.turn.stage import Family, SentenceTemplate, declare_stage
from convengine.engine.turn.turn import Turn

VALUE = "the parameters to remove, separated by commas"


REMOVE_INPUT_PARAM = declare_stage(
    "REMOVE_INPUT_PARAM",
    Family.RULE,
    "A rule removed input params.",
    steps=RULE_STEPS,
    keys="ruleId removed intent state inputParams",
    sentences=(SentenceTemplate("removed the parameters {removed:names}"),),
)


def parse(value: str | None) -> tuple[str, ...]:
    """The names of the params. Raises ActionValueError."""
    return tuple(read_param_key(key) for key in require_names("REMOVE_INPUT_PARAM", value, VALUE))


def apply(rule: Rule, session: Session, turn: Turn) -> Session:
    """Remove the params that exist. Raises ActionValueError."""
    keys = parse(rule.action_value)
    removed = [key for key in keys if key in session.input_params]
    session = session.without_params(*removed)
    where = {"intent": session.intent, "state": session.state}
    audit_action(rule, session, turn, REMOVE_INPUT_PARAM, "inputParams", removed=removed, **where)
    return session


ACTION = Action(
    RuleAction.REMOVE_INPUT_PARAM.value,
    RuleAction.REMOVE_INPUT_PARAM.label,
    help="Removes parameters.",
    value=VALUE,
    picker="names",
    parse=parse,
    apply=apply,
    describe=lambda keys: f"remove {', '.join(keys)}",
    writes=lambda keys: [Write(("inputParams", key), REMOVED) for key in keys],
)
