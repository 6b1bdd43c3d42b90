"""What the tables of the record share."""

from typing import Any, ClassVar, NoReturn

from django.db import models

from convengine.server.database.sealed_tables import PurgedQuerySet, SealedModel, SealedQuerySet


class AppendOnly(SealedModel):
    """Rows that are written once, by the turn's commit; only retention removes them."""

    objects: ClassVar[Any] = PurgedQuerySet.as_manager()

    class Meta:
        abstract = True


class ReadOnlyView(models.Model):
    """Rows of a view of the database."""

    objects: ClassVar[Any] = SealedQuerySet.as_manager()

    class Meta:
        abstract = True
        managed = False

    def save(self, *args: Any, **options: Any) -> NoReturn:
        raise TypeError(f"{self._meta.db_table} is a view: its rows are read-only.")

    def delete(self, *args: Any, **options: Any) -> NoReturn:
        raise TypeError(f"{self._meta.db_table} is a view: its rows are read-only.")
