"""Words in messages and in names: folded, split, compared."""

import re
import unicodedata
from itertools import filterfalse

from convengine.engine.text.compare import norm

Words = tuple[str, ...]

_WORD = re.compile(r"[^\W_]+")
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|(?<=\D)(?=\d)|(?<=\d)(?=\D)")
#: Letters that have no accent to remove.
_LETTERS = str.maketrans({"ø": "o", "đ": "d", "ð": "d", "ł": "l", "æ": "ae", "œ": "oe", "ı": "i", "þ": "th"})


def fold(text: str | None) -> str:
    """The normal form without accents, equal for spellings of one word: "Straße" and "STRASSE", "Łódź" and "lodz"."""
    # Bypasses the cache of `norm`, which is for the few texts that turns repeat.
    plain: str = norm.__wrapped__(text).casefold()
    if plain.isascii():
        return plain
    decomposed = unicodedata.normalize("NFKD", plain)
    return "".join(filterfalse(unicodedata.combining, decomposed)).translate(_LETTERS)


def split_words(text: str | None) -> Words:
    """The folded words of a text."""
    return tuple(_WORD.findall(fold(text)))


def split_name(name: str) -> Words:
    """The words of a property name: split at case changes, underscores, hyphens and digits."""
    return split_words(_CAMEL.sub(" ", name))
