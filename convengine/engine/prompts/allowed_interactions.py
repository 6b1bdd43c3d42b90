"""What the user may do in a state: the mode of its prompt template, overridden by its contract (tables 3.2)."""

from collections.abc import Mapping

from convengine.engine.prompts.select import order_newest_first
from convengine.engine.rules.choice import Choice, choose_row
from convengine.engine.turn.enums import InteractionMode
from convengine.engine.turn.rows import PromptTemplate
from convengine.engine.turn.snapshot import Snapshot

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
    """The words of a mode."""
    known = InteractionMode.read(mode)
    return OF_MODE.get(known, frozenset()) if known else frozenset()


def read_words(contract: object, part: str) -> frozenset[str] | None:
    """The words of one list of a contract, trimmed and in lower case; null when the list is absent."""
    words = contract.get(part) if isinstance(contract, Mapping) else None
    return frozenset(str(word).strip().lower() for word in words) if isinstance(words, list) else None


def find_capabilities(template: PromptTemplate) -> frozenset[str]:
    """The effective words of ALLOWS and EXPECTS: those of the contract's list, or of the mode if the list is absent."""
    default, found = words_of_mode(template.interaction_mode), set[str]()
    for part, words in (("allows", ALLOWS), ("expects", EXPECTS)):
        listed = read_words(template.interaction_contract, part)
        found |= (default if listed is None else listed) & set(words)
    return frozenset(found)


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
