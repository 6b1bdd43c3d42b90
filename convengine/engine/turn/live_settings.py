"""Live settings (`ce_config`): how to declare, find and read one.

Every setting is declared once. The forms, the save checks, the page of settings and the manual derive from that
declaration.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from functools import partial
from typing import Any, Generic, TypeVar

from convengine.engine.text.compare import blank
from convengine.engine.turn import rows
from convengine.engine.turn.labels import in_words
from convengine.engine.turn.snapshot import Snapshot

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)
TRUE_WORDS = frozenset({"true", "1", "yes", "on"})
FALSE_WORDS = frozenset({"false", "0", "no", "off"})


class UnreadableSetting(ValueError):
    """A setting's text does not fit its type; the message says what it must be."""


@dataclass(frozen=True)
class ValueKind(Generic[T_co]):
    """A value type: its name, how to read a text, and its limits for forms."""

    name: str
    read: Callable[[str], T_co]
    #: Limits of a number. None if it is not limited.
    minimum: float | None = None
    maximum: float | None = None
    values: tuple[str, ...] = ()
    #: Blank texts count as absent (prompts, patterns and plain texts).
    blank_is_absent: bool = False


def _read_bool(text: str) -> bool:
    """The meaning of a word for yes or no. Raises Unreadable for any other text."""
    word = text.strip().lower()
    if word not in TRUE_WORDS | FALSE_WORDS:
        raise UnreadableSetting("must be true or false.")
    return word in TRUE_WORDS


def boolean() -> ValueKind[bool]:
    """true/1/yes/on or false/0/no/off, in any case."""
    return ValueKind("bool", _read_bool)


def integer(minimum: int = 0, maximum: int = 2**31 - 1) -> ValueKind[int]:
    """A whole number within limits; a number outside becomes the nearest limit."""

    def read(text: str) -> int:
        try:
            number = int(text.strip())
        except ValueError:
            raise UnreadableSetting(f"must be a whole number from {minimum} to {maximum}.") from None
        return min(max(number, minimum), maximum)

    return ValueKind("int", read, minimum, maximum)


def decimal(minimum: float = 0.0, maximum: float = 1.0) -> ValueKind[float]:
    """A decimal number within limits; a number outside becomes the nearest limit."""

    def read(text: str) -> float:
        try:
            number = float(Decimal(text.strip()))
        except (InvalidOperation, ValueError):
            raise UnreadableSetting(f"must be a number from {minimum:g} to {maximum:g}.") from None
        if number != number:
            raise UnreadableSetting(f"must be a number from {minimum:g} to {maximum:g}.")
        return min(max(number, minimum), maximum)

    return ValueKind("decimal", read, minimum, maximum)


def one_of(*values: str) -> ValueKind[str]:
    """One of the values, ignoring case."""

    def read(text: str) -> str:
        word = text.strip().upper()
        for value in values:
            if value.upper() == word:
                return value
        raise UnreadableSetting(f"must be one of {', '.join(values)}.")

    return ValueKind("enum", read, values=values)


def text_list(*, codes: bool = False, lines: bool = False) -> ValueKind[tuple[str, ...]]:
    """Comma-separated entries (one per line with `lines`), trimmed, without blanks; codes in upper case."""

    def read(text: str) -> tuple[str, ...]:
        parts = text.splitlines() if lines else text.replace("\n", ",").split(",")
        texts = (part.strip() for part in parts)
        return tuple(part.upper() if codes else part for part in texts if part)

    return ValueKind("codes" if codes else "lines" if lines else "list", read)


def text() -> ValueKind[str]:
    """A plain text; blank counts as absent."""
    return ValueKind("text", str, blank_is_absent=True)


def template() -> ValueKind[str]:
    """A template; blank counts as absent. Its syntax is checked elsewhere."""
    return ValueKind("template", str, blank_is_absent=True)


def prompt() -> ValueKind[str]:
    """A prompt; blank counts as absent."""
    return ValueKind("prompt", str, blank_is_absent=True)


def regex() -> ValueKind[str]:
    """A regular expression; blank counts as absent. Its syntax is checked elsewhere."""
    return ValueKind("regex", str, blank_is_absent=True)


def json_value(shape: type = dict) -> ValueKind[Any]:
    """A JSON document with the given top-level type; blank counts as absent."""
    names: dict[type, str] = {dict: "a JSON object", list: "a JSON list"}

    def read(text: str) -> Any:
        try:
            value = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise UnreadableSetting(f"is not valid JSON: {error}.") from None
        if not isinstance(value, shape):
            raise UnreadableSetting(f"must be {names.get(shape, 'JSON')}.")
        return value

    return ValueKind("json", read, blank_is_absent=True)


