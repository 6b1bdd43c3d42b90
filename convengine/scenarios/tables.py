"""Rows of a world: models found by the name of their table, columns by their name (scenario format 4).

The models belong to other apps, which this one does not know; Django's registry does.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from django.apps import apps
from django.core.exceptions import ValidationError
from django.db import DatabaseError, models, transaction

from convengine.scenarios.reading import Node
from convengine.scenarios.wording import ScenarioFileError, known

Json = Any
Row = Mapping[str, Json]
#: Columns that have another name here: (table, name in scenarios) -> name of ours.
RENAMED: Mapping[tuple[str, str], str] = {("ce_prompt_template", "output_format"): "response_type"}
_PREFIX = "ce_"
#: Its `_history` are turns, not old versions of its rows.
_CONVERSATION = "ce_conversation"


def models_of_worlds() -> dict[str, type[models.Model]]:
    """Every model whose table a world may fill, by the table's name; the history of rows is written by itself."""
    found = {model._meta.db_table: model for model in apps.get_models()}
    return {
        name: model
        for name, model in found.items()
        if name.startswith(_PREFIX) and name.removesuffix("_history") not in found.keys() - {name, _CONVERSATION}
    }


def read_table(table: Node, name: str) -> type[models.Model]:
    """The model of a table. Raises ScenarioFileError when there is none."""
    found = models_of_worlds()
    if name not in found:
        raise table.error(known(name, found, "table"))
    return found[name]


def read_row(row: Node, model: type[models.Model]) -> Row:
    """A row, its columns under our names and its values as the columns take them. Raises ScenarioFileError."""
    columns = columns_of(model)
    values: dict[str, Json] = {}
    for name, node in row.entries().items():
        column = RENAMED.get((model._meta.db_table, name), name)
        if column not in columns:
            raise node.error(known(name, columns, f"column of {model._meta.db_table}"))
        values[column] = _value(columns[column], node)
    return values


def columns_of(model: type[models.Model]) -> "dict[str, models.Field[Any, Any]]":
    """The columns of a model by the name that they have in the database."""
    return {field.attname: field for field in model._meta.concrete_fields}


def insert(table: str, rows: Iterable[Row]) -> None:
    """Store rows, without the checks of a form. Raises ScenarioFileError when the database refuses them."""
    model = models_of_worlds()[table]
    made = [model(**row) for row in rows]
    with _explained(table), transaction.atomic():
        # Given ids first: the database then counts on from them, instead of into them.
        for given in (True, False):
            if batch := [row for row in made if (row.pk is not None) is given]:
                model._default_manager.bulk_create(batch)


def update(table: str, where: Row, values: Row) -> None:
    """Change the rows that fit, one by one as the admin does. Raises ScenarioFileError."""
    with _explained(table), transaction.atomic():
        for row in _found(table, where):
            for column, value in values.items():
                setattr(row, column, value)
            row.save()


def delete(table: str, where: Row) -> None:
    """Delete the rows that fit. Raises ScenarioFileError."""
    with _explained(table), transaction.atomic():
        for row in _found(table, where):
            row.delete()


def _found(table: str, where: Row) -> list[models.Model]:
    query = models_of_worlds()[table]._default_manager.all()
    for column, value in where.items():
        query = query.filter(**{f"{column}__isnull": True} if value is None else {column: value})
    return list(query.order_by("pk"))


def _value(field: "models.Field[Any, Any]", node: Node) -> Json:
    value = node.value
    if value is None or isinstance(field, models.JSONField):
        return value
    if isinstance(value, (dict, list)):
        # A text column that holds a document.
        return json.dumps(value, ensure_ascii=False)
    try:
        return field.to_python(value)
    except ValidationError as error:
        raise node.error("; ".join(error.messages)) from None


@contextmanager
def _explained(table: str) -> Iterator[None]:
    """What the database says about a world's rows is an error of the file."""
    try:
        yield
    except (DatabaseError, TypeError, ValueError) as error:
        raise ScenarioFileError(table, f"the database refuses a row: {error}") from error
