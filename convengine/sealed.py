"""Tables whose rows are written once: releases, and what is kept of turns (R57, R84; tables 6.3).

Refused by the model, by its queries, and by the database itself, so that a script, a shell and somebody's SQL meet
the same wall. Rows of turns leave by `purge` (retention) or with a partition; releases never do.
"""

from collections.abc import Iterable, Iterator
from typing import Any, ClassVar, NoReturn

from django.db import models
from django.db.backends.base.base import BaseDatabaseWrapper


class SealedQuerySet(models.QuerySet[Any]):
    """Queries that read and insert."""

    def update(self, **values: Any) -> NoReturn:
        """Raises TypeError."""
        raise _refused(self.model)

    def bulk_update(self, *args: Any, **options: Any) -> NoReturn:
        """Raises TypeError."""
        raise _refused(self.model)

    def delete(self) -> NoReturn:
        """Raises TypeError."""
        raise _refused(self.model)

    delete.alters_data = True  # type: ignore[attr-defined]
    delete.queryset_only = True  # type: ignore[attr-defined]

    def bulk_create(self, objs: Iterable[Any], *args: Any, **options: Any) -> list[Any]:
        """As Django's. Raises TypeError where it would change rows that are there."""
        if options.get("update_conflicts"):
            raise _refused(self.model)
        return super().bulk_create(objs, *args, **options)


class PurgedQuerySet(SealedQuerySet):
    """The same for rows that are kept for a while only."""

    def purge(self) -> int:
        """Take these rows out for ever; how many. For retention jobs and for erasing a person's data, nothing else."""
        return int(self._raw_delete(self.db) or 0)

    purge.alters_data = True  # type: ignore[attr-defined]
    purge.queryset_only = True  # type: ignore[attr-defined]


class Sealed(models.Model):
    """A row that is written once."""

    objects: ClassVar[Any] = SealedQuerySet.as_manager()

    class Meta:
        abstract = True

    def save(self, *args: Any, **options: Any) -> None:
        """Insert. Raises TypeError for a stored row."""
        if not self._state.adding:
            raise _refused(type(self))
        super().save(*args, **options)

    def delete(self, *args: Any, **options: Any) -> NoReturn:
        """Raises TypeError."""
        raise _refused(type(self))


def _refused(model: type[models.Model]) -> TypeError:
    return TypeError(f"{model._meta.db_table} is append-only: its rows are immutable.")


def seal(connection: BaseDatabaseWrapper, tables: Iterable[str], *, for_ever: bool, unless: str = "FALSE") -> None:
    """Put the triggers on the tables that refuse a change of a row, whoever makes it; those that are there stay.

    `for_ever`: taking rows out is refused as well, on PostgreSQL; there emptying the whole table is another thing, on
    SQLite `flush` does it row by row. `unless` is an SQL condition under which a change is let through.
    Called after every migration: SQLite rebuilds a table to alter it, and its triggers do not come along.
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
    # Not replaced at every start: that would wait for whoever writes, and they for it.
    yield f"""
        DO $$ BEGIN
            IF NOT EXISTS (SELECT 1 FROM pg_trigger
                            WHERE tgname = '{table}_sealed' AND tgrelid = '{table}'::regclass) THEN
                CREATE TRIGGER {table}_sealed BEFORE {events} ON {table}
                    FOR EACH ROW EXECUTE FUNCTION {table}_sealed();
            END IF;
        END $$"""  # noqa: S608


def _sqlite(table: str, *, for_ever: bool, unless: str) -> Iterator[str]:
    yield (
        f"CREATE TRIGGER IF NOT EXISTS {table}_sealed BEFORE UPDATE ON {table} FOR EACH ROW WHEN NOT ({unless})"
        f" BEGIN SELECT RAISE(ABORT, '{table} is append-only'); END"
    )
