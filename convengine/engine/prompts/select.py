"""Which prompt template is used, and what it lets the user do.

The most specific template is used, then the newest, then the highest id.
"""

from collections.abc import Mapping
from datetime import datetime

from convengine.engine.errors import PromptContextMissing
from convengine.engine.rules.choice import RowChoice, choose_row, find_row
from convengine.engine.rules.verdict import SCOPE_INTENT
from convengine.engine.text.compare import code
from convengine.engine.turn.enums import DecisionKind, InteractionMode, PromptUse
from convengine.engine.turn.rows import PromptTemplate
from convengine.engine.turn.scope import ANY
from convengine.engine.turn.session import Session
from convengine.engine.turn.snapshot import Snapshot
from convengine.engine.turn.turn import Turn

#: Reason why a template in scope does not count: it has another use.
OTHER_USE = "OTHER_USE"


def choose_template(snapshot: Snapshot, use: str, intent: str | None, state: str | None) -> RowChoice[PromptTemplate]:
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
    intent, state = session.intent, session.state
    choice = choose_template(turn.snapshot, use, intent, state)
    winner = choice.decide(session, turn, DecisionKind.TEMPLATE, use=code(use), intent=intent, state=state)
    if winner is None:
        raise PromptContextMissing(
            f"No enabled {code(use)} prompt template fits intent {session.intent} in state {session.state}. "
            "Add one, or one for state ANY."
        )
    return winner


def order_newest_first(row: PromptTemplate) -> tuple[float, int]:
    """The order among templates of one scope."""
    try:
        made = datetime.fromisoformat(row.created_at).timestamp()
    except ValueError:
        made = 0.0
    return -made, -row.template_id


#: Reason why a template in scope does not count: it has neither a mode nor a contract.
NO_INTERACTION = "NO_INTERACTION"
#: The known words of a contract's `allows` and `expects`; other words are stored and ignored.
ALLOWS = ("affirm", "edit", "retry", "reset")
EXPECTS = ("structured_input",)
#: The words of each mode; other modes have none.
OF_MODE: Mapping[InteractionMode, frozenset[str]] = {
    InteractionMode.COLLECT: frozenset({"reset", "structured_input"}),
    InteractionMode.CONFIRM: frozenset({"affirm", "edit", "reset"}),
    InteractionMode.REVIEW: frozenset({"edit", "reset"}),
    InteractionMode.PROCESSING: frozenset({"retry"}),
    InteractionMode.ERROR: frozenset({"retry", "reset"}),
}


def words_of_mode(mode: str | None) -> frozenset[str]:
    known = InteractionMode.read(mode)
    return OF_MODE.get(known, frozenset()) if known else frozenset()


def read_words(contract: object, part: str) -> frozenset[str] | None:
    """The words of one list of a contract, trimmed and in lower case. Returns None when the list is absent."""
    words = contract.get(part) if isinstance(contract, Mapping) else None
    return frozenset(str(word).strip().lower() for word in words) if isinstance(words, list) else None


def find_capabilities(template: PromptTemplate) -> frozenset[str]:
    """The effective words of ALLOWS and EXPECTS: those of the contract's list, or of the mode if the list is absent."""
    default, capabilities = words_of_mode(template.interaction_mode), set[str]()
    for part, words in (("allows", ALLOWS), ("expects", EXPECTS)):
        listed = read_words(template.interaction_contract, part)
        capabilities |= (default if listed is None else listed) & set(words)
    return frozenset(capabilities)


def choose_interaction(snapshot: Snapshot, intent: str | None, state: str | None) -> RowChoice[PromptTemplate]:
    """The templates with a mode or a contract for (intent, state): most specific, newest, highest id first."""
    return choose_row(snapshot, PromptTemplate, intent, state, _find_refusal, order=order_newest_first)


def find_interaction(snapshot: Snapshot, intent: str | None, state: str | None) -> PromptTemplate | None:
    return find_row(snapshot, PromptTemplate, intent, state, _find_refusal, order=order_newest_first)


def list_allowed_interactions(snapshot: Snapshot, intent: str | None, state: str | None) -> frozenset[str]:
    """The capabilities of (intent, state): affirm, edit, retry, reset, structured_input. None without a template."""
    template = find_interaction(snapshot, intent, state)
    return find_capabilities(template) if template else frozenset()


def _find_refusal(row: PromptTemplate) -> str | None:
    says = InteractionMode.read(row.interaction_mode) or isinstance(row.interaction_contract, dict)
    return None if says else NO_INTERACTION
