"""Live settings (`ce_config`): how one is declared, found and read (settings 1).

Every setting is declared once, as a constant of a module in `domain/catalogue/`. The forms, the save checks, the
page of effective settings and the manual derive from that declaration.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from functools import partial
from typing import Any, Generic, TypeVar

from convengine.domain import rows
from convengine.domain.snapshot import Snapshot
from convengine.domain.text import blank

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)
TRUE_WORDS = frozenset({"true", "1", "yes", "on"})
FALSE_WORDS = frozenset({"false", "0", "no", "off"})


class Unreadable(ValueError):
    """A setting's text does not fit its type; the message says what it must be."""


@dataclass(frozen=True)
class Kind(Generic[T_co]):
    """A value type: its name, how a text is read, and what a form must know about it."""

    name: str
    read: Callable[[str], T_co]
    #: Bounds of a number, null when open.
    minimum: float | None = None
    maximum: float | None = None
    values: tuple[str, ...] = ()
    #: Blank texts count as absent (prompts, patterns and plain texts).
    blank_is_absent: bool = False


def _read_bool(text: str) -> bool:
    word = text.strip().lower()
    if word not in TRUE_WORDS | FALSE_WORDS:
        raise Unreadable("must be true or false.")
    return word in TRUE_WORDS


def boolean() -> Kind[bool]:
    """true/1/yes/on or false/0/no/off, in any case."""
    return Kind("bool", _read_bool)


def integer(minimum: int = 0, maximum: int = 2**31 - 1) -> Kind[int]:
    """Digits within bounds; a number out of bounds reads as the nearest bound."""

    def read(text: str) -> int:
        try:
            number = int(text.strip())
        except ValueError:
            raise Unreadable(f"must be a whole number from {minimum} to {maximum}.") from None
        return min(max(number, minimum), maximum)

    return Kind("int", read, minimum, maximum)


def decimal(minimum: float = 0.0, maximum: float = 1.0) -> Kind[float]:
    """A decimal number within bounds; out of bounds reads as the nearest bound."""

    def read(text: str) -> float:
        try:
            number = float(Decimal(text.strip()))
        except (InvalidOperation, ValueError):
            raise Unreadable(f"must be a number from {minimum:g} to {maximum:g}.") from None
        if number != number:
            raise Unreadable(f"must be a number from {minimum:g} to {maximum:g}.")
        return min(max(number, minimum), maximum)

    return Kind("decimal", read, minimum, maximum)


def one_of(*values: str) -> Kind[str]:
    """One of the values, in any case."""

    def read(text: str) -> str:
        word = text.strip().upper()
        for value in values:
            if value.upper() == word:
                return value
        raise Unreadable(f"must be one of {', '.join(values)}.")

    return Kind("enum", read, values=values)


def text_list(*, codes: bool = False, lines: bool = False) -> Kind[tuple[str, ...]]:
    """Comma-separated entries (one a line with `lines`), trimmed, blanks dropped; codes are upper-cased."""

    def read(text: str) -> tuple[str, ...]:
        parts = text.splitlines() if lines else text.replace("\n", ",").split(",")
        found = (part.strip() for part in parts)
        return tuple(part.upper() if codes else part for part in found if part)

    return Kind("codes" if codes else "lines" if lines else "list", read)


def text() -> Kind[str]:
    """A plain text; blank counts as absent."""
    return Kind("text", str, blank_is_absent=True)


def template() -> Kind[str]:
    """A template; blank counts as absent. That it parses is checked where templates are known."""
    return Kind("template", str, blank_is_absent=True)


def prompt() -> Kind[str]:
    """A prompt; blank counts as absent."""
    return Kind("prompt", str, blank_is_absent=True)


def regex() -> Kind[str]:
    """A regular expression; blank counts as absent. That it compiles is checked where patterns are known."""
    return Kind("regex", str, blank_is_absent=True)


def json_value(shape: type = dict) -> Kind[Any]:
    """A JSON document of the given top-level shape."""
    names: dict[type, str] = {dict: "a JSON object", list: "a JSON list"}

    def read(text: str) -> Any:
        try:
            value = json.loads(text)
        except ValueError as error:
            raise Unreadable(f"is not valid JSON: {error}.") from None
        if not isinstance(value, shape):
            raise Unreadable(f"must be {names.get(shape, 'JSON')}.")
        return value

    return Kind("json", read, blank_is_absent=True)


