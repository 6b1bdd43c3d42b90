r"""Analysts' regular expressions: RE2, so that no pattern takes exponential time.

Before RE2 reads a pattern it is translated: `\w` and `\W` mean letters, marks and digits of all scripts, and a leading
`(?i)` is dropped, because matching ignores case anyway. `\b` stays ASCII: RE2 has no other.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, Protocol

import re2

from convengine.engine.cached_property import cached_property
from convengine.engine.turn import live_settings
from convengine.engine.turn.fault import Fault
from convengine.engine.turn.live_settings import Setting
from convengine.engine.turn.session import Session
from convengine.engine.turn.stages import CONFIG_VALUE_INVALID
from convengine.engine.turn.turn import Turn

#: Maximum length of a pattern, and of the matched part of a text.
MAX_PATTERN = 2000
MAX_INPUT = 4000
#: Maximum number of instructions of a pattern with repetitions unfolded: with every character class counted as one, and
#: with real classes (that of all letters alone is 1,400). RE2's worst case is size times length of the text.
MAX_SIZE = 4000
MAX_WIDE_SIZE = 100_000
_MAX_MEMORY = 32 * 1024 * 1024

_WORD = r"\p{L}_\p{M}\p{N}"
#: Everything except word characters, as parts of a class: RE2 cannot negate inside a class.
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
#: What RE2 does not support, and how to write it otherwise.
_UNSUPPORTED: tuple[tuple[str, str], ...] = (
    (r"\(\?=", "Leave the look-ahead out: ab finds the same texts as a(?=b)."),
    (r"\(\?<=", "Leave the look-behind out: ab finds the same texts as (?<=a)b."),
    (r"\(\?<?!", "Exclude the text with a separate row that is evaluated first."),
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
    """An unusable pattern.

    `code` is REGEX_INVALID, REGEX_UNSUPPORTED or REGEX_FLAGS_POSITION; `position` counts from 1 and is None if unknown;
    `hint` is another way to write it, if known.
    """

    def __init__(self, code: str, reason: str, position: int | None = None, hint: str | None = None) -> None:
        super().__init__(reason)
        self.code = code
        self.reason = reason
        self.position = position
        self.hint = hint

    def fault(self, field: str, text: str) -> Fault:
        return Fault(self.reason, field, text, self.hint or "Write a regular expression that RE2 takes.")


class PatternMatch(Protocol):
    """The result of `Pattern.search`: the part of `re.Match` that RE2 has."""

    def group(self, *groups: int | str) -> Any:
        """The text of a group. Returns None if it did not match."""

    def groups(self) -> tuple[str | None, ...]:
        """All groups."""

    def groupdict(self) -> dict[str, str | None]:
        """The named groups; None for one that did not match."""

    def span(self, group: int = 0) -> tuple[int, int]:
        """Start and end of a group."""


@dataclass(frozen=True)
class _Translated:
    wide: str
    #: The same pattern with every character class reduced to one character, for the size limit.
    narrow: str


@dataclass(frozen=True)
class Pattern:
    """A compiled pattern. Texts are cut to MAX_INPUT characters; None never matches."""

    text: str
    #: The pattern for RE2.
    source: str
    ignore_case: bool

    @cached_property
    def _compiled_test(self) -> Any:
        return _compile(self.source, self.ignore_case, captures=False)

    @cached_property
    def _compiled_capture(self) -> Any:
        return _compile(self.source, self.ignore_case, captures=True)

    @property
    def size(self) -> int:
        """The number of RE2's instructions, which is the cost of a match per character."""
        return int(self._compiled_test.programsize)

    def occurs_in(self, text: str | None) -> bool:
        return text is not None and self._compiled_test.search(prepare_subject(text)) is not None

    def fits(self, text: str | None) -> bool:
        """True when the pattern matches the whole text."""
        return text is not None and self._compiled_test.fullmatch(prepare_subject(text)) is not None

    def search(self, text: str | None) -> PatternMatch | None:
        """The first match with its groups. Returns None if there is none."""
        if text is None:
            return None
        match: PatternMatch | None = self._compiled_capture.search(prepare_subject(text).decode())
        return match

    def occurrences(self, text: str) -> Iterator[PatternMatch]:
        """Every match with its groups, in order, without overlap."""
        yield from self._compiled_capture.finditer(prepare_subject(text).decode())

    def replace_in(self, text: str, by: str) -> str:
        """The whole text with each match replaced by a plain text."""
        return str(self._compiled_test.sub(by.replace("\\", "\\\\"), text.encode("utf-8", "replace").decode()))


def build_options(*, ignore_case: bool = True, captures: bool = False, max_memory: int = _MAX_MEMORY) -> Any:
    """RE2 options with limits and without log output."""
    chosen = re2.Options()
    chosen.log_errors = False
    chosen.max_mem = max_memory
    chosen.case_sensitive = not ignore_case
    chosen.never_capture = not captures
    return chosen


@lru_cache(maxsize=256)
def prepare_subject(text: str) -> bytes:
    """A text prepared for matching: cut, without lone surrogates. Cached, because a turn asks often."""
    return text[:MAX_INPUT].encode("utf-8", "replace")


