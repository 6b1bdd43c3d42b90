"""How scenario files are told what is wrong with them."""

from collections.abc import Iterable
from difflib import get_close_matches
from typing import Any

from convengine.codec import dumps


class ScenarioFileError(ValueError):
    """A file that is no scenario: the place in it, and what is wrong there."""

    def __init__(self, place: str, problem: str) -> None:
        super().__init__(f"{place}: {problem}" if place else problem)


def known(word: Any, words: Iterable[str], what: str) -> str:
    """Why a word will not do, with the nearest one that would."""
    allowed = sorted(words)
    near = get_close_matches(str(word), allowed, n=1)
    return f"unknown {what} `{word}`; " + (f"did you mean `{near[0]}`?" if near else f"known: {', '.join(allowed)}.")


def told(value: Any) -> str:
    """A value as a report shows it: JSON, shortened."""
    text = dumps(value)
    return text if len(text) <= 300 else f"{text[:297]}…"
