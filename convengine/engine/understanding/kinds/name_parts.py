"""The parts of a person's name: which of them a field takes, and which a name has."""

from functools import lru_cache

from convengine.engine.understanding.field import FieldSpec, Kind
from convengine.engine.understanding.grammar import Grammar
from convengine.engine.understanding.principles import Principle, holds
from convengine.engine.understanding.words import split_text

#: The parts of a name that a field may take.
GIVEN, FAMILY, WHOLE = "given", "family", "whole"


def find_part(spec: FieldSpec, grammar: Grammar) -> str:
    """The part of a person's name that a field takes; blank for none."""
    if spec.kind is Kind.PERSON:
        return spec.part or _find_part(spec.title, grammar) or WHOLE
    if spec.kind is not Kind.TEXT or spec.long or not holds(Principle.PERSONS):
        return ""
    return _find_part(spec.title, grammar) or _find_part(spec.name, grammar)


@lru_cache(maxsize=1024)
def _find_part(name: str, grammar: Grammar) -> str:
    """The part that a name of a field says; blank where it has a word that is not about names of people."""
    parts, whole = dict(grammar.list_words("name_part")), dict(grammar.list_words("name_field"))
    small = dict(grammar.list_words("filler"))
    words = [word.key for word in split_text(name.replace("_", " ")) if not (word.is_sign or word.key in small)]
    if not any(word in whole for word in words) or not all(word in parts or word in whole for word in words):
        return ""
    return next((str(parts[word]) for word in words if word in parts), WHOLE)


@lru_cache(maxsize=1024)
def split_name(text: str) -> tuple[str, str, str]:
    """The given name, the family name, and the whole name in its usual order; blank for what is not said."""
    from nameparser import HumanName

    family, comma, rest = (part.strip() for part in text.partition(","))
    whole = (rest if family in rest else f"{rest} {family}") if comma else text
    name = HumanName(whole)
    return name.first, name.last, whole
