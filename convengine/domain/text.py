"""How texts are compared: one normal form, one match form, one notion of truthy (pipeline-1 1.13)."""

import re
import unicodedata
from functools import lru_cache
from typing import Any

#: Typographic apostrophes that people's keyboards put where a plain one is meant.
_APOSTROPHES = str.maketrans({"’": "'", "‘": "'", "ʼ": "'", "＇": "'"})
#: Characters that have no width and only serve to slip a word past a pattern.
_ZERO_WIDTH = re.compile("[\u200b\u200c\u200d\u2060\ufeff\u00ad]")
_SPACES = re.compile(r"\s+")
_CLOSING = re.compile(r"[.!,;:…\s]+$")
_TRUE_WORDS = frozenset({"true", "1", "yes", "y", "on"})


#: A turn asks for the same few texts and codes again and again.
_kept = lru_cache(maxsize=2048)


@_kept
def norm(text: str | None) -> str:
    """The normal form of a text: NFKC, plain apostrophes, no zero-width characters, single blanks, trimmed, lower."""
    if not text:
        return ""
    plain = unicodedata.normalize("NFKC", text).translate(_APOSTROPHES)
    return _SPACES.sub(" ", _ZERO_WIDTH.sub("", plain)).strip().lower()


def match_text(text: str | None) -> str:
    """The normal form without a trailing run of closing punctuation; a question mark stays."""
    return _CLOSING.sub("", norm(text))


def blank(value: object) -> bool:
    """True for null and for a text of nothing but white space."""
    return value is None or (isinstance(value, str) and not value.strip())


def truthy(value: Any) -> bool:
    """True for `true`, a number equal to 1, and the texts true, 1, yes, y, on in any case (R63)."""
    if isinstance(value, bool):
        return value
    if isinstance(value, (int, float)):
        return value == 1
    return isinstance(value, str) and value.strip().lower() in _TRUE_WORDS


@_kept
def code(value: str | None) -> str:
    """A code as it is stored and compared: trimmed, upper case; null becomes the empty text."""
    return value.strip().upper() if value else ""


def storable(text: str) -> str:
    """The text with what no database takes replaced: NUL and lone surrogates become U+FFFD."""
    if text.isascii() and "\x00" not in text:
        return text
    if "\x00" in text:
        text = text.replace("\x00", "\ufffd")
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def excerpt(text: str, limit: int) -> str:
    """The first `limit` characters; what is cut is replaced by an ellipsis that counts."""
    return text if len(text) <= limit else text[: limit - 1] + "…"
