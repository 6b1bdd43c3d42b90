"""SET_RESPONSE_HINT: add a hint for an answer that a model writes."""

from convengine.engine.rules.actions.contract import SHOWN, Action, audit_action, require_value
from convengine.engine.rules.stages import RULE_STEPS
from convengine.engine.text.compare import shorten
from convengine.engine.turn.enums import RuleAction
from convengine.engine.turn.owned_params import DialogueParams
from convengine.engine.turn.rows import Rule
from convengine.engine.turn.session import Session
from convengine.engine.turn.stage import Family, SentenceTemplate, declare_stage
from convengine.engine.turn.turn import Turn

VALUE = "the hint for the answer"


SET_RESPONSE_HINT = declare_stage(
    "SET_RESPONSE_HINT",
    Family.RULE,
    "A rule gave the model a hint for the answer.",
    steps=RULE_STEPS,
    keys="ruleId responseHint intent state",
    sentences=(SentenceTemplate("gave the model the hint {responseHint:said}"),),
)


def parse(value: str | None) -> str:
    """The hint. Raises ActionValueError."""
    return require_value("SET_RESPONSE_HINT", value, VALUE)


def apply(rule: Rule, session: Session, turn: Turn) -> Session:
    """Set the hint for this turn; the last rule's hint applies. Raises ActionValueError."""
    hint = parse(rule.action_value)
    session = session.with_values(DialogueParams(response_hint=hint))
    where = {"intent": session.intent, "state": session.state}
    audit_action(rule, session, turn, SET_RESPONSE_HINT, responseHint=hint, **where)
    return session


ACTION = Action(
    RuleAction.SET_RESPONSE_HINT.value,
    RuleAction.SET_RESPONSE_HINT.label,
    help="Adds a hint for the answer that a model writes in this turn.",
    value=VALUE,
    picker="text",
    parse=parse,
    apply=apply,
    describe=lambda hint: f"give the model the hint “{shorten(str(hint), SHOWN)}”",
)
