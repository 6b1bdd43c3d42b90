"""SET_INTENT: move the conversation to another intent (pipeline-2 7.4)."""

from convengine.domain.rows import Rule
from convengine.domain.scope import ANY
from convengine.domain.session import Session
from convengine.domain.stages import Stage
from convengine.domain.text import code
from convengine.domain.turn import Turn
from convengine.rules.actions.contract import ActionValueError, audit, required

VALUE = "the intent to set"


def parse(value: str | None) -> str:
    """The intent code. Raises ActionValueError; whether there is such an intent is for the save check to say."""
    intent = code(required("SET_INTENT", value, VALUE))
    if intent == ANY:
        raise ActionValueError("A conversation cannot have intent ANY.", "CONFLICT")
    return intent


def apply(rule: Rule, session: Session, turn: Turn) -> Session:
    """Set it. Raises ActionValueError."""
    before, intent = session.intent, parse(rule.action_value)
    session = session.moved(intent=intent, cause="RULE", rule_id=rule.rule_id, phase=code(rule.phase))
    audit(rule, session, turn, Stage.SET_INTENT, "context", fromIntent=before, toIntent=intent, state=session.state)
    return session
