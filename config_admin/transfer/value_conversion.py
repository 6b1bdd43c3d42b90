"""Values of other systems converted for our columns, with notes about conversions.

SQL has fewer types than our columns, and older systems have other words: `'t'`, `'regex'`, `'AGENT_POST_INTENT'`.
"""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from functools import cache
from typing import Any

from django.db import models

from config_admin.transfer.json_text import NoJson, read_json
from config_admin.transfer.values import ValueRefused, shorten_value
from convengine.engine.turn.enums import TOOL_GROUP_ALIASES, read_phase

Json = Any
_TRUE, _FALSE = ("t", "true", "y", "yes", "on", "1"), ("f", "false", "n", "no", "off", "0")
#: Older words of columns -> the word of today, or null.
_ALIASES: Mapping[str, Callable[[str], str | None]] = {
    "phase": read_phase,
    "tool_group": lambda text: TOOL_GROUP_ALIASES.get(text.strip().upper()),
}


def from_text(column: "models.Field[Any, Any]", text: str) -> Json:
    """A text (a cell, or a literal in quotes) as a value of the column. Raises ValueRefused."""
    if isinstance(column, models.JSONField):
        return _document(text)
    if isinstance(column, models.BooleanField):
        return _truth(text)
    if isinstance(column, (models.IntegerField, models.DecimalField)):
        return _number(column, text)
    if isinstance(column, models.DateTimeField):
        return _time(text)
    return word(column, text)


def word(column: "models.Field[Any, Any]", text: str) -> str:
    """The word of a vocabulary for a text, in any case and by older names; other texts unchanged."""
    words = _words(column)
    if not words or text in words:
        return text
    plain = text.strip().upper().replace("-", "_").replace(" ", "_")
    alias = _ALIASES.get(column.attname)
    older = alias(plain) if alias else None
    return str(older) if older else plain if plain in words else text


@cache
def _words(column: "models.Field[Any, Any]") -> frozenset[str]:
    return frozenset(str(value) for value, _ in column.flatchoices)


def _document(text: str) -> Json:
    try:
        return read_json(text)
    except NoJson as error:
        place = f" at line {error.line}, column {error.column}" if error.line else ""
        raise ValueRefused(f"This is not valid JSON: {error.problem.rstrip('.')}{place}.") from None


def _truth(text: str) -> bool:
    plain = text.strip().lower()
    if plain in _TRUE or plain in _FALSE:
        return plain in _TRUE
    raise ValueRefused(f"{shorten_value(text)} is not valid. Enter true or false.")


def _number(column: "models.Field[Any, Any]", text: str) -> int | float:
    whole = isinstance(column, models.IntegerField)
    try:
        return int(text) if whole else float(text)
    except ValueError:
        raise ValueRefused(
            f"{shorten_value(text)} is not valid. It must be {'a whole number' if whole else 'a number'}."
        ) from None


def _time(text: str) -> str:
    try:
        found = datetime.fromisoformat(text.strip())
    except ValueError:
        raise ValueRefused(
            f"{shorten_value(text)} is not valid. Enter a time, for example 2026-01-31T12:00:00Z."
        ) from None
    return (found if found.tzinfo else found.replace(tzinfo=UTC)).isoformat()
