"""Tables whose rows are written once: releases, and the record of turns.

The model, its queries and the database refuse changes, so that scripts, shells and SQL are all stopped. Rows of turns
are removed by `purge` (retention); releases never.
"""

from collections.abc import Iterable, Iterator
from typing import Any, ClassVar, NoReturn

from django.db import models
from django.db.backends.base.base import BaseDatabaseWrapper


class SealedQuerySet(models.QuerySet[Any]):
    """Queries that read and insert only."""

    def update(self, **values: Any) -> NoReturn:
        raise _refusal(self.model)

    def bulk_update(self, *args: Any, **options: Any) -> NoReturn:
        raise _refusal(self.model)

    def delete(self) -> NoReturn:
        raise _refusal(self.model)

    delete.alters_data = True  # type: ignore[attr-defined]
    delete.queryset_only = True  # type: ignore[attr-defined]

    def bulk_create(self, objs: Iterable[Any], *args: Any, **options: Any) -> list[Any]:
        """As in Django. Raises TypeError if it would change existing rows."""
        if options.get("update_conflicts"):
            raise _refusal(self.model)
        return super().bulk_create(objs, *args, **options)


class PurgedQuerySet(SealedQuerySet):
    """Queries of rows that are kept for a limited time: only retention and erasures remove them."""

    def purge(self) -> int:
        """Delete these rows for good and return their number. Only for retention and erasure."""
        return int(self._raw_delete(self.db) or 0)

    purge.alters_data = True  # type: ignore[attr-defined]
    purge.queryset_only = True  # type: ignore[attr-defined]


class SealedModel(models.Model):
    """A row that is written once."""

    objects: ClassVar[Any] = SealedQuerySet.as_manager()

    class Meta:
        abstract = True

    def save(self, *args: Any, **options: Any) -> None:
        """Insert. Raises TypeError for a stored row."""
        if not self._state.adding:
            raise _refusal(type(self))
        super().save(*args, **options)

    def delete(self, *args: Any, **options: Any) -> NoReturn:
        raise _refusal(type(self))


def _refusal(model: type[models.Model]) -> TypeError:
    return TypeError(f"{model._meta.db_table} is append-only: its rows are immutable.")


def seal_tables(
    connection: BaseDatabaseWrapper, tables: Iterable[str], *, for_ever: bool, unless: str = "FALSE"
) -> None:
    """Add the triggers that refuse changes of rows, unless they exist.

    `for_ever`: deleting rows is refused as well, on PostgreSQL; on SQLite `flush` deletes row by row. `unless` is an
    SQL condition under which a change is allowed. Called after every migration, because SQLite loses a table's triggers
    when it alters the table.
    """
    make = _postgresql if connection.vendor == "postgresql" else _sqlite
    with connection.cursor() as cursor:
        for table in tables:
            for statement in make(table, for_ever=for_ever, unless=unless):
                cursor.execute(statement)


def _postgresql(table: str, *, for_ever: bool, unless: str) -> Iterator[str]:
    events = "UPDATE OR DELETE" if for_ever else "UPDATE"
    yield f"""
        CREATE OR REPLACE FUNCTION {table}_sealed() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
            IF {unless} THEN RETURN NEW; END IF;
            RAISE EXCEPTION '{table} is append-only' USING ERRCODE = 'restrict_violation';
        END $$"""
    # Not replaced at every start, which would wait for writers, and make them wait.
    yield f"""
        DO $$ BEGIN
            IF NOT EXISTS (SELECT 1 FROM pg_trigger
                            WHERE tgname = '{table}_sealed' AND tgrelid = '{table}'::regclass) THEN
                CREATE TRIGGER {table}_sealed BEFORE {events} ON {table}
                    FOR EACH ROW EXECUTE FUNCTION {table}_sealed();
            END IF;
        END $$"""


def _sqlite(table: str, *, for_ever: bool, unless: str) -> Iterator[str]:
    yield (
        f"CREATE TRIGGER IF NOT EXISTS {table}_sealed BEFORE UPDATE ON {table} FOR EACH ROW WHEN NOT ({unless})"
        f" BEGIN SELECT RAISE(ABORT, '{table} is append-only'); END"
    )