@dataclass(frozen=True, eq=False)
class Setting(Generic[T]):
    """One live setting. `mark` L: any configuration editor; LR: configuration administrators only."""

    type: str
    key: str
    kind: ValueKind[T]
    default: T
    help: str
    mark: str = "L"
    #: What a qualifier after the key's first dot names: workspace, channel, purpose or tool code, if there is one.
    qualifier: str | None = None
    #: Defaults of single qualifiers, in upper case, if they differ.
    qualified_defaults: Mapping[str, T] = field(default_factory=dict)
    #: The title on pages; the key in words if it is not declared.
    label: str = ""

    def default_for(self, qualifier: str | None) -> T:
        """The built-in default, which may depend on the qualifier."""
        return self.qualified_defaults.get((qualifier or "").strip().upper(), self.default)

    @property
    def name(self) -> str:
        """`TYPE/KEY`, as in pages and messages."""
        return f"{self.type}/{self.key}"


#: Every declared setting by (TYPE, KEY) in upper case.
CATALOGUE: dict[tuple[str, str], Setting[Any]] = {}
#: Older or wrong names, renamed on import and on save: (TYPE, KEY) -> key.
ALIASES: dict[tuple[str, str], str] = {
    ("DIALOGUEACTSTEP", "QUERY_REWRITE_SCHEMA_JSON"): "QUERY_REWRITE_SCHEMA_PROMPT",
    ("LLM", "TURN_BUDGET_MS"): "MAX_MS_PER_TURN",
}


def declare(
    type: str,
    key: str,
    kind: ValueKind[T],
    default: T,
    help: str,
    *,
    mark: str = "L",
    qualifier: str | None = None,
    qualified_defaults: Mapping[str, T] | None = None,
    label: str = "",
) -> Setting[T]:
    """Add a setting to the catalogue; extensions use this too.

    Raises ValueError if the name is taken.
    """
    setting = Setting(type, key, kind, default, help, mark, qualifier, qualified_defaults or {}, label or in_words(key))
    if (type.upper(), key.upper()) in CATALOGUE:
        raise ValueError(f"{setting.name} is declared twice")
    CATALOGUE[type.upper(), key.upper()] = setting
    return setting


def canonical_key(config_type: str | None, config_key: str | None) -> tuple[str, str, str]:
    """Family, present key, and qualifier (blank without one) of the setting that a row names, in upper case."""
    family, (key, _, qualifier) = (config_type or "").strip().upper(), (config_key or "").strip().upper().partition(".")
    return family, ALIASES.get((family, key), key), qualifier


@dataclass(frozen=True)
class SettingInForce(Generic[T]):
    """A setting's value in force, its source, and the error of the text that was found."""

    value: T
    #: The `ce_config` row, or None if the value comes from the deployment or the default.
    row: rows.Config | None = None
    source: str = "DEFAULT"
    problem: str | None = None
    raw: str | None = field(default=None, repr=False)


def _list_sources(
    snapshot: Snapshot, setting: Setting[Any], qualifier: str | None
) -> Iterator[tuple[str, rows.Config | None, str]]:
    """The texts that may give the value, the strongest first, each with its source and row."""
    type_, key = setting.type.upper(), setting.key.upper()
    by_name = snapshot.table(rows.Config).memo.get(
        "by_name",
        # Of equal names, the first row counts.
        lambda: {
            (row.config_type.strip().upper(), row.config_key.strip().upper()): row
            for row in reversed(snapshot.enabled_rows(rows.Config))
        },
    )
    names = [f"{key}.{qualifier.strip().upper()}"] if qualifier else []
    for name in (*names, key):
        if row := by_name.get((type_, name)):
            yield "ROW", row, row.config_value
    if (type_, key) in snapshot.defaults:
        yield "DEPLOYMENT", None, snapshot.defaults[type_, key]


def read(snapshot: Snapshot, setting: Setting[T], qualifier: str | None = None) -> SettingInForce[T]:
    """The value in force: qualified row, plain row, deployment, built-in default.

    If a text cannot be read, the default applies, with the error; weaker sources do not count.
    """
    # Called forty times a turn, so it makes no key or default.
    key = setting if qualifier is None else (setting, qualifier)
    reading: SettingInForce[T] | None = snapshot.memo.values.get(key)
    return reading or snapshot.memo.get(key, partial(_read_uncached, snapshot, setting, qualifier))


def _read_uncached(snapshot: Snapshot, setting: Setting[T], qualifier: str | None) -> SettingInForce[T]:
    """Read the strongest text; a blank one is passed over where blank counts as absent."""
    default = setting.default_for(qualifier)
    for source, row, raw in _list_sources(snapshot, setting, qualifier):
        if setting.kind.blank_is_absent and blank(raw):
            continue
        try:
            return SettingInForce(setting.kind.read(raw), row, source, None, raw)
        except UnreadableSetting as problem:
            return SettingInForce(default, row, source, str(problem), raw)
    return SettingInForce(default)
