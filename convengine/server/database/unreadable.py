"""Read tables although a row has a value that its column cannot hold: SQLite stores any value in any column."""

import uuid
from collections.abc import Iterator
from datetime import date, datetime
from decimal import InvalidOperation
from typing import Any

from django.core.exceptions import ValidationError
from django.db import OperationalError, connection, models

#: Shown instead of such a value.
UNREADABLE = "(unreadable)"
#: What Django and the driver raise for some of them.
_REFUSED = (ValueError, TypeError, AttributeError, OverflowError, InvalidOperation, OperationalError)
#: What a column holds; the driver gives other values unchanged.
_KINDS: tuple[tuple[Any, tuple[type, ...]], ...] = (
    (models.DateTimeField, (datetime,)),
    (models.DateField, (date,)),
    (models.BooleanField, (bool,)),
    (models.IntegerField, (int,)),
    (models.UUIDField, (uuid.UUID,)),
    (models.BinaryField, (bytes, memoryview)),
    (models.TextField, (str,)),
)
#: Rows per read.
_ROWS = 2000


def read_rows(rows: models.QuerySet[Any]) -> list[Any]:
    """The rows of a query; those with an unreadable value have UNREADABLE instead."""
    if connection.vendor != "sqlite":
        return list(rows.all())
    try:
        return [mark_unreadable(row) for row in rows.all()]
    except _REFUSED as refused:
        _raise_failure(refused)
        return [_read_by_column(rows.model, key) for key in rows.values_list("pk", flat=True)]


def read_row(model: type[models.Model], key: Any) -> Any:
    """One row, likewise; null when there is none."""
    try:
        exists = model._base_manager.filter(pk=key).exists()
    except (ValueError, ValidationError):
        return None
    return _read_by_column(model, key) if exists else None


def iterate_values(rows: models.QuerySet[Any], *columns: str) -> Iterator[dict[str, Any]]:
    """All rows by primary key, page by page, as {column: value}; of an unreadable one only the key."""
    last, in_order = None, rows.order_by("pk")
    while True:
        page = in_order if last is None else in_order.filter(pk__gt=last)
        try:
            values = list(page.values("pk", *columns)[:_ROWS])
        except _REFUSED as refused:
            _raise_failure(refused)
            keys = page.values_list("pk", flat=True)[:_ROWS]
            values = [_read_values(rows, key, columns) for key in keys]
        yield from (_drop_unreadable(rows.model, row) for row in values)
        if len(values) < _ROWS:
            return
        last = values[-1]["pk"]


def format_minute(at: datetime | str) -> str:
    """A time to the minute, or UNREADABLE."""
    return at if isinstance(at, str) else f"{at:%Y-%m-%d %H:%M}"


def _read_by_column(model: type[models.Model], key: Any) -> Any:
    rows = model._base_manager.filter(pk=key)
    names = [column.attname for column in model._meta.concrete_fields]
    return mark_unreadable(model.from_db(rows.db, names, [_read_value(rows, name) for name in names]))


def mark_unreadable(row: Any) -> Any:
    """The row with UNREADABLE instead of values that their columns cannot hold."""
    for column in row._meta.concrete_fields:
        if column.attname in vars(row) and not _is_readable(column, vars(row)[column.attname]):
            setattr(row, column.attname, UNREADABLE)
    return row


def _is_readable(column: Any, value: Any) -> bool:
    if value is None:
        return bool(column.null)
    if value == UNREADABLE:
        return False
    kinds = next((kinds for kind, kinds in _KINDS if isinstance(column, kind)), (object,))
    return isinstance(value, kinds)


def _drop_unreadable(model: type[models.Model], row: dict[str, Any]) -> dict[str, Any]:
    if connection.vendor != "sqlite":
        return row
    columns = {column.attname: column for column in model._meta.concrete_fields}
    is_readable = all(_is_readable(columns[name], value) for name, value in row.items() if name in columns)
    return row if is_readable else {"pk": row["pk"]}


def _read_values(rows: models.QuerySet[Any], key: Any, columns: tuple[str, ...]) -> dict[str, Any]:
    try:
        values: dict[str, Any] = rows.values("pk", *columns).get(pk=key)
    except _REFUSED as refused:
        _raise_failure(refused)
        return {"pk": key}
    return values


def _read_value(rows: models.QuerySet[Any], name: str) -> Any:
    try:
        return rows.values_list(name, flat=True).get()
    except _REFUSED as refused:
        _raise_failure(refused)
        return UNREADABLE


def _raise_failure(refused: Exception) -> None:
    """Raise again what is no matter of a value, such as a lost connection."""
    if isinstance(refused, OperationalError) and "decode" not in str(refused):
        raise refused
