"""SET_RESPONSE_HINT: one more hint for an answer that a model writes (R66)."""

from convengine.domain.rows import Rule
from convengine.domain.session import Session
from convengine.domain.stages import Stage
from convengine.domain.turn import Turn
from convengine.rules.actions.contract import audit, required

VALUE = "the hint for the answer"
PARAM = "response_hint"


def parse(value: str | None) -> str:
    """The hint. Raises ActionValueError."""
    return required("SET_RESPONSE_HINT", value, VALUE)


def apply(rule: Rule, session: Session, turn: Turn) -> Session:
    """Set it for this turn; the last rule's hint stands. Raises ActionValueError."""
    hint = parse(rule.action_value)
    session = session.with_params({PARAM: hint})
    where = {"intent": session.intent, "state": session.state}
    audit(rule, session, turn, Stage.SET_RESPONSE_HINT, responseHint=hint, **where)
    return session
