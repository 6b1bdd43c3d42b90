"""Rows of the database as JSON values; a value that its column cannot hold affects its own row only.

Plain SQL, because the ORM fails for the whole table on one broken document or time, and takes three times as long for
ten thousand rows. SQLite stores any value in any column; PostgreSQL stores infinite times.
"""

import json
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from decimal import Decimal, InvalidOperation
from typing import Any
from uuid import UUID

from django.db import OperationalError, connection, models

from config_admin.releases.blobs import batches
from convengine.engine.turn.fault import mark_unreadable
from convengine.json_value import Json

Column = "models.Field[Any, Any]"
#: Exceptions of the converters below for an invalid value.
_REFUSED = (ValueError, TypeError, InvalidOperation, RecursionError)
_TIME_TEXT = 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'


def read(
    model: type[models.Model], columns: Mapping[str, "models.Field[Any, Any]"], pks: Collection[Any] | None = None
) -> Iterator[dict[str, Json]]:
    """The rows of a table, or those of the keys `pks`, as `{name: JSON value}`; see `convengine.engine.turn.fault`."""
    for rows in _fetch(model, list(columns.values()), pks):
        if rows:
            converted = [
                _convert_column(column, values)
                for column, values in zip(columns.values(), zip(*rows, strict=True), strict=True)
            ]
            yield from (dict(zip(columns, values, strict=True)) for values in zip(*converted, strict=True))


def _fetch(
    model: type[models.Model], columns: Sequence["models.Field[Any, Any]"], pks: Collection[Any] | None
) -> Iterator[list[tuple[Any, ...]]]:
    """The rows of a table as the driver gives them, in batches if they are selected by keys."""
    meta = model._meta
    assert meta.pk is not None
    shown = ", ".join(_select_expression(column) for column in columns)
    query = f"SELECT {shown} FROM {connection.ops.quote_name(meta.db_table)}"  # noqa: S608
    if pks is None:
        yield _run(query, [])
        return
    key = _quote(meta.pk)
    for batch in batches(pks):
        marks = ", ".join(["%s"] * len(batch))
        yield _run(f"{query} WHERE {key} IN ({marks})", [meta.pk.get_db_prep_value(pk, connection) for pk in batch])


def _quote(column: "models.Field[Any, Any]") -> str:
    assert column.column is not None
    return connection.ops.quote_name(column.column)


def _select_expression(column: "models.Field[Any, Any]") -> str:
    """A column in the SELECT, so that the driver neither converts nor refuses its value."""
    name = _quote(column)
    if connection.vendor == "sqlite":
        # As an expression: for a plain column the driver converts by the declared type, and reads `maybe` as false.
        return f"+{name}"
    if isinstance(column, models.DateTimeField):
        # As text: the driver cannot hold infinite times, and there would be no rows at all.
        return f"to_char({name} AT TIME ZONE 'UTC', '{_TIME_TEXT}')"
    return name


def _run(sql: str, values: list[Any]) -> list[tuple[Any, ...]]:
    """The rows of a statement. On SQLite, texts that are not UTF-8 come as bytes."""
    with connection.cursor() as cursor:
        try:
            cursor.execute(sql, values)
            return list(cursor.fetchall())
        except OperationalError as error:
            if connection.vendor != "sqlite" or "decode" not in str(error):
                raise
    return _run_leniently(sql, values)


def _run_leniently(sql: str, values: list[Any]) -> list[tuple[Any, ...]]:
    """On SQLite, rows with texts that are not UTF-8: such a text comes as bytes, which no column holds."""
    driver = connection.connection
    before, driver.text_factory = driver.text_factory, _decode_or_keep
    try:
        with connection.cursor() as cursor:
            cursor.execute(sql, values)
            return list(cursor.fetchall())
    finally:
        driver.text_factory = before


def _decode_or_keep(data: bytes) -> str | bytes:
    try:
        return data.decode()
    except UnicodeDecodeError:
        return data


# --- from driver values to JSON ---------------------------------------------------------------------------------


def _convert_column(column: "models.Field[Any, Any]", values: Sequence[Any]) -> Sequence[Json]:
    """The values of a column, converted together, because nearly always all of them are valid."""
    kind = getattr(column, "target_field", column)
    convert, kinds = _find_converter(kind)
    types = set(map(type, values))
    if convert is None and types <= kinds and not (type(None) in types and not column.null):
        return values
    return [_convert_value(kind, convert, kinds, value, nullable=column.null) for value in values]


def _convert_value(
    kind: "models.Field[Any, Any]",
    convert: Callable[[Any, Any], Json] | None,
    kinds: Collection[type],
    value: Any,
    *,
    nullable: bool,
) -> Json:
    """A value of the driver as JSON; one that the column cannot hold is marked as unreadable."""
    if value is None and nullable:
        return None
    if type(value) not in kinds:
        return mark_unreadable(value)
    try:
        return convert(kind, value) if convert and value is not None else value
    except _REFUSED:
        return mark_unreadable(value)


def _find_converter(column: "models.Field[Any, Any]") -> tuple[Callable[[Any, Any], Json] | None, frozenset[type]]:
    """The converter of a driver's value, or None if none is needed, and the types that it accepts.

    Raises TypeError for a column of another type.
    """
    for kind, convert, kinds in _CONVERTERS:
        if isinstance(column, kind):
            return convert, kinds
    raise TypeError(f"No column of the control plane is a {type(column).__name__}.")


def _read_document(_: Any, text: str) -> Json:
    return json.loads(text, parse_constant=_refuse)


def _refuse(name: str) -> Json:
    raise ValueError(f"{name} is not JSON")


def _read_flag(_: Any, value: int) -> bool:
    if value not in (0, 1):
        raise ValueError(value)
    return bool(value)


def _read_time(_: Any, text: str) -> str:
    moment = datetime.fromisoformat(text)
    if moment.tzinfo is not None:
        moment = moment.astimezone(UTC).replace(tzinfo=None)
    return f"{moment.isoformat(timespec='microseconds')}Z"


def _read_decimal(column: Any, value: Any) -> float:
    number = Decimal(str(value))
    if not number.is_finite():
        raise ValueError(value)
    return float(round(number, column.decimal_places))


def _read_uuid(_: Any, value: Any) -> str:
    return str(value if isinstance(value, UUID) else UUID(value))


_NULL = type(None)
_CONVERTERS: tuple[tuple[Any, Callable[[Any, Any], Json] | None, frozenset[type]], ...] = (
    (models.JSONField, _read_document, frozenset({str})),
    (models.DateTimeField, _read_time, frozenset({str})),
    (models.UUIDField, _read_uuid, frozenset({str, UUID})),
    (models.BooleanField, _read_flag, frozenset({int, bool})),
    (models.DecimalField, _read_decimal, frozenset({int, float, Decimal})),
    (models.IntegerField, None, frozenset({int, _NULL})),
    (models.AutoField, None, frozenset({int, _NULL})),
    ((models.CharField, models.TextField), None, frozenset({str, _NULL})),
)
