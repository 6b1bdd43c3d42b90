"""How ready the schema is for a database that is distributed by conversation: `python -m tests.sharding` lists it.

The rules are those of such databases (Citus): the key is a column of each table, never null, in each unique constraint
and each foreign key; and no primary key comes from a sequence that all shards share.
"""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import django

KEY = "conversation_id"
_HEADER = "| table | has the key | lacks |"
#: Columns that name a turn.
_TURN_KEYS = {"turn_id", "history_id"}
#: The apps whose tables have conversations and what they leave.
APPS = ("ce_sessions", "audit", "ce_executors", "ce_jobs", "ce_api", "ce_webhooks", "ce_queued", "ce_channels")


@dataclass(frozen=True)
class TableReadiness:
    """What a table lacks; nothing if it is ready."""

    table: str
    is_scoped: bool
    gaps: tuple[str, ...]

    def format_row(self) -> str:
        """A row of the table."""
        if not self.is_scoped and self.gaps:
            return f"| `{self.table}` | no | {'; '.join(self.gaps)} |"
        if not self.is_scoped:
            return f"| `{self.table}` | no | stays on one node, or is copied to all |"
        return f"| `{self.table}` | yes | {'; '.join(self.gaps) or 'ready'} |"


def list_tables() -> list[TableReadiness]:
    """All stored tables of these apps, by name."""
    from django.apps import apps

    models = [
        model
        for app in apps.get_app_configs()
        if app.label in APPS
        for model in app.get_models(include_auto_created=True)
        if model._meta.managed and not model._meta.proxy
    ]
    return sorted((_check_table(model) for model in models), key=lambda readiness: readiness.table)


def _check_table(model: Any) -> TableReadiness:
    columns = {field.column: field for field in model._meta.concrete_fields}
    is_scoped = KEY in columns
    if is_scoped:
        return TableReadiness(model._meta.db_table, True, tuple(_list_gaps(model)))
    gaps = ("the key: its rows belong to turns",) if _TURN_KEYS & columns.keys() else ()
    return TableReadiness(model._meta.db_table, False, gaps)


def _list_gaps(model: Any) -> Iterator[str]:
    from django.db import models

    columns = {field.column: field for field in model._meta.concrete_fields}
    if columns[KEY].null:
        yield "the key may be null"
    primary = model._meta.pk
    assert primary is not None
    if primary.column != KEY:
        sequence = ", from a sequence" if isinstance(primary, models.AutoField) else ""
        yield f"primary key `{primary.column}` without the key{sequence}"
    for constraint in model._meta.constraints:
        if isinstance(constraint, models.UniqueConstraint):
            names = {model._meta.get_field(name).column for name in constraint.fields}
            if KEY not in names:
                yield f"unique {', '.join(f'`{name}`' for name in sorted(names))} without the key"
    for field in model._meta.concrete_fields:
        if field.unique and not field.primary_key and field.column != KEY:
            yield f"unique `{field.column}` without the key"
        other: Any = field.related_model
        if field.is_relation and field.column != KEY:
            if KEY in {column.column for column in other._meta.concrete_fields}:
                yield f"foreign key `{field.column}` without the key"
            else:
                yield f"foreign key `{field.column}` to `{other._meta.db_table}`, which is not distributed"


def format_table() -> str:
    """What each table lacks, as Markdown."""
    rows = [readiness.format_row() for readiness in list_tables()]
    return "\n".join([_HEADER, "|---|---|---|", *rows])


if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "convengine.settings")
    django.setup()
    print(format_table())
