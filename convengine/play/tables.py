"""Rows of a world: models by the name of their table, columns by their name.

The models belong to other apps, so they come from Django's registry.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from typing import Any

from django.apps import apps
from django.core.exceptions import ValidationError
from django.db import DatabaseError, models, transaction

from convengine.json_value import Json
from convengine.play.schema import ScenarioFileError, describe_unknown
from convengine.server.interfaces.older_templates import convert_row

Row = Mapping[str, Json]
#: Renamed columns: (table, name in scenarios) -> our name.
RENAMED: Mapping[tuple[str, str], str] = {("ce_prompt_template", "output_format"): "response_type"}
_PREFIX = "ce_"
#: Its `_history` rows are turns, not old versions.
_CONVERSATION = "ce_conversation"


@cache
def models_of_worlds() -> dict[str, type[models.Model]]:
    """Every model whose table a world may fill, by table name; histories are written automatically."""
    models = {model._meta.db_table: model for model in apps.get_models()}
    return {
        name: model
        for name, model in models.items()
        if name.startswith(_PREFIX) and name.removesuffix("_history") not in models.keys() - {name, _CONVERSATION}
    }


def check_table(table: str, location: str) -> None:
    """Raises ScenarioFileError for an unknown table."""
    if table not in models_of_worlds():
        raise ScenarioFileError(location, describe_unknown(table, models_of_worlds(), "table"))


def check_columns(names: Iterable[str], table: str, location: str) -> None:
    """Raises ScenarioFileError for an unknown column."""
    columns = columns_of(models_of_worlds()[table])
    for name in names:
        if RENAMED.get((table, name), name) not in columns:
            raise ScenarioFileError(f"{location}.{name}", describe_unknown(name, columns, f"column of {table}"))


def read_row(row: Row, table: str, location: str) -> Row:
    """A row with our column names and converted values. Raises ScenarioFileError."""
    check_columns(row, table, location)
    columns = columns_of(models_of_worlds()[table])
    values: dict[str, Json] = {}
    for name, value in row.items():
        column = RENAMED.get((table, name), name)
        try:
            values[column] = _convert_value(columns[column], value)
        except ValidationError as error:
            raise ScenarioFileError(f"{location}.{name}", "; ".join(error.messages)) from None
        except OverflowError as error:
            raise ScenarioFileError(f"{location}.{name}", f"{error}.") from None
    # A world is an import: its older template forms become Jinja2.
    return {**values, **convert_row(table, values)[0]}


def columns_of(model: type[models.Model]) -> "dict[str, models.Field[Any, Any]]":
    """The columns of a model by their database name."""
    return {field.attname: field for field in model._meta.concrete_fields}


def insert(table: str, rows: Iterable[Row]) -> None:
    """Store rows without the save checks. Raises ScenarioFileError when the database refuses them."""
    model = models_of_worlds()[table]
    made = [model(**row) for row in rows]
    with explain_errors(table), transaction.atomic():
        # Given ids first, so that the database continues after them.
        for given in (True, False):
            if batch := [row for row in made if (row.pk is not None) is given]:
                model._default_manager.bulk_create(batch)


def update(table: str, where: Row, values: Row) -> None:
    """Change the matching rows, one by one as the admin does. Raises ScenarioFileError."""
    with explain_errors(table), transaction.atomic():
        for row in _find_rows(table, where):
            for column, value in values.items():
                setattr(row, column, value)
            row.save()


def delete(table: str, where: Row) -> None:
    """Delete the matching rows. Raises ScenarioFileError."""
    with explain_errors(table), transaction.atomic():
        for row in _find_rows(table, where):
            row.delete()


def _find_rows(table: str, where: Row) -> list[models.Model]:
    query = models_of_worlds()[table]._default_manager.all()
    for column, value in where.items():
        query = query.filter(**{f"{column}__isnull": True} if value is None else {column: value})
    return list(query.order_by("pk"))


def _convert_value(field: "models.Field[Any, Any]", value: Json) -> Json:
    if value is None or isinstance(field, models.JSONField):
        return value
    if isinstance(value, (dict, list)):
        # A document in a text column.
        return json.dumps(value, ensure_ascii=False)
    return field.to_python(value)


@contextmanager
def explain_errors(table: str) -> Iterator[None]:
    """Turn a database error about a world's rows into an error of the file. `table`: the key with the rows."""
    try:
        yield
    except (DatabaseError, TypeError, ValueError, OverflowError) as error:
        raise ScenarioFileError(table, f"the database refuses a row: {error}") from error
