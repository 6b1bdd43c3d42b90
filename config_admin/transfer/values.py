"""Single values of files, converted to the type of their column; an invalid value is reported, never guessed."""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from decimal import Decimal
from functools import cache
from math import isfinite
from typing import Any, NamedTuple

from django.core.exceptions import ValidationError
from django.db import models

from config_admin.releases.content import as_json
from convengine.engine.text.compare import shorten, storable
from convengine.engine.turn.codec import TOO_DEEP, is_too_deep
from convengine.engine.turn.enums import TOOL_GROUP_ALIASES, RuleType, read_phase
from convengine.files import Unreadable
from convengine.files.json_text import read_json
from convengine.json_value import Json

_NO_TEXT = "The text contains characters that cannot be stored (NUL or half of a surrogate pair). Remove them."


class ValueRefused(ValueError):
    """The value is invalid for its column."""


def normalise_value(column: "models.Field[Any, Any]", value: Json) -> Json:
    """A file's value as a release stores it: codes in upper case, times in UTC. Raises ValueRefused."""
    if value is None:
        return None
    if isinstance(column, models.JSONField):
        if is_too_deep(value):
            raise ValueRefused(TOO_DEEP)
        if problem := _find_storage_problem(value):
            raise ValueRefused(problem)
        document: Json = column.to_python(value)
        return document
    kind = _find_kind(column)
    if not isinstance(value, kind.types) or (isinstance(value, bool) and bool not in kind.types):
        raise _refuse_value(value, kind)
    if isinstance(value, str) and storable(value) != value:
        raise ValueRefused(_NO_TEXT)
    try:
        if isinstance(column, models.DateTimeField):
            if (moment := datetime.fromisoformat(str(value))).tzinfo is None:
                raise ValueError(value)
            return as_json(moment)
        return as_json(column.to_python(Decimal(str(value)) if isinstance(column, models.DecimalField) else value))
    except (ValidationError, ValueError, OverflowError):
        raise _refuse_value(value, kind) from None


def find_limit_problem(column: "models.Field[Any, Any]", value: Json) -> str | None:
    """The error of the column's own limits. Returns None if there is none."""
    if value is None:
        return None if column.null else "This value is required."
    try:
        column.run_validators(column.to_python(str(value)) if isinstance(column, models.DecimalField) else value)
    except ValidationError as error:
        return f"{shorten_value(value)} received: {' '.join(error.messages)}"
    return None


def get_default(column: "models.Field[Any, Any]") -> Json:
    return as_json(column.get_default())


def _find_storage_problem(value: Json) -> str | None:
    """Why no database accepts a document. Returns None when all do."""
    if isinstance(value, str):
        return None if storable(value) == value else _NO_TEXT
    if isinstance(value, float):
        return None if isfinite(value) else f"{value} is not a JSON value."
    inner = [*value, *value.values()] if isinstance(value, dict) else value if isinstance(value, list) else ()
    return next((problem for item in inner if (problem := _find_storage_problem(item))), None)


def shorten_value(value: Json) -> str:
    return shorten(repr(value), 80)


_TRUE, _FALSE = ("t", "true", "y", "yes", "on", "1"), ("f", "false", "n", "no", "off", "0")
#: Older words of columns -> the word of today, or None.
_ALIASES: Mapping[str, Callable[[str], str | None]] = {
    "phase": read_phase,
    "tool_group": lambda text: TOOL_GROUP_ALIASES.get(text.strip().upper()),
    "rule_type": {"JSONPATH": RuleType.JSON_PATH, "CONTEXT_JSONPATH": RuleType.CONTEXT_JSON_PATH}.get,
}


def parse_text(column: "models.Field[Any, Any]", text: str) -> Json:
    """A text (a cell, or a literal in quotes) as a value of the column. Raises ValueRefused."""
    if isinstance(column, models.JSONField):
        try:
            return read_json(text)
        except Unreadable as error:
            raise ValueRefused(f"This is not valid JSON: {error.describe()}.") from None
    kind = _find_kind(column)
    try:
        return kind.parse(text) if kind.parse else _normalise_word(column, text)
    except ValueError:
        raise _refuse_value(text, kind) from None


def _normalise_word(column: "models.Field[Any, Any]", text: str) -> str:
    """The word of a vocabulary for a text, in any case and by older names; other texts unchanged."""
    words = _list_words(column)
    if not words or text in words:
        return text
    plain = text.strip().upper().replace("-", "_").replace(" ", "_")
    alias = _ALIASES.get(column.attname)
    older = alias(plain) if alias else None
    return str(older) if older else plain if plain in words else text


@cache
def _list_words(column: "models.Field[Any, Any]") -> frozenset[str]:
    return frozenset(str(value) for value, _ in column.flatchoices)


def _parse_boolean(text: str) -> bool:
    plain = text.strip().lower()
    if plain not in (*_TRUE, *_FALSE):
        raise ValueError(text)
    return plain in _TRUE


def _parse_time(text: str) -> str:
    moment = datetime.fromisoformat(text.strip())
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).isoformat()


class _ColumnFormat(NamedTuple):
    """How files write the values of a column: as JSON, and as a text; and what a message calls them."""

    column: type[Any]
    types: tuple[type, ...]
    wanted: str
    parse: Callable[[str], Json] | None = None


_KINDS = (
    _ColumnFormat(models.BooleanField, (bool,), "true or false", _parse_boolean),
    _ColumnFormat(models.IntegerField, (int,), "a whole number", int),
    _ColumnFormat(models.DecimalField, (int, float), "a number", float),
    _ColumnFormat(models.DateTimeField, (str,), "a time, for example 2026-01-31T12:00:00Z", _parse_time),
    _ColumnFormat(models.Field, (str,), "a text in quotes"),
)


def _find_kind(column: "models.Field[Any, Any]") -> _ColumnFormat:
    return next(kind for kind in _KINDS if isinstance(column, kind.column))


def _refuse_value(value: Json, kind: _ColumnFormat) -> ValueRefused:
    return ValueRefused(f"{shorten_value(value)} is not valid. It must be {kind.wanted}.")
