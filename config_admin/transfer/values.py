"""Single values of files, converted to the type of their column; an invalid value is reported, never guessed."""

from datetime import datetime
from decimal import Decimal
from math import isfinite
from typing import Any

from django.core.exceptions import ValidationError
from django.db import models

from config_admin.releases.content import as_json
from convengine.engine.text.compare import shorten, storable
from convengine.engine.turn.codec import TOO_DEEP, is_too_deep

Json = Any
Column = "models.Field[Any, Any]"
_KINDS: tuple[tuple[type[Any], tuple[type, ...], str], ...] = (
    (models.BooleanField, (bool,), "true or false"),
    (models.IntegerField, (int,), "a whole number"),
    (models.DecimalField, (int, float), "a number"),
    (models.DateTimeField, (str,), "a time, for example 2026-01-31T12:00:00Z"),
)
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
        if problem := _unfit(value):
            raise ValueRefused(problem)
        return value
    kinds, wanted = _expected_type(column)
    if not isinstance(value, kinds) or (isinstance(value, bool) and bool not in kinds):
        raise ValueRefused(f"{shorten_value(value)} is not valid. It must be {wanted}.")
    if isinstance(value, str) and storable(value) != value:
        raise ValueRefused(_NO_TEXT)
    try:
        return as_json(_read(column, value))
    except (ValidationError, ValueError, OverflowError):
        raise ValueRefused(f"{shorten_value(value)} is not valid. It must be {wanted}.") from None


def invalid(column: "models.Field[Any, Any]", value: Json) -> str | None:
    """The error of the column's own limits, or null."""
    if value is None:
        return None if column.null else "This value is required."
    try:
        column.run_validators(column.to_python(str(value)) if isinstance(column, models.DecimalField) else value)
    except ValidationError as error:
        return f"{shorten_value(value)} received: {' '.join(error.messages)}"
    return None


def default(column: "models.Field[Any, Any]") -> Json:
    """The default of a column for a new row."""
    return as_json(column.get_default())


def _unfit(value: Json) -> str | None:
    """Why no database accepts a document; null when all do."""
    if isinstance(value, str):
        return None if storable(value) == value else _NO_TEXT
    if isinstance(value, float):
        return None if isfinite(value) else f"{value} is not a JSON value."
    inner = [*value, *value.values()] if isinstance(value, dict) else value if isinstance(value, list) else ()
    return next((problem for one in inner if (problem := _unfit(one))), None)


def _expected_type(column: "models.Field[Any, Any]") -> tuple[tuple[type, ...], str]:
    for kind, types, wanted in _KINDS:
        if isinstance(column, kind):
            return types, wanted
    return (str,), "a text in quotes"


def _read(column: "models.Field[Any, Any]", value: Json) -> Any:
    if isinstance(column, models.DateTimeField):
        found = datetime.fromisoformat(value)
        if found.tzinfo is None:
            raise ValueError(value)
        return found
    return column.to_python(Decimal(str(value)) if isinstance(column, models.DecimalField) else value)


def shorten_value(value: Json) -> str:
    """A value for a message, shortened."""
    return shorten(repr(value), 80)