@dataclass(frozen=True, eq=False)
class Setting(Generic[T]):
    """One live setting, like no other. `mark` L: any configuration editor; LR: configuration administrators only."""

    type: str
    key: str
    kind: Kind[T]
    default: T
    help: str
    mark: str = "L"
    #: What a qualifier after the key's first dot may name: workspace, channel, purpose, tool code; null = none.
    qualifier: str | None = None
    #: Defaults of single qualifiers, in upper case, where they differ from the others'.
    qualified_defaults: Mapping[str, T] = field(default_factory=dict)

    def default_for(self, qualifier: str | None) -> T:
        """The built-in default, which may depend on the qualifier."""
        return self.qualified_defaults.get((qualifier or "").strip().upper(), self.default)

    @property
    def name(self) -> str:
        """`TYPE/KEY`, as pages and messages write it."""
        return f"{self.type}/{self.key}"


#: Every declared setting by (TYPE, KEY) in upper case.
CATALOGUE: dict[tuple[str, str], Setting[Any]] = {}
#: Older or mistaken names, renamed at import and at save: (TYPE, KEY) -> key.
ALIASES: dict[tuple[str, str], str] = {
    ("DIALOGUEACTSTEP", "QUERY_REWRITE_SCHEMA_JSON"): "QUERY_REWRITE_SCHEMA_PROMPT",
    ("LLM", "TURN_BUDGET_MS"): "MAX_MS_PER_TURN",
}


def declare(
    type: str,
    key: str,
    kind: Kind[T],
    default: T,
    help: str,
    *,
    mark: str = "L",
    qualifier: str | None = None,
    qualified_defaults: Mapping[str, T] | None = None,
) -> Setting[T]:
    """Add a setting to the catalogue; extensions declare theirs the same way.

    Raises ValueError when the name is taken.
    """
    setting = Setting(type, key, kind, default, help, mark, qualifier, qualified_defaults or {})
    if (type.upper(), key.upper()) in CATALOGUE:
        raise ValueError(f"{setting.name} is declared twice")
    CATALOGUE[type.upper(), key.upper()] = setting
    return setting


@dataclass(frozen=True)
class Reading(Generic[T]):
    """A setting's value in force, where it came from, and what was wrong with the text that was found."""

    value: T
    #: The `ce_config` row, or null when the value came from the deployment or the default.
    row: rows.Config | None = None
    source: str = "DEFAULT"
    problem: str | None = None
    found: str | None = field(default=None, repr=False)


def _by_name(snapshot: Snapshot) -> Mapping[tuple[str, str], rows.Config]:
    return snapshot.table(rows.Config).memo.get(
        "by_name",
        lambda: {
            (row.config_type.strip().upper(), row.config_key.strip().upper()): row
            for row in reversed(snapshot.enabled(rows.Config))
        },
    )


def _sources(
    snapshot: Snapshot, setting: Setting[Any], qualifier: str | None
) -> Iterator[tuple[str, rows.Config | None, str]]:
    type_, key = setting.type.upper(), setting.key.upper()
    by_name = _by_name(snapshot)
    names = [f"{key}.{qualifier.strip().upper()}"] if qualifier else []
    for name in (*names, key):
        if row := by_name.get((type_, name)):
            yield "ROW", row, row.config_value
    if (type_, key) in snapshot.defaults:
        yield "DEPLOYMENT", None, snapshot.defaults[type_, key]


def read(snapshot: Snapshot, setting: Setting[T], qualifier: str | None = None) -> Reading[T]:
    """The value in force: qualified row, plain row, deployment, built-in default (settings 1).

    A text that cannot be read does not fall through to a weaker source: it is the default, with its problem told.
    """
    # Forty times a turn: no key is made, and nothing that would make the value.
    key = setting if qualifier is None else (setting, qualifier)
    found: Reading[T] | None = snapshot.memo.values.get(key)
    return found or snapshot.memo.get(key, partial(_read, snapshot, setting, qualifier))


def _read(snapshot: Snapshot, setting: Setting[T], qualifier: str | None) -> Reading[T]:
    default = setting.default_for(qualifier)
    for source, row, found in _sources(snapshot, setting, qualifier):
        if setting.kind.blank_is_absent and blank(found):
            continue
        try:
            return Reading(setting.kind.read(found), row, source, None, found)
        except Unreadable as problem:
            return Reading(default, row, source, str(problem), found)
    return Reading(default)
