"""What a sentence does: it asks, it denies, or it states something or asks for something to be done."""

from collections.abc import Iterable, Sequence

from convengine.engine.understanding.clauses import Force
from convengine.engine.understanding.phrases.terms import PhraseLanguage, detect_languages
from convengine.engine.understanding.understand import Understanding, understand
from convengine.engine.understanding.words import cover

_SMALL = ("courtesy", "joint", "lead_in", "filler")


def find_force(understanding: Understanding, language: PhraseLanguage) -> Force:
    """ASKS for a question or a supposition, DENIES for a denial, else STATES.

    "Please could you …" begins, but for small words, like an order, and is no question.
    """
    keys = [word.key for word in understanding.words]
    forces: set[Force] = set()
    for clause in understanding.clauses:
        small = cover(cue for cue in clause.cues if cue.name in _SMALL)
        rest = next((at for at in range(clause.start, clause.end) if at not in small), clause.end - 1)
        if clause.force is not Force.ASKS or not _has_order(keys, range(clause.start, rest + 1), language):
            forces.add(clause.force)
    if forces & {Force.ASKS, Force.SUPPOSES}:
        return Force.ASKS
    return Force.DENIES if Force.DENIES in forces else Force.STATES


def _has_order(keys: Sequence[str], starts: Iterable[int], language: PhraseLanguage) -> bool:
    """True if the words of an order begin at one of some words."""
    sizes = {len(order) for order in language.orders}
    return any(tuple(keys[at : at + size]) in language.orders for at in starts for size in sizes)


def has_request(text: str, languages: Iterable[str]) -> bool:
    """True for words with which somebody asks for something: "the roof leaks, I need a plumber". So is a question."""
    for language in detect_languages(text, languages):
        understanding = understand(text, language.tables, {})
        keys = [word.key for word in understanding.words]
        wishes = _has_order(keys, range(len(keys)), language)
        if wishes or any(clause.force is Force.ASKS for clause in understanding.clauses):
            return True
    return False
