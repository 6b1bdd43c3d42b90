"""Which prompt template is used: most specific, then newest, then highest id (tables 3.2, pipeline-2 9.3)."""

from datetime import datetime

from convengine.engine.errors import PromptContextMissing
from convengine.engine.rules.choice import Choice, choose_row
from convengine.engine.rules.verdict import SCOPE_INTENT
from convengine.engine.text.compare import code
from convengine.engine.turn.enums import DecisionKind, PromptUse
from convengine.engine.turn.rows import PromptTemplate
from convengine.engine.turn.scope import ANY
from convengine.engine.turn.session import Session
from convengine.engine.turn.snapshot import Snapshot
from convengine.engine.turn.turn import Turn

#: Reason why a template in scope does not count: it has another use.
OTHER_USE = "OTHER_USE"


def choose_template(snapshot: Snapshot, use: str, intent: str | None, state: str | None) -> Choice[PromptTemplate]:
    """The templates of one use for (intent, state), best first. For extraction, templates of intent ANY do not
    count.
    """

    def find_refusal(row: PromptTemplate) -> str | None:
        if code(row.response_type) != code(use):
            return OTHER_USE
        any_intent = code(use) == PromptUse.SCHEMA_JSON and code(row.intent_code) == ANY
        return SCOPE_INTENT if any_intent else None

    return choose_row(snapshot, PromptTemplate, intent, state, find_refusal, order=order_newest_first)


def decide_template(session: Session, turn: Turn, use: str) -> PromptTemplate:
    """The template of this call, with its DECISION event. Raises PromptContextMissing when there is none."""
    choice = choose_template(turn.snapshot, use, session.intent, session.state)
    turn.decide(
        session,
        DecisionKind.TEMPLATE,
        key={"use": code(use), "intent": session.intent, "state": session.state},
        winner=choice.winner,
        candidates=choice.candidates(),
        cut=choice.cut,
    )
    if choice.winner is None:
        raise PromptContextMissing(
            f"No enabled {code(use)} prompt template fits intent {session.intent} in state {session.state}. "
            "Add one, or one for state ANY."
        )
    return choice.winner


def order_newest_first(row: PromptTemplate) -> tuple[float, int]:
    """The order among templates of one scope."""
    try:
        made = datetime.fromisoformat(row.created_at).timestamp()
    except ValueError:
        made = 0.0
    return -made, -row.template_id
