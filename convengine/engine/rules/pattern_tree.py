"""A pattern as a tree, read only as far as a search needs: what takes one character is kept as text, for RE2 to judge.

What is read is the pattern as RE2 gets it (`Pattern.source`). It compiles, so mistakes need no message here. Python's
own parser of patterns is no help: it knows neither `\\p{L}` nor `\\z`, `\\Q…\\E` or `[[:alpha:]]`.
"""

import re
from dataclasses import dataclass
from functools import lru_cache


class UnsupportedPattern(ValueError):
    """A pattern with syntax that the search does not support."""


@dataclass(frozen=True)
class Atom:
    """Takes one character: a letter, an escape, a class or a dot, as RE2 reads it."""

    text: str


@dataclass(frozen=True)
class Assertion:
    """Takes nothing: A and z are the ends of the text, ^ and $ those of a line, b and B a word boundary or none."""

    kind: str


@dataclass(frozen=True)
class Concatenation:
    parts: tuple["Node", ...]


@dataclass(frozen=True)
class Alternation:
    parts: tuple["Node", ...]


@dataclass(frozen=True)
class Repetition:
    """At least `low` times, and at most `high` times unless that is None."""

    part: "Node"
    low: int
    high: int | None


Node = Atom | Assertion | Concatenation | Alternation | Repetition

_START_FLAGS = re.compile(r"\(\?([imsU]+)\)")
_TOKEN = re.compile(
    r"""(?P<quoted>\\Q(?P<literal>.*?)(?:\\E|\Z))
    |(?P<assertion>\\[AzbB]|[$^])
    |(?P<atom>\\x\{[0-9A-Fa-f]+\}|\\x[0-9A-Fa-f]{2}|\\[pP](?:\{[^}]*\}|.)|\\[0-7]{1,3}|\\[dDsSwWafnrtv]|\\[^A-Za-z0-9]
      |\[\^?\]?(?:\[:\^?[a-z]+:\]|\\[pP](?:\{[^}]*\}|.)|\\.|[^\]\\])*\])
    |(?P<open>\((?:\?:|\?P?<\w+>)?)
    |(?P<close>\))
    |(?P<bar>\|)
    |(?P<repeat>(?:[*+?]|\{(?P<low>\d+)(?P<comma>,(?P<high>\d*))?\})\??)
    |(?P<char>[^\\])""",
    re.VERBOSE | re.DOTALL,
)
_BOUNDS = {"*": (0, None), "+": (1, None), "?": (0, 1)}


@lru_cache(maxsize=16384)
def parse(source: str) -> Node:
    """The tree of a pattern. Raises UnsupportedPattern."""
    start = _START_FLAGS.match(source)
    flags, position = (start[1], start.end()) if start else ("", 0)
    # For each open group: its alternatives, each with its parts.
    groups: list[list[list[Node]]] = [[[]]]
    while position < len(source):
        token = _TOKEN.match(source, position)
        if token is None:
            raise UnsupportedPattern(f"{source[position : position + 2]} is not supported")
        position, text, parts = token.end(), token.group(), groups[-1][-1]
        match token.lastgroup:
            case "open":
                groups.append([[]])
            case "bar":
                groups[-1].append([])
            case "close" if len(groups) > 1:
                closed = _make_alternation(groups.pop())
                groups[-1][-1].append(closed)
            case "repeat" if parts:
                parts[-1] = Repetition(parts[-1], *_read_bounds(token))
            case "quoted":
                parts += [Atom(_escape(char)) for char in token["literal"]]
            case "assertion":
                of_text = {"^": "A", "$": "z"} if "m" not in flags else {}
                parts.append(Assertion(of_text.get(text, text[-1])))
            case "atom":
                parts.append(Atom(text))
            case "char":
                parts.append(Atom(_escape(text) if text != "." else "(?s:.)" if "s" in flags else "."))
            case _:
                raise UnsupportedPattern(f"{text} is not expected at position {position}")
    if len(groups) > 1:
        raise UnsupportedPattern("a bracket is missing")
    return _make_alternation(groups[0])


def quote(text: str) -> str:
    """A text as a pattern that matches exactly it."""
    return "".join(map(_escape, text))


def _make_alternation(alternatives: list[list[Node]]) -> Node:
    parts = [each[0] if len(each) == 1 else Concatenation(tuple(each)) for each in alternatives]
    return parts[0] if len(parts) == 1 else Alternation(tuple(parts))


def _read_bounds(token: re.Match[str]) -> tuple[int, int | None]:
    if token["low"] is None:
        return _BOUNDS[token.group()[0]]
    low = int(token["low"])
    return (low, int(token["high"]) if token["high"] else None) if token["comma"] else (low, low)


def _escape(char: str) -> str:
    return f"\\{char}" if char.isascii() and not char.isalnum() and not char.isspace() else char
