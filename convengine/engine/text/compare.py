"""Comparison of texts: one normal form, one match form, one notion of truthy, the folded words."""

import re
import unicodedata
from functools import lru_cache
from itertools import filterfalse
from typing import Any

#: Typographic apostrophes that keyboards insert instead of plain ones.
_APOSTROPHES = str.maketrans({"’": "'", "‘": "'", "ʼ": "'", "＇": "'"})
#: Characters without width, which could hide a word from a pattern.
_ZERO_WIDTH = re.compile("[\u200b\u200c\u200d\u2060\ufeff\u00ad]")
_SPACES = re.compile(r"\s+")
_CLOSING = ".!,;:… "
#: What a text says that is true.
TRUE_WORDS = frozenset({"true", "1", "yes", "y", "on"})

#: A turn normalises the same few texts and codes again and again.
_cached = lru_cache(maxsize=2048)
Words = tuple[str, ...]
_WORD = re.compile(r"[^\W_]+")
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|(?<=\D)(?=\d)|(?<=\d)(?=\D)")
#: Letters that have no accent to remove.
_LETTERS = str.maketrans({"ø": "o", "đ": "d", "ð": "d", "ł": "l", "æ": "ae", "œ": "oe", "ı": "i", "þ": "th"})


@_cached
def norm(text: str | None) -> str:
    """The normal form of a text: NFKC, plain apostrophes, no zero-width characters, single blanks, trimmed, lower
    case.
    """
    if not text:
        return ""
    plain = unicodedata.normalize("NFKC", text).translate(_APOSTROPHES)
    return _SPACES.sub(" ", _ZERO_WIDTH.sub("", plain)).strip().lower()


def match_text(text: str | None) -> str:
    """The normal form without trailing punctuation, except a question mark."""
    return norm(text).rstrip(_CLOSING)


def blank(value: object) -> bool:
    """True for null and for a text of white space only."""
    return value is None or (isinstance(value, str) and not value.strip())


def truthy(value: Any) -> bool:
    """True for `true`, a number equal to 1, and the texts true, 1, yes, y, on in any case."""
    if isinstance(value, bool):
        return value
    if isinstance(value, (int, float)):
        return value == 1
    return isinstance(value, str) and value.strip().lower() in TRUE_WORDS


@_cached
def code(value: str | None) -> str:
    """A code as it is stored and compared: trimmed, upper case; null becomes the empty text."""
    return value.strip().upper() if value else ""


def storable(text: str) -> str:
    """The text with NUL and lone surrogates, which no database accepts, replaced by U+FFFD."""
    if text.isascii() and "\x00" not in text:
        return text
    if "\x00" in text:
        text = text.replace("\x00", "\ufffd")
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def compose(value: Any) -> Any:
    """The texts of a JSON value in Unicode form NFC: a letter with a separate accent is one letter for every reader."""
    if isinstance(value, str):
        return unicodedata.normalize("NFC", value)
    if isinstance(value, dict):
        return {key: compose(item) for key, item in value.items()}
    return [compose(item) for item in value] if isinstance(value, list) else value


def shorten(text: str, limit: int) -> str:
    """At most `limit` characters; an ellipsis replaces the rest."""
    return text if len(text) <= limit else text[: limit - 1] + "…"


def shorten_line(text: object, limit: int = 90) -> str:
    """The beginning of a text on one line; nothing for null."""
    return shorten(" ".join(str(text or "").split()), limit)


def fold(text: str | None) -> str:
    """The normal form without accents, equal for spellings of one word: "Straße" and "STRASSE", "Łódź" and "lodz"."""
    # Bypasses the cache of `norm`, which is for the few texts that turns repeat.
    plain: str = norm.__wrapped__(text).casefold()
    if plain.isascii():
        return plain
    decomposed = unicodedata.normalize("NFKD", plain)
    return "".join(filterfalse(unicodedata.combining, decomposed)).translate(_LETTERS)


def split_words(text: str | None) -> Words:
    return tuple(_WORD.findall(fold(text)))


def split_name(name: str) -> Words:
    """The words of a property name: split at case changes, underscores, hyphens and digits."""
    return split_words(_CAMEL.sub(" ", name))
