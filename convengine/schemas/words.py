"""Words as people type them and rows name them: folded, split, compared (pipeline-1 10.4)."""

import re
import unicodedata
from collections.abc import Sequence

from convengine.domain.text import norm

Words = tuple[str, ...]

_WORD = re.compile(r"[^\W_]+")
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|(?<=\D)(?=\d)|(?<=\d)(?=\D)")


def listed(text: str) -> frozenset[str]:
    """A list of words, written as one text."""
    return frozenset(text.split())


#: Words that name nothing by themselves.
FILLERS = listed(
    """a an and as at be by do for from in is it its me my of on or our so than that the them then there these this
    those to us was we what which with you your"""
)


def fold(text: str | None) -> str:
    """The normal form without accents: what two spellings of one word have in common."""
    decomposed = unicodedata.normalize("NFKD", norm(text))
    return "".join(char for char in decomposed if not unicodedata.combining(char))


def words(text: str | None) -> Words:
    """The words of a text, folded."""
    return tuple(_WORD.findall(fold(text)))


def name_words(name: str) -> Words:
    """The words of a property name: cut at case changes, underscores, hyphens and digits."""
    return words(_CAMEL.sub(" ", name))


def run_in(part: Words, whole: Words) -> bool:
    """True when all words of `part` stand one after the other in `whole`."""
    size = len(part)
    return size > 0 and any(whole[start : start + size] == part for start in range(len(whole) - size + 1))


def says_nothing(found: Sequence[str]) -> bool:
    """True for no words, or nothing but fillers."""
    return all(word in FILLERS for word in found)
