"""Words in messages: lists, and the known word that somebody probably meant."""

from collections.abc import Collection, Iterable
from difflib import get_close_matches
from typing import Any


def find_nearest(word: str, known: Iterable[str]) -> str | None:
    """The most similar known word, ignoring case, or null."""
    by_lower = {name.lower(): name for name in known}
    matches = get_close_matches(word.lower(), by_lower, n=1)
    return by_lower[matches[0]] if matches else None


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """` Did you mean X?`, or nothing."""
    nearest = find_nearest(word, known)
    return f" Did you mean {nearest}?" if nearest else ""


def join_names(names: Iterable[Any]) -> str:
    """The names in order, `A, B, C`; `none` when there are none."""
    return ", ".join(sorted(str(name) for name in names)) or "none"


def join_alternatives(names: Collection[str]) -> str:
    """`A, B or C`."""
    *most, last = names
    return f"{', '.join(most)} or {last}" if most else last
