"""What a sentence does: it asks, it denies, or it states something or asks for something to be done."""

from convengine.engine.understanding.clauses import Clause, Force
from convengine.engine.understanding.phrases.terms import PhraseLanguage, detect_languages
from convengine.engine.understanding.understand import Understanding, understand

_SMALL = ("courtesy", "joint", "lead_in", "filler")


def find_force(understanding: Understanding, language: PhraseLanguage) -> Force:
    """ASKS for a question or a supposition, DENIES for a denial, else STATES.

    "Could you …" asks for something to be done, and is no question.
    """
    forces = {clause.force for clause in understanding.clauses if not _orders(understanding, clause, language)}
    if forces & {Force.ASKS, Force.SUPPOSES}:
        return Force.ASKS
    return Force.DENIES if Force.DENIES in forces else Force.STATES


def _orders(understanding: Understanding, clause: Clause, language: PhraseLanguage) -> bool:
    """True for a question that begins, but for small words, like an order: "please could you …"."""
    small = {index for cue in clause.cues if cue.name in _SMALL for index in range(cue.start, cue.end)}
    keys = [word.key for word in understanding.words]
    starts = [at for at in range(clause.start, clause.end) if small.issuperset(range(clause.start, at))]
    return clause.force is Force.ASKS and any(
        tuple(keys[at : at + len(order)]) == order for at in starts for order in language.orders
    )


def has_request(text: str) -> bool:
    """True for words with which somebody asks for something: "the roof leaks, I need a plumber". So is a question."""
    for language in detect_languages(text):
        understanding = understand(text, language.tables, {})
        keys = [word.key for word in understanding.words]
        wishes = any(tuple(keys[at : at + len(order)]) == order for order in language.orders for at in range(len(keys)))
        if wishes or any(clause.force is Force.ASKS for clause in understanding.clauses):
            return True
    return False
