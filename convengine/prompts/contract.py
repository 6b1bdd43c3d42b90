"""What the user may do in a state: the mode of its prompt template, overruled by its contract (tables 3.2)."""

from collections.abc import Mapping

from convengine.domain.enums import InteractionMode
from convengine.domain.rows import PromptTemplate

#: The words of a contract's `allows` and `expects` that the engine knows; others are kept and ignored.
ALLOWS = ("affirm", "edit", "retry", "reset")
EXPECTS = ("structured_input",)
#: What each mode stands for; a mode that is not named here stands for nothing, as does an unknown one.
OF_MODE: Mapping[InteractionMode, frozenset[str]] = {
    InteractionMode.COLLECT: frozenset({"reset", "structured_input"}),
    InteractionMode.CONFIRM: frozenset({"affirm", "edit", "reset"}),
    InteractionMode.REVIEW: frozenset({"edit", "reset"}),
    InteractionMode.PROCESSING: frozenset({"retry"}),
    InteractionMode.ERROR: frozenset({"retry", "reset"}),
}


def of_mode(mode: str | None) -> frozenset[str]:
    """What a mode stands for by itself."""
    known = InteractionMode.read(mode)
    return OF_MODE.get(known, frozenset()) if known else frozenset()


def named(contract: object, part: str) -> frozenset[str] | None:
    """The words of one list of a contract, trimmed and in lower case; null when the list is absent."""
    words = contract.get(part) if isinstance(contract, Mapping) else None
    return frozenset(str(word).strip().lower() for word in words) if isinstance(words, list) else None


def capabilities(template: PromptTemplate) -> frozenset[str]:
    """The words of ALLOWS and EXPECTS that hold: a contract's list decides alone, an absent one leaves the mode."""
    default, found = of_mode(template.interaction_mode), set[str]()
    for part, words in (("allows", ALLOWS), ("expects", EXPECTS)):
        listed = named(template.interaction_contract, part)
        found |= (default if listed is None else listed) & set(words)
    return frozenset(found)
