"""What the user may do in a state, as its prompt template says (pipeline-1 10.1, tables 3.2)."""

from convengine.engine.prompts.contract import find_capabilities
from convengine.engine.prompts.select import order_newest_first
from convengine.engine.rules.choice import Choice, choose_row
from convengine.engine.turn.enums import InteractionMode
from convengine.engine.turn.rows import PromptTemplate
from convengine.engine.turn.snapshot import Snapshot

#: Reason why a template in scope does not count: it has neither a mode nor a contract.
NO_INTERACTION = "NO_INTERACTION"


def choose_interaction(snapshot: Snapshot, intent: str | None, state: str | None) -> Choice[PromptTemplate]:
    """The templates with a mode or a contract for (intent, state): most specific, newest, highest id first."""
    return choose_row(snapshot, PromptTemplate, intent, state, _find_refusal, order=order_newest_first)


def list_allowed_interactions(snapshot: Snapshot, intent: str | None, state: str | None) -> frozenset[str]:
    """The capabilities of (intent, state): affirm, edit, retry, reset, structured_input. None without a template."""
    template = choose_interaction(snapshot, intent, state).winner
    return find_capabilities(template) if template else frozenset()


def _find_refusal(row: PromptTemplate) -> str | None:
    says = InteractionMode.read(row.interaction_mode) or isinstance(row.interaction_contract, dict)
    return None if says else NO_INTERACTION
