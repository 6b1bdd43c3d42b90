"""Regular expressions as analysts may write them: RE2, so that no pattern can take exponential time (R13 Q-6, R64).

What an analyst writes is translated a little before RE2 reads it: `\\w` and `\\W` mean letters, marks and digits of all
scripts, and a leading `(?i)` is dropped, because matching ignores case anyway. `\\b` stays ASCII: RE2 has no other.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, Protocol

import re2

from convengine.domain.fault import Fault

#: Longest pattern, and how much of a text is looked at (pipeline-1 1.13).
MAX_PATTERN = 2000
MAX_INPUT = 4000
#: Most instructions that a pattern's repetitions may unfold to: with every character class counted as one, and with
#: classes as they are (that of all letters is 1,400 alone). RE2's worst case is size times length of the text.
MAX_SIZE = 4000
MAX_WIDE_SIZE = 100_000
_MAX_MEMORY = 32 * 1024 * 1024

_WORD = r"\p{L}_\p{M}\p{N}"
#: Everything that is not a word character, as parts of a class: RE2 cannot negate inside one.
_NON_WORD = (
    r"\p{Z}\p{S}\p{C}\p{Pd}\p{Ps}\p{Pe}\p{Pi}\p{Pf}\p{Po}"
    r"\x{203F}\x{2040}\x{2054}\x{FE33}\x{FE34}\x{FE4D}-\x{FE4F}\x{FF3F}"
)
_ESCAPES = r"(?P<property>\\[pP](?:\{[^}]*\}|.))|(?P<escape>\\.?)"
_OUTSIDE = re.compile(
    rf"(?P<quoted>\\Q.*?(?:\\E|$))|{_ESCAPES}|(?P<open>\[\^?\]?)"
    r"|(?P<flags>\(\?[a-zA-Z]*-?[a-zA-Z]*[:)])|(?P<char>.)",
    re.DOTALL,
)
_INSIDE = re.compile(rf"(?P<posix>\[:\^?[a-z]+:\])|{_ESCAPES}|(?P<close>\])|(?P<char>.)", re.DOTALL)
_START_FLAGS = re.compile(r"\(\?([imsU]+)\)")
_DOUBLE_BACKSLASH = re.compile(r"\\\\[bBdDwWsS]")
#: What RE2 does not take, and how to say it otherwise.
_UNSUPPORTED: tuple[tuple[str, str], ...] = (
    (r"\(\?=", "Leave the look-ahead out: ab finds the same texts as a(?=b)."),
    (r"\(\?<=", "Leave the look-behind out: ab finds the same texts as (?<=a)b."),
    (r"\(\?<?!", "Say what must not be there in a row of its own that is looked at first."),
    (r"\(\?>", "Write (?:…) instead of (?>…): matching takes linear time anyway."),
    (r"[*+?}]\+", "Leave out the second +: matching takes linear time anyway."),
    (r"\(\?#", "Leave out the comment; the description is the place for it."),
    (r"\\[1-9]|\\k[<{']|\(\?P=", "Write out the alternatives instead of referring back to a group."),
    (r"\\Z", r"Write \z for the end of the text."),
    (r"\\u[0-9a-fA-F]{4}", r"Write \x{00E9} instead of \u00E9."),
    (r"\\h", r"Write [ \t] instead of \h."),
    (r"\\R", r"Write \r?\n instead of \R."),
)


class PatternError(ValueError):
    """A pattern that cannot be used.

    `code` is REGEX_INVALID, REGEX_UNSUPPORTED or REGEX_FLAGS_POSITION; `position` counts from 1 and is null where
    it is not known; `hint` is a way to say the same, where one is known.
    """

    def __init__(self, code: str, reason: str, position: int | None = None, hint: str | None = None) -> None:
        super().__init__(reason)
        self.code = code
        self.reason = reason
        self.position = position
        self.hint = hint

    def fault(self, field: str, text: str) -> Fault:
        """What is wrong with the row that has this pattern in this field."""
        return Fault(self.reason, field, text, self.hint or "Write a regular expression that RE2 takes.")


class Match(Protocol):
    """What `Pattern.search` gives: the part of `re.Match` that RE2 has."""

    def group(self, *groups: int | str) -> Any:
        """The text of a group, null when it took no part."""

    def groups(self) -> tuple[str | None, ...]:
        """All groups."""

    def groupdict(self) -> dict[str, str | None]:
        """The named groups."""

    def span(self, group: int = 0) -> tuple[int, int]:
        """Where a group begins and ends."""


@dataclass(frozen=True)
class _Translated:
    wide: str
    #: The same pattern with every character class small: what the size limit is measured on.
    narrow: str


@dataclass(frozen=True)
class Pattern:
    """A compiled pattern. Texts are cut to 4000 characters; a null text never matches."""

    text: str
    #: The pattern as RE2 gets it.
    source: str
    ignore_case: bool

    @cached_property
    def _test(self) -> Any:
        return _compile(self.source, self.ignore_case, captures=False)

    @cached_property
    def _capture(self) -> Any:
        return _compile(self.source, self.ignore_case, captures=True)

    @property
    def size(self) -> int:
        """How many instructions RE2 made of it: what a match may cost a character."""
        return int(self._test.programsize)

    def found(self, text: str | None) -> bool:
        """True when the pattern occurs anywhere in the text."""
        return text is not None and self._test.search(subject(text)) is not None

    def fits(self, text: str | None) -> bool:
        """True when the pattern covers the whole text."""
        return text is not None and self._test.fullmatch(subject(text)) is not None

    def search(self, text: str | None) -> Match | None:
        """The first occurrence with its groups; null when there is none."""
        if text is None:
            return None
        match: Match | None = self._capture.search(subject(text).decode())
        return match

    def occurrences(self, text: str) -> Iterator[Match]:
        """Every occurrence with its groups, in order; none overlaps another."""
        yield from self._capture.finditer(subject(text).decode())

    def replaced(self, text: str, by: str) -> str:
        """The text, whole however long, with each occurrence replaced by a plain text."""
        return str(self._test.sub(by.replace("\\", "\\\\"), text.encode("utf-8", "replace").decode()))

    def group_number(self, name: str) -> int | None:
        """The number of a named group, null where there is none."""
        number: int | None = self._capture.groupindex.get(name)
        return number


def options(*, ignore_case: bool = True, captures: bool = False, max_memory: int = _MAX_MEMORY) -> Any:
    """RE2 options of the house: silent, bounded."""
    chosen = re2.Options()
    chosen.log_errors = False
    chosen.max_mem = max_memory
    chosen.case_sensitive = not ignore_case
    chosen.never_capture = not captures
    return chosen


@lru_cache(maxsize=256)
def subject(text: str) -> bytes:
    """A text as it is matched: cut, and without the half characters that UTF-8 cannot express. A turn asks often."""
    return text[:MAX_INPUT].encode("utf-8", "replace")


@lru_cache(maxsize=16384)
def compile_pattern(text: str, *, ignore_case: bool = True) -> Pattern:
    """The pattern that an analyst wrote (tables 1.7). Raises PatternError."""
    if len(text) > MAX_PATTERN:
        raise PatternError("REGEX_INVALID", f"it is longer than {MAX_PATTERN} characters", MAX_PATTERN + 1)
    translated = _translate(text)
    pattern = Pattern(text, translated.wide, ignore_case)
    try:
        narrow = pattern.size if translated.narrow == translated.wide else _size(translated.narrow, ignore_case)
        too_large = narrow > MAX_SIZE or pattern.size > MAX_WIDE_SIZE
    except re2.error as error:
        raise _explained(text, error) from None
    if too_large:
        raise PatternError("REGEX_UNSUPPORTED", "its repetitions make it too large", None, "Use smaller repetitions.")
    return pattern


def double_backslash(text: str) -> bool:
    r"""True when `\\b`, `\\d`, `\\w` or `\\s` looks for a backslash although the class was meant."""
    return _DOUBLE_BACKSLASH.search(text) is not None


def _compile(source: str, ignore_case: bool, *, captures: bool) -> Any:
    return re2.compile(source, options(ignore_case=ignore_case, captures=captures))


def _size(source: str, ignore_case: bool) -> int:
    return int(_compile(source, ignore_case, captures=False).programsize)


def _translate(text: str) -> _Translated:
    flags = ""
    body = text
    if start := _START_FLAGS.match(text):
        kept = start.group(1).replace("i", "")
        flags, body = (f"(?{kept})" if kept else ""), text[start.end() :]
    parts = list(_parts(body, offset=len(text) - len(body)))
    return _Translated(flags + "".join(wide for wide, _ in parts), flags + "".join(narrow for _, narrow in parts))


def _parts(body: str, offset: int) -> Iterator[tuple[str, str]]:
    """Each token of the pattern, wide and narrow."""
    position, in_class = 0, False
    while token := (_INSIDE if in_class else _OUTSIDE).match(body, position):
        kind, piece = token.lastgroup, token.group()
        if kind == "flags" and piece != "(?:":
            reason = f"flags such as {piece} must stand at the very start"
            raise PatternError("REGEX_FLAGS_POSITION", reason, offset + position + 1)
        in_class = kind == "open" or (in_class and kind != "close")
        yield _widened(kind, piece, in_class)
        position = token.end()


def _widened(kind: str | None, piece: str, in_class: bool) -> tuple[str, str]:
    if kind == "property":
        return piece, r"\d"
    if kind == "escape" and piece == r"\w":
        return (_WORD if in_class else f"[{_WORD}]"), r"\d"
    if kind == "escape" and piece == r"\W":
        return (_NON_WORD if in_class else f"[^{_WORD}]"), r"\d"
    return piece, piece


def _explained(text: str, error: Exception) -> PatternError:
    raw = error.args[0] if error.args else ""
    reason = raw.decode("utf-8", "replace") if isinstance(raw, bytes) else str(raw)
    for feature, hint in _UNSUPPORTED:
        if found := re.search(feature, _without_literals(text)):
            return PatternError("REGEX_UNSUPPORTED", reason, found.start() + 1, hint)
    return PatternError("REGEX_INVALID", reason, _position(text, reason))


def _without_literals(text: str) -> str:
    """The pattern with escaped backslashes and classes blanked, so that only operators are left."""
    return re.sub(r"\\\\|\[\^?\]?(?:\\.|[^\]\\])*\]", lambda match: " " * len(match.group()), text)


def _position(text: str, reason: str) -> int | None:
    message, _, fragment = reason.partition(": ")
    if message == "missing )":
        return _unclosed(text)
    found = text.find(fragment) if fragment else -1
    return found + 1 if found >= 0 else None


def _unclosed(text: str) -> int | None:
    open_groups: list[int] = []
    for index, char in enumerate(_without_escapes(text)):
        if char == "(":
            open_groups.append(index + 1)
        elif char == ")" and open_groups:
            open_groups.pop()
    return open_groups[-1] if open_groups else None


def _without_escapes(text: str) -> str:
    return re.sub(r"\\.", "  ", _without_literals(text))
