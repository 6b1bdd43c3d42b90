"""Tables whose rows may change, but only by the product: `audit` seals each state of a row.

Saving, updating and deleting with Django notes the state in the same transaction. Statements that bypass Django are
reported when the record is verified.
"""

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any, ClassVar, Protocol, Self, TypeVar

from django.db import models, transaction

from convengine.server.deployment import conf

Row = TypeVar("Row", bound=models.Model)


class SealedStates(Protocol):
    """Notes what the product makes of rows."""

    def note_states(self, model: Any, changed: Iterable[Any], removed: Iterable[Any] = (), /) -> None:
        """Seal the present state of changed rows of a `SealedStateModel`, and that others were removed, by their keys.

        Needs an open transaction.
        """


sealed_states: Callable[[], SealedStates] = partial(conf.load, "SEALED_STATES")


class SealedStateQuerySet(models.QuerySet[Row]):
    """Queries that note what they change."""

    def update(self, **values: Any) -> int:
        """As in Django."""
        if not _are_sealed(self.model, values):
            return super().update(**values)
        with transaction.atomic(savepoint=False):
            keys = list(self.values_list("pk", flat=True))
            count = super().update(**values)
            sealed_states().note_states(self.model, keys)
        return count

    update.alters_data = True  # type: ignore[attr-defined]

    def delete(self) -> tuple[int, dict[str, int]]:
        """As in Django."""
        with transaction.atomic(savepoint=False):
            keys = list(self.values_list("pk", flat=True))
            removed = super().delete()
            sealed_states().note_states(self.model, (), keys)
        return removed

    delete.alters_data = True  # type: ignore[attr-defined]
    delete.queryset_only = True  # type: ignore[attr-defined]

    def bulk_create(self, objs: Iterable[Row], *args: Any, **options: Any) -> list[Row]:
        """As in Django."""
        with transaction.atomic(savepoint=False):
            rows = super().bulk_create(objs, *args, **options)
            sealed_states().note_states(self.model, [row.pk for row in rows])
        return rows


class SealedStateModel(models.Model):
    """A row of such a table."""

    #: The sealed columns.
    SEALED: ClassVar[Sequence[str]]

    objects = SealedStateQuerySet.as_manager()

    class Meta:
        abstract = True

    def save(self, *args: Any, **options: Any) -> None:
        """As in Django."""
        fields = options.get("update_fields")
        with transaction.atomic(savepoint=False):
            super().save(*args, **options)
            if fields is None or _are_sealed(type(self), fields):
                sealed_states().note_states(type(self), [self.pk])

    def delete(self, *args: Any, **options: Any) -> tuple[int, dict[str, int]]:
        """As in Django."""
        key = self.pk
        with transaction.atomic(savepoint=False):
            removed = super().delete(*args, **options)
            sealed_states().note_states(type(self), (), [key])
        return removed

    @classmethod
    def select_sealed(cls) -> models.QuerySet[Self]:
        """The rows whose state is sealed."""
        return cls.objects.all()


def delete_sealed(collector: Any, field: Any, sub_objs: Any, using: str) -> None:
    """`on_delete` of rows that are deleted with another one: as CASCADE, and noted."""
    if sub_objs:
        sealed_states().note_states(sub_objs[0].__class__, (), [row.pk for row in sub_objs])
    models.CASCADE(collector, field, sub_objs, using)


def _are_sealed(model: Any, names: Iterable[str]) -> bool:
    """True if one of the columns is sealed; a foreign key has two names."""
    columns = {model._meta.get_field(name).attname for name in names}
    return not columns.isdisjoint(model.SEALED)
