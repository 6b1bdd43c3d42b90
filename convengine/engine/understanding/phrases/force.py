"""What a sentence does: it asks, it denies, or it states something or asks for something to be done."""

from functools import lru_cache

from convengine.engine.understanding.clauses import Clause, Force
from convengine.engine.understanding.phrases.terms import PhraseLanguage, detect_languages, list_phrase_languages
from convengine.engine.understanding.understand import Understanding, understand
from convengine.engine.understanding.words import split_text

_SMALL = ("courtesy", "joint", "lead_in", "filler")


def find_force(understanding: Understanding, language: PhraseLanguage) -> Force:
    """ASKS for a question, DENIES for a denial, else STATES; "could you …" asks for something to be done."""
    forces = {clause.force for clause in understanding.clauses if not _orders(understanding, clause, language)}
    if forces & {Force.ASKS, Force.SUPPOSES}:
        return Force.ASKS
    return Force.DENIES if Force.DENIES in forces else Force.STATES


def _orders(understanding: Understanding, clause: Clause, language: PhraseLanguage) -> bool:
    small = {index for cue in clause.cues if cue.name in _SMALL for index in range(cue.start, cue.end)}
    keys = [word.key for word in understanding.words]
    starts = [at for at in range(clause.start, clause.end) if small.issuperset(range(clause.start, at))]
    return clause.force is Force.ASKS and any(
        tuple(keys[at : at + len(order)]) == order for at in starts for order in language.orders
    )


@lru_cache(maxsize=4096)
def find_phrase_force(text: str, language: PhraseLanguage) -> Force:
    """What a phrase does."""
    return find_force(understand(text, language.tables, {}), language)


def has_request(text: str) -> bool:
    """True for words with which somebody asks for something: "the roof leaks, I need a plumber"."""
    for language in detect_languages(split_text(text), list_phrase_languages()):
        understanding = understand(text, language.tables, {})
        keys = [word.key for word in understanding.words]
        wishes = any(tuple(keys[at : at + len(order)]) == order for order in language.orders for at in range(len(keys)))
        if wishes or any(clause.force is Force.ASKS for clause in understanding.clauses):
            return True
    return False
