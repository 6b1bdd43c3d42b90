"""SET_INTENT: set the intent (pipeline-2 7.4)."""

from convengine.engine.rules.actions.contract import Action, ActionValueError, Write, audit_action, require_value
from convengine.engine.rules.stages import RULE_STEPS
from convengine.engine.text.compare import code
from convengine.engine.turn.enums import RuleAction
from convengine.engine.turn.rows import Rule
from convengine.engine.turn.scope import ANY
from convengine.engine.turn.session import Session
from convengine.engine.turn.stage import Family, SentenceTemplate, declare_stage
from convengine.engine.turn.turn import Turn

VALUE = "the intent to set"


SET_INTENT = declare_stage(
    "SET_INTENT",
    Family.RULE,
    "A rule changed the intent.",
    steps=RULE_STEPS,
    keys="ruleId fromIntent toIntent state context",
    sentences=(SentenceTemplate("changed the intent from {fromIntent} to {toIntent}"),),
)


def parse(value: str | None) -> str:
    """The intent code. Raises ActionValueError. The save check tests whether the intent exists."""
    intent = code(require_value("SET_INTENT", value, VALUE))
    if intent == ANY:
        raise ActionValueError("A conversation cannot have the intent ANY. Enter an intent.", "CONFLICT")
    return intent


def apply(rule: Rule, session: Session, turn: Turn) -> Session:
    """Set the intent. Raises ActionValueError."""
    before, intent = session.intent, parse(rule.action_value)
    session = session.move_to(intent=intent, cause="RULE", rule_id=rule.rule_id, phase=code(rule.phase))
    audit_action(rule, session, turn, SET_INTENT, "context", fromIntent=before, toIntent=intent, state=session.state)
    return session


ACTION = Action(
    RuleAction.SET_INTENT.value,
    RuleAction.SET_INTENT.label,
    help="Changes the intent of the conversation.",
    value=VALUE,
    picker="intent",
    parse=parse,
    apply=apply,
    describe=lambda intent: f"set intent to {intent}",
    writes=lambda intent: [Write(("intent",), intent)],
)
