"""Messages that, as a whole, mean something to a session: phrases of the configuration, and what may follow one."""

import re
from collections.abc import Iterable

from convengine.domain.text import match_text

_PUNCTUATION = re.compile(r"[\s,;:.!…]+")
#: What joins "looks good" to something more (R41).
_MORE = re.compile(r"\s*(?:,|\b(?:but|and|also|except|plus)\b)\s*")
_WORD = re.compile(r"\w")


def plain(text: str | None) -> str:
    """How phrases compare: normal form, punctuation between words does not count."""
    return _PUNCTUATION.sub(" ", match_text(text)).strip()


def is_one_of(text: str | None, phrases: Iterable[str]) -> bool:
    """True when the whole text is one of the phrases; never for a phrase inside a longer text."""
    said = plain(text)
    return bool(said) and any(said == plain(phrase) for phrase in phrases)


def splits(text: str | None) -> list[tuple[str, str]]:
    """Every way to read a text as something said, a joining word, and at least one word more: (said, more)."""
    said = match_text(text)
    found = []
    for joint in _MORE.finditer(said):
        head, more = said[: joint.start()], said[joint.end() :]
        while (again := _MORE.match(more)) and again.end():
            more = more[again.end() :]
        if head and _WORD.search(more):
            found.append((head, more))
    return found
