"""What the user may do where the dialogue stands: the template that says so (pipeline-1 10.1, tables 3.2)."""

from convengine.domain.enums import InteractionMode
from convengine.domain.rows import PromptTemplate
from convengine.domain.snapshot import Snapshot
from convengine.prompts.contract import capabilities
from convengine.prompts.select import newest_first
from convengine.rules.choice import Choice, choose

#: Why a template in scope says nothing about it: neither a mode nor a contract.
NO_INTERACTION = "NO_INTERACTION"


def choose_interaction(snapshot: Snapshot, intent: str | None, state: str | None) -> Choice[PromptTemplate]:
    """The templates with a mode or a contract that admit (intent, state): most specific, newest, highest id first."""
    return choose(snapshot, PromptTemplate, intent, state, _refused, order=newest_first)


def allowed(snapshot: Snapshot, intent: str | None, state: str | None) -> frozenset[str]:
    """The capabilities of (intent, state): affirm, edit, retry, reset, structured_input; none without a template."""
    template = choose_interaction(snapshot, intent, state).winner
    return capabilities(template) if template else frozenset()


def _refused(row: PromptTemplate) -> str | None:
    says = InteractionMode.read(row.interaction_mode) or isinstance(row.interaction_contract, dict)
    return None if says else NO_INTERACTION
