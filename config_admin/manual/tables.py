"""Chapters of the tables: every column with the help of its form field, or of `columns`."""

from collections.abc import Iterator
from typing import Any

from django.apps import apps
from django.db import models

from config_admin.manual.columns import column_help
from config_admin.manual.entry import Chapter, Choice, Entry, plain
from config_admin.manual.see_also import FURTHER
from config_admin.validation.columns import get_column_spec
from convengine.engine.rules.vocabulary import list_actions
from convengine.engine.turn.enums import RuleAction, Word
from convengine.engine.turn.rows import ROW_TYPE_OF
from convengine.server.admin_site.layout import SECTIONS

CONFIGURATION, RECORD = "Tables of the configuration", "Tables of the audit trail and sessions"


def chapters() -> Iterator[Chapter]:
    """A chapter for each table, those of the configuration first."""
    ours = [model for model in apps.get_models() if model._meta.db_table.startswith("ce_") and not _is_history(model)]
    for model in sorted(ours, key=lambda one: (one._meta.db_table not in ROW_TYPE_OF, one._meta.db_table)):
        table = model._meta.db_table
        about = " ".join(filter(None, [_PLACED.get(model._meta.label, ""), plain(model.__doc__)]))
        part = CONFIGURATION if table in ROW_TYPE_OF else RECORD
        title = f"{str(model._meta.verbose_name)[:1].upper()}{str(model._meta.verbose_name)[1:]}"
        itself = Entry(table, title, about, table, chapters=FURTHER.get(table, ()))
        yield Chapter(
            table, title, about, (itself, *(_column(model, one) for one in model._meta.concrete_fields)), part
        )


#: Columns of every table, after those of the table itself.
_STAMPS = ("created_at", "updated_at", "updated_by")
#: The help of a model's page in the sidebar.
_PLACED = {entry.model: entry.help for place in reversed(SECTIONS) for entry in reversed(place.entries)}


def _is_history(model: type[models.Model]) -> bool:
    return hasattr(model, "history_type")


def _column(model: type[models.Model], field: Any) -> Entry:
    table = model._meta.db_table
    vocabulary = _vocabulary(field)
    help = str(field.help_text) or get_column_spec(field).help
    text = help or (plain(vocabulary.__doc__) if vocabulary else "") or column_help(table, field.name)
    if not text and field.primary_key:
        text = "The number of the row."
    title = str(field.verbose_name)
    return Entry(
        f"{table}.{field.name}",
        f"{title[:1].upper()}{title[1:]}",
        text,
        field.column,
        tuple(_facts(field)),
        tuple(_choices(vocabulary)),
        FURTHER.get(f"{table}.{field.name}") or FURTHER.get(table, ()),
    )


def _choices(vocabulary: type[Word] | None) -> Iterator[Choice]:
    if vocabulary is RuleAction:
        yield from (Choice(action.name, action.label, action.help) for action in list_actions().values())
    else:
        yield from (Choice(word.value, word.label, word.help) for word in vocabulary or ())


def _vocabulary(field: Any) -> type[Word] | None:
    source = getattr(getattr(field.choices, "func", None), "__self__", None)
    return source if isinstance(source, type) and issubclass(source, Word) else None


def _facts(field: Any) -> Iterator[tuple[str, str]]:
    if field.has_default() and not callable(field.default) and field.default not in ("", None):
        value = field.default
        yield "Default", {True: "on", False: "off"}.get(value, str(value)) if isinstance(value, bool) else str(value)
    if field.unique and not field.primary_key:
        yield "Unique", "Values must be unique."
    if not field.choices and (getattr(field, "max_length", None) or 999) <= 200:
        yield "Maximum length", f"{field.max_length} characters"
