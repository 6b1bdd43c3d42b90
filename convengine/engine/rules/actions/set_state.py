"""SET_STATE: set the state (pipeline-2 7.4)."""

from convengine.engine.rules.actions.contract import Action, ActionValueError, Write, audit_action, require_value
from convengine.engine.rules.stages import RULE_STEPS
from convengine.engine.text.compare import code
from convengine.engine.turn.enums import RuleAction
from convengine.engine.turn.rows import Rule
from convengine.engine.turn.scope import ANY
from convengine.engine.turn.session import Session
from convengine.engine.turn.stage import Family, SentenceTemplate, declare_stage
from convengine.engine.turn.turn import Turn

VALUE = "the state to move to"


SET_STATE = declare_stage(
    "SET_STATE",
    Family.RULE,
    "A rule changed the state.",
    steps=RULE_STEPS,
    keys="ruleId fromState toState intent context",
    sentences=(SentenceTemplate("changed the state from {fromState} to {toState}"),),
)


def parse(value: str | None) -> str:
    """The state code. Raises ActionValueError."""
    state = code(require_value("SET_STATE", value, VALUE))
    if state == ANY:
        raise ActionValueError("A conversation cannot be in state ANY. Enter the state to move to.", "CONFLICT")
    return state


def apply(rule: Rule, session: Session, turn: Turn) -> Session:
    """Set the state. Raises ActionValueError."""
    before, state = session.state, parse(rule.action_value)
    session = session.move_to(state=state, cause="RULE", rule_id=rule.rule_id, phase=code(rule.phase))
    audit_action(rule, session, turn, SET_STATE, "context", fromState=before, toState=state, intent=session.intent)
    return session


ACTION = Action(
    RuleAction.SET_STATE.value,
    RuleAction.SET_STATE.label,
    help="Changes the state of the conversation.",
    value=VALUE,
    picker="state",
    parse=parse,
    apply=apply,
    describe=lambda state: f"set state to {state}",
    writes=lambda state: [Write(("state",), state)],
)
