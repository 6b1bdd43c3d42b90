"""Words in messages and in names: folded, split, compared (pipeline-1 10.4)."""

import re
import unicodedata
from collections.abc import Sequence
from itertools import filterfalse

from convengine.engine.text.compare import norm

Words = tuple[str, ...]

_WORD = re.compile(r"[^\W_]+")
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|(?<=\D)(?=\d)|(?<=\d)(?=\D)")


def split_list(text: str) -> frozenset[str]:
    """A set of words, written as one text."""
    return frozenset(text.split())


#: Words without meaning of their own.
FILLERS = split_list(
    """a an and as at be by do for from in is it its me my of on or our so than that the them then there these this
    those to us was we what which with you your"""
)


def fold(text: str | None) -> str:
    """The normal form without accents, equal for spellings of one word."""
    decomposed = unicodedata.normalize("NFKD", norm(text))
    return "".join(filterfalse(unicodedata.combining, decomposed))


def split_words(text: str | None) -> Words:
    """The folded words of a text."""
    return tuple(_WORD.findall(fold(text)))


def split_name(name: str) -> Words:
    """The words of a property name: split at case changes, underscores, hyphens and digits."""
    return split_words(_CAMEL.sub(" ", name))


def occurs_in(part: Words, whole: Words) -> bool:
    """True when all words of `part` occur consecutively in `whole`."""
    size = len(part)
    return size > 0 and any(whole[start : start + size] == part for start in range(len(whole) - size + 1))


def has_no_content(words: Sequence[str]) -> bool:
    """True for no words, or only fillers."""
    return all(word in FILLERS for word in words)