@lru_cache(maxsize=16384)
def compile_pattern(text: str, *, ignore_case: bool = True) -> Pattern:
    """Compile an analyst's pattern. Raises PatternError."""
    if len(text) > MAX_PATTERN:
        raise PatternError("REGEX_INVALID", f"it is longer than {MAX_PATTERN} characters", MAX_PATTERN + 1)
    translated = _translate(text)
    pattern = Pattern(text, translated.wide, ignore_case)
    try:
        narrow = pattern
        if translated.narrow != translated.wide:
            narrow = Pattern(text, translated.narrow, ignore_case)
        too_large = narrow.size > MAX_SIZE or pattern.size > MAX_WIDE_SIZE
    except re2.error as error:
        raise _explain_error(text, error) from None
    except UnicodeEncodeError:
        raise PatternError("REGEX_INVALID", "it has half of a surrogate pair") from None
    if too_large:
        raise PatternError("REGEX_UNSUPPORTED", "its repetitions make it too large", None, "Use smaller repetitions.")
    return pattern


def find_double_backslash(text: str) -> str | None:
    r"""The first `\\b`, `\\d`, `\\w` or `\\s`, which matches a backslash although the class was meant.

    Capitals count as well. Returns None if there is none.
    """
    match = _DOUBLE_BACKSLASH.search(text)
    return match.group() if match else None


def _compile(source: str, ignore_case: bool, *, captures: bool) -> Any:
    return re2.compile(source, build_options(ignore_case=ignore_case, captures=captures))


def _translate(text: str) -> _Translated:
    """The pattern for RE2. Raises PatternError for flags behind its start."""
    flags = ""
    body = text
    if start := _START_FLAGS.match(text):
        kept_flags = start.group(1).replace("i", "")
        flags, body = (f"(?{kept_flags})" if kept_flags else ""), text[start.end() :]
    parts = list(_list_tokens(body, offset=len(text) - len(body)))
    return _Translated(flags + "".join(wide for wide, _ in parts), flags + "".join(narrow for _, narrow in parts))


def _list_tokens(body: str, offset: int) -> Iterator[tuple[str, str]]:
    """Each token of the pattern, wide and narrow. Raises PatternError for flags."""
    position, in_class = 0, False
    while token := (_INSIDE if in_class else _OUTSIDE).match(body, position):
        kind, piece = token.lastgroup, token.group()
        if kind == "flags" and piece != "(?:":
            reason = f"flags such as {piece} are only allowed at the start"
            raise PatternError("REGEX_FLAGS_POSITION", reason, offset + position + 1)
        in_class = kind == "open" or (in_class and kind != "close")
        yield _widen_token(kind, piece, in_class)
        position = token.end()


def _widen_token(kind: str | None, piece: str, in_class: bool) -> tuple[str, str]:
    """The token for RE2, with word characters of all scripts; and with a class reduced to one character."""
    if kind == "property":
        return piece, r"\d"
    if kind == "escape" and piece == r"\w":
        return (_WORD if in_class else f"[{_WORD}]"), r"\d"
    if kind == "escape" and piece == r"\W":
        return (_NON_WORD if in_class else f"[^{_WORD}]"), r"\d"
    return piece, piece


def _explain_error(text: str, error: Exception) -> PatternError:
    """The error of RE2 as a PatternError, with a hint if the pattern has something that RE2 lacks."""
    raw = error.args[0] if error.args else ""
    reason = raw.decode("utf-8", "replace") if isinstance(raw, bytes) else str(raw)
    for feature, hint in _UNSUPPORTED:
        if match := re.search(feature, _blank_literals(text)):
            return PatternError("REGEX_UNSUPPORTED", reason, match.start() + 1, hint)
    return PatternError("REGEX_INVALID", reason, _find_position(text, reason))


def _blank_literals(text: str) -> str:
    """The pattern with escaped backslashes and classes blanked, so that only operators remain."""
    return re.sub(r"\\\\|\[\^?\]?(?:\\.|[^\]\\])*\]", lambda match: " " * len(match.group()), text)


def _find_position(text: str, reason: str) -> int | None:
    """Where an error of RE2 is, from 1. Returns None if that is unknown."""
    message, _, fragment = reason.partition(": ")
    if message != "missing )":
        index = text.find(fragment) if fragment else -1
        return index + 1 if index >= 0 else None
    # The last group that is not closed.
    open_groups: list[int] = []
    for index, char in enumerate(re.sub(r"\\.", "  ", _blank_literals(text))):
        if char == "(":
            open_groups.append(index + 1)
        elif char == ")" and open_groups:
            open_groups.pop()
    return open_groups[-1] if open_groups else None


def get_pattern(session: Session, turn: Turn, setting: Setting[str]) -> Pattern:
    """The pattern of a live setting. An unusable one is reported once, and the default applies."""
    text = turn.config(session, setting)
    try:
        return compile_pattern(text)
    except PatternError as error:
        audit_unusable(session, turn, setting, text, error)
        return compile_pattern(setting.default)


def audit_unusable(session: Session, turn: Turn, setting: Setting[Any], text: str, error: PatternError) -> None:
    """Report, once per turn, that a pattern setting is unusable: of its row, or of the deployment's default."""
    row = live_settings.read(turn.snapshot, setting).row
    reason = f"{setting.name}: {error.reason}"
    if row is not None:
        turn.audit_invalid_row(session, row, replace(error.fault("config_value", text), reason=reason))
        return
    turn.audit_once(
        session,
        CONFIG_VALUE_INVALID,
        setting.name,
        configType=setting.type,
        configKey=setting.key,
        value=text,
        usedDefault=setting.default,
        reason=reason,
    )
