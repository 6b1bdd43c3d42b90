"""A pattern as a tree, read only as far as a search needs: what takes one character is kept as text, for RE2 to judge.

What is read is the pattern as RE2 gets it (`Pattern.source`): it compiles, so that mistakes need not be told here.
"""

import re
from dataclasses import dataclass
from functools import lru_cache


class Unreadable(ValueError):
    """A pattern with something that the search does not know."""


@dataclass(frozen=True)
class Atom:
    """Takes one character: a letter, an escape, a class or a dot, as RE2 reads it."""

    text: str


@dataclass(frozen=True)
class Look:
    """Takes nothing: A and z are the ends of the text, ^ and $ those of a line, b and B a word boundary or none."""

    kind: str


@dataclass(frozen=True)
class Sequence:
    """One after the other."""

    parts: tuple["Node", ...]


@dataclass(frozen=True)
class Choice:
    """One of several."""

    parts: tuple["Node", ...]


@dataclass(frozen=True)
class Repeat:
    """Again and again: at least `low` times, at most `high`, which is null for any number."""

    part: "Node"
    low: int
    high: int | None


Node = Atom | Look | Sequence | Choice | Repeat

_START_FLAGS = re.compile(r"\(\?([imsU]+)\)")
_TOKEN = re.compile(
    r"""(?P<quoted>\\Q(?P<literal>.*?)(?:\\E|\Z))
    |(?P<look>\\[AzbB]|[$^])
    |(?P<atom>\\x\{[0-9A-Fa-f]+\}|\\x[0-9A-Fa-f]{2}|\\[pP](?:\{[^}]*\}|.)|\\[0-7]{1,3}|\\[dDsSwWafnrtv]|\\[^A-Za-z0-9]
      |\[\^?\]?(?:\[:\^?[a-z]+:\]|\\[pP](?:\{[^}]*\}|.)|\\.|[^\]\\])*\])
    |(?P<open>\((?:\?:|\?P?<\w+>)?)
    |(?P<close>\))
    |(?P<bar>\|)
    |(?P<repeat>(?:[*+?]|\{(?P<low>\d+)(?P<comma>,(?P<high>\d*))?\})\??)
    |(?P<char>[^\\])""",
    re.VERBOSE | re.DOTALL,
)
_SHORT = {"*": (0, None), "+": (1, None), "?": (0, 1)}


@lru_cache(maxsize=16384)
def parse(source: str) -> Node:
    """The tree of a pattern. Raises Unreadable."""
    flags = ""
    if start := _START_FLAGS.match(source):
        flags, source = start[1], source[start.end() :]
    reader = _Reader(source, flags)
    tree = reader.choice()
    if reader.position < len(source):
        raise Unreadable(f"a bracket is closed at {reader.position + 1} that nobody opened")
    return tree


def quoted(text: str) -> str:
    """A text as a pattern that finds just it."""
    return re.sub(r"([^\w\s]|_)", r"\\\1", text, flags=re.ASCII) if text.isascii() else "".join(map(_quoted, text))


def _quoted(char: str) -> str:
    return re.sub(r"[^\w\s]", r"\\\g<0>", char, flags=re.ASCII) if char.isascii() else char


class _Reader:
    """Reads one pattern from left to right."""

    def __init__(self, source: str, flags: str) -> None:
        self._source = source
        self._lines = "m" in flags
        self._dot = "(?s:.)" if "s" in flags else "."
        self.position = 0

    def choice(self) -> Node:
        """Alternatives, up to a closing bracket or the end."""
        parts = [self._sequence()]
        while self._source.startswith("|", self.position):
            self.position += 1
            parts.append(self._sequence())
        return parts[0] if len(parts) == 1 else Choice(tuple(parts))

    def _sequence(self) -> Node:
        parts: list[Node] = []
        while (token := _TOKEN.match(self._source, self.position)) and token.lastgroup not in ("close", "bar"):
            kind = _kind(token)
            if kind in ("close", "bar"):
                break
            self.position = token.end()
            if kind == "repeat":
                if not parts:
                    raise Unreadable("something is repeated before there is anything")
                parts[-1] = _repeated(parts[-1], token)
            elif kind == "quoted":
                parts += [Atom(_escaped(char)) for char in token["literal"]]
            else:
                parts.append(self._one(kind, token.group()))
        if token is None and self.position < len(self._source):
            raise Unreadable(f"{self._source[self.position : self.position + 2]} is not known here")
        return parts[0] if len(parts) == 1 else Sequence(tuple(parts))

    def _one(self, kind: str, text: str) -> Node:
        if kind == "look":
            return Look(self._look(text))
        if kind == "open":
            inner = self.choice()
            self.position += 1
            return inner
        return Atom(self._dot if text == "." else text if kind == "atom" else _escaped(text))

    def _look(self, text: str) -> str:
        if text in "^$":
            return text if self._lines else "A" if text == "^" else "z"
        return text[1]


def _kind(token: re.Match[str]) -> str:
    names = ("quoted", "look", "atom", "open", "close", "bar", "repeat", "char")
    return next(name for name in names if token[name] is not None)


def _repeated(part: Node, token: re.Match[str]) -> Repeat:
    if token["low"] is None:
        return Repeat(part, *_SHORT[token.group()[0]])
    low = int(token["low"])
    if token["comma"] is None:
        return Repeat(part, low, low)
    return Repeat(part, low, int(token["high"]) if token["high"] else None)


def _escaped(char: str) -> str:
    return f"\\{char}" if char.isascii() and not char.isalnum() and not char.isspace() else char
