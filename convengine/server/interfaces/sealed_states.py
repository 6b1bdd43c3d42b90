"""Tables whose rows may change, but only by the product: `audit` seals each state of a row.

Saving, updating and deleting with Django notes the state in the same transaction. Statements that bypass Django are
reported when the record is verified.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, ClassVar, Protocol, TypeVar

from django.db import models, transaction
from django.db.models.signals import pre_delete

from convengine.server.deployment import conf

Row = TypeVar("Row", bound=models.Model)


class SealedStates(Protocol):
    """Notes what the product makes of rows. Both need an open transaction."""

    def lock_states(self, model: Any, keys: Iterable[Any], /) -> dict[str, str]:
        """The hashes of stored rows of a `SealedStateModel` by key. Locks the rows until the transaction ends."""

    def note_change(self, model: Any, before: Mapping[str, str], after: Mapping[str, str], /) -> None:
        """Seal what rows were and what they became: a new row has no state before, a removed one none after."""


sealed_states: Callable[[], SealedStates] = partial(conf.load, "SEALED_STATES")


class SealedStateQuerySet(models.QuerySet[Row]):
    """Queries that note what they change."""

    def update(self, **values: Any) -> int:
        """As in Django."""
        if not _are_sealed(self.model, values):
            return super().update(**values)
        states = sealed_states()
        with transaction.atomic(savepoint=False):
            keys = list(self.values_list("pk", flat=True))
            before = states.lock_states(self.model, keys)
            # Another transaction may have made more rows match since.
            count = models.QuerySet.update(self.filter(pk__in=keys), **values)
            states.note_change(self.model, before, states.lock_states(self.model, keys))
        return count

    update.alters_data = True  # type: ignore[attr-defined]

    def bulk_create(self, objs: Iterable[Row], *args: Any, **options: Any) -> list[Row]:
        """As in Django."""
        states = sealed_states()
        with transaction.atomic(savepoint=False):
            rows = super().bulk_create(objs, *args, **options)
            states.note_change(self.model, {}, states.lock_states(self.model, [row.pk for row in rows]))
        return rows


class SealedStateModel(models.Model):
    """A row of such a table."""

    #: The sealed columns.
    SEALED: ClassVar[Sequence[str]]

    objects = SealedStateQuerySet.as_manager()

    class Meta:
        abstract = True

    def __init_subclass__(cls, **options: Any) -> None:
        """Note each removal of a row, also with a row that it belongs to."""
        super().__init_subclass__(**options)
        pre_delete.connect(_note_removal, sender=cls)

    def save(self, *args: Any, **options: Any) -> None:
        """As in Django."""
        fields = options.get("update_fields")
        if fields is not None and not _are_sealed(type(self), fields):
            super().save(*args, **options)
            return
        states, model = sealed_states(), type(self)
        with transaction.atomic(savepoint=False):
            before = states.lock_states(model, [self.pk])
            super().save(*args, **options)
            states.note_change(model, before, states.lock_states(model, [self.pk]))


def _note_removal(sender: type[SealedStateModel], instance: SealedStateModel, **kwargs: Any) -> None:
    """Before Django deletes a row, in the same transaction."""
    states = sealed_states()
    states.note_change(sender, states.lock_states(sender, [instance.pk]), {})


def _are_sealed(model: Any, names: Iterable[str]) -> bool:
    """True if one of the columns is sealed; a foreign key has two names."""
    columns = {model._meta.get_field(name).attname for name in names}
    return not columns.isdisjoint(model.SEALED)
