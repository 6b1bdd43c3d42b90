"""Error messages of scenario files."""

from collections.abc import Iterable
from difflib import get_close_matches
from typing import Any

from convengine.engine.text.compare import shorten
from convengine.engine.turn.codec import dumps


class ScenarioFileError(ValueError):
    """An invalid scenario file: the position in it, and the error."""

    def __init__(self, place: str, problem: str) -> None:
        super().__init__(f"{place}: {problem}" if place else problem)


def describe_unknown(word: Any, words: Iterable[str], what: str) -> str:
    """The error for an unknown word, with the most similar known one."""
    allowed = sorted(words)
    near = get_close_matches(str(word), allowed, n=1)
    return f"unknown {what} `{word}`; " + (f"did you mean `{near[0]}`?" if near else f"known: {', '.join(allowed)}.")


def shorten_json(value: Any) -> str:
    """A value for a report: shortened JSON."""
    return shorten(dumps(value), 300)
