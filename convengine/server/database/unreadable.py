"""Read tables although a row has a value that cannot be read.

SQLite stores any value in any column. On PostgreSQL a disk may damage a large value, which then cannot be decompressed.
"""

import uuid
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from datetime import date, datetime
from decimal import InvalidOperation
from typing import Any

from django.core.exceptions import ValidationError
from django.db import InternalError, OperationalError, connection, models

#: Shown instead of such a value.
UNREADABLE = "(unreadable)"
#: What Django and the driver raise for some of them.
_REFUSED = (ValueError, TypeError, AttributeError, OverflowError, InvalidOperation, OperationalError, InternalError)
#: The state of a statement of PostgreSQL that met a damaged value.
_DAMAGED = "XX001"
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
    try:
        with protect_transaction():
            read = list(rows.all())
        return [mark_unreadable(row) for row in read] if connection.vendor == "sqlite" else read
    except _REFUSED as refused:
        _raise_failure(refused)
        return [_read_by_column(rows, key) for key in rows.values_list("pk", flat=True)]


def read_values(rows: models.QuerySet[Any], *columns: str) -> list[dict[str, Any]]:
    """The rows as {column or annotation: value}, without making objects: for many rows that need no check."""
    try:
        with protect_transaction():
            return list(rows.values(*columns))
    except _REFUSED as refused:
        _raise_failure(refused)
        each = rows.model._base_manager.annotate(**rows.query.annotations)
        keys = rows.values_list("pk", flat=True)
        return [{name: _read_value(each.filter(pk=key), name) for name in columns} for key in keys]


def read_row(model: type[models.Model], key: Any) -> Any:
    """Read one row, with UNREADABLE instead of unreadable values. Returns None if there is no such row."""
    try:
        exists = model._base_manager.filter(pk=key).exists()
    except (ValueError, ValidationError):
        return None
    return _read_by_column(model._base_manager.all(), key) if exists else None


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
    return at if isinstance(at, str) else f"{at:%Y-%m-%d %H:%M}"


@contextmanager
def read_any_text() -> Iterator[None]:
    """Read texts by hand although they are no UTF-8, which SQLite stores as well."""
    if connection.vendor != "sqlite":
        yield
        return
    raw = connection.connection
    before, raw.text_factory = raw.text_factory, lambda data: data.decode("utf-8", "replace")
    try:
        yield
    finally:
        raw.text_factory = before


def protect_transaction() -> Any:
    """PostgreSQL accepts no other statement in a transaction after a failure, except behind a savepoint."""
    if connection.vendor != "postgresql":
        return nullcontext()
    connection.ensure_connection()
    raw: Any = connection.connection
    return nullcontext() if raw.info.transaction_status == raw.info.transaction_status.IDLE else raw.transaction()


def _read_by_column(rows: models.QuerySet[Any], key: Any) -> Any:
    model, (listed, is_deferred) = rows.model, rows.query.deferred_loading
    columns = [
        column.attname
        for column in model._meta.concrete_fields
        if column.primary_key or (column.name in listed or column.attname in listed) != is_deferred
    ]
    row = model._base_manager.filter(pk=key)
    return mark_unreadable(model.from_db(rows.db, columns, [_read_value(row, name) for name in columns]))


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
        with protect_transaction():
            return rows.values_list(name, flat=True).get()
    except _REFUSED as refused:
        _raise_failure(refused)
        return UNREADABLE


def _raise_failure(refused: Exception) -> None:
    """Raise again what is no matter of a value, such as a lost connection."""
    if isinstance(refused, OperationalError) and "decode" not in str(refused):
        raise refused
    # PostgreSQL raises this one when a value is damaged.
    if isinstance(refused, InternalError) and getattr(refused.__cause__, "sqlstate", "") != _DAMAGED:
        raise refused
