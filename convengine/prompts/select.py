"""Which prompt template is used: most specific, then newest, then highest id (tables 3.2, pipeline-2 9.3)."""

from datetime import datetime

from convengine.domain.enums import DecisionKind, PromptUse
from convengine.domain.rows import PromptTemplate
from convengine.domain.scope import ANY
from convengine.domain.session import Session
from convengine.domain.snapshot import Snapshot
from convengine.domain.text import code
from convengine.domain.turn import Turn
from convengine.errors import PromptContextMissing
from convengine.rules.choice import Choice, choose
from convengine.rules.cuts import SCOPE_INTENT

#: Why a template in scope takes no part: it is used for something else.
OTHER_USE = "OTHER_USE"


def choose_template(snapshot: Snapshot, use: str, intent: str | None, state: str | None) -> Choice[PromptTemplate]:
    """The templates of one use that admit (intent, state), best first. Extraction takes none of any intent."""

    def refused(row: PromptTemplate) -> str | None:
        if code(row.response_type) != code(use):
            return OTHER_USE
        any_intent = code(use) == PromptUse.SCHEMA_JSON and code(row.intent_code) == ANY
        return SCOPE_INTENT if any_intent else None

    return choose(snapshot, PromptTemplate, intent, state, refused, order=newest_first)


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


def newest_first(row: PromptTemplate) -> tuple[float, int]:
    """The order among templates of one scope."""
    try:
        made = datetime.fromisoformat(row.created_at).timestamp()
    except ValueError:
        made = 0.0
    return -made, -row.template_id
