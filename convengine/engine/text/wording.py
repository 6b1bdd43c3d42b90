"""Words in messages: lists, and the known word that somebody probably meant."""

from collections.abc import Collection, Iterable
from difflib import get_close_matches
from typing import Any

#: How similar a known word must be, from 0 to 1.
_SIMILAR = 0.6
#: Signs with which a sentence ends.
_ENDS = (".", "!", "?")


def drop_second_stop(before: str, after: str) -> str:
    """What follows a text, without the full stop of a sentence that the text has ended already, or its last word.

    "At {{ time }} Uhr" has one "Uhr" where the time says it, too.
    """
    is_stop = after.startswith(".") and not after[1:2].strip()
    if is_stop and before.endswith(_ENDS):
        return after[1:]
    word = after[1:].partition(" ")[0].rstrip(".,;:!?")
    is_twice = after.startswith(" ") and word.isalpha() and before.rpartition(" ")[2] == word
    return after[1 + len(word) :] if is_twice else after


def find_nearest(word: str, known: Iterable[str], similar: float = _SIMILAR) -> str | None:
    """The most similar known word, ignoring case. Returns None if there is none."""
    by_lower = {name.lower(): name for name in known}
    matches = get_close_matches(word.lower(), by_lower, n=1, cutoff=similar)
    return by_lower[matches[0]] if matches else None


def did_you_mean(word: str, known: Iterable[str], similar: float = _SIMILAR) -> str:
    """` Did you mean X?`, or nothing."""
    nearest = find_nearest(word, known, similar)
    return f" Did you mean {nearest}?" if nearest else ""


def join_names(names: Iterable[Any]) -> str:
    """The names in order, `A, B, C`; `none` when there are none."""
    return ", ".join(sorted(str(name) for name in names)) or "none"


def join_alternatives(names: Collection[str]) -> str:
    """`A, B or C`."""
    *most, last = names
    return f"{', '.join(most)} or {last}" if most else last
