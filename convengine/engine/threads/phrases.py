"""Messages that have a meaning as a whole: configured phrases, with an optional addition."""

import re
from collections.abc import Iterable

from convengine.engine.text.compare import match_text

_PUNCTUATION = re.compile(r"[\s,;:.!…]+")
#: Joins "looks good" to something more (R41).
_MORE = re.compile(r"\s*(?:,|\b(?:but|and|also|except|plus)\b)\s*")
_WORD = re.compile(r"\w")


def normalize_phrase(text: str | None) -> str:
    """Normal form for comparing phrases, without punctuation between words."""
    return _PUNCTUATION.sub(" ", match_text(text)).strip()


def is_one_of(text: str | None, phrases: Iterable[str]) -> bool:
    """True when the whole text is one of the phrases."""
    phrase_text = normalize_phrase(text)
    return bool(phrase_text) and any(phrase_text == normalize_phrase(phrase) for phrase in phrases)


def split_at_joins(text: str | None) -> list[tuple[str, str]]:
    """Every split of a text into a phrase, a joining word, and at least one more word: (phrase, more)."""
    plain = match_text(text)
    splits = []
    for joint in _MORE.finditer(plain):
        head, more = plain[: joint.start()], plain[joint.end() :]
        while (again := _MORE.match(more)) and again.end():
            more = more[again.end() :]
        if head and _WORD.search(more):
            splits.append((head, more))
    return splits
