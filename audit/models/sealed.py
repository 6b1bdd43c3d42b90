"""What the tables of the record share: rows that are written once, views, and tables whose rows are one chain.

Each row of a chain is sealed after the row before it, in the format of turns (`audit.seal`). The row of the chain is
signed with the deployment's secret and knows the last seal. So SQL alone can neither change nor remove an entry without
a trace.
"""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, NoReturn

from django.db import models, transaction

from audit.seal import GENESIS, Parts, Seal
from convengine.engine.turn.codec import dump_in_order
from convengine.server.database.sealed_tables import PurgedQuerySet, SealedModel, SealedQuerySet
from convengine.server.database.signed_rows import SignedModel, encode_value


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


#: The parts of a turn's document, which an entry does not have.
_NO_DOCUMENT = (b"",) * 4


class CeChain(SignedModel):
    """The chain of one table. Its row is the lock for new entries."""

    table_name = models.TextField("table", primary_key=True, help_text="The table whose rows are chained.")
    last = models.BigIntegerField("last entry", default=0, help_text="The number of the last entry.")
    head = models.BinaryField("seal", default=GENESIS, help_text="The hash of its seal.")
    removed_to = models.BigIntegerField(
        "removed to", default=0, help_text="Earlier entries, and this one, are removed."
    )
    base = models.BinaryField(default=GENESIS, help_text="The hash of the seal of the last removed entry.")

    class Meta:
        db_table = "ce_chain"
        verbose_name = "chain of a table"
        verbose_name_plural = "chains of tables"
        default_permissions = ()

    def __str__(self) -> str:
        return str(self.table_name)

    def claim(self) -> str:
        return f"{self.table_name} {self.last} {bytes(self.head).hex()} {self.removed_to} {bytes(self.base).hex()}"

    @staticmethod
    def lock(table: str) -> "CeChain":
        """The row of a table's chain, locked until the transaction ends; the first entry makes it."""
        chains = CeChain.objects.select_for_update().filter(pk=table)
        row = chains.first()
        if row is None:
            row = CeChain(table_name=table)
            row.sign()
            CeChain.objects.bulk_create([row], ignore_conflicts=True)
            row = chains.get()
        return row

    def store(self, **values: Any) -> None:
        """Change the row, with a new proof."""
        self.change(**values)
        self.save()


class ChainedRow(models.Model):
    """An entry of a chain."""

    #: The sealed columns, and those that an erasure may empty.
    SEALED: ClassVar[Sequence[str]]
    ERASABLE: ClassVar[Sequence[str]] = ()

    seal = models.BinaryField(
        null=True, editable=False, help_text="The seal of the entry, with the hash of the entry before it."
    )

    class Meta:
        abstract = True

    def save(self, *args: Any, **options: Any) -> None:
        """As in Django; a new entry is sealed after the last one."""
        if not self._state.adding:
            super().save(*args, **options)
            return
        with transaction.atomic(savepoint=False):
            chain = CeChain.lock(self.get_chain_name())
            seal = Seal.create(bytes(chain.head), self.encode())
            self.seal = seal.to_bytes()
            super().save(*args, **options)
            chain.store(last=self.pk, head=seal.hash)

    def get_chain_name(self) -> str:
        return str(self._meta.db_table)

    def encode(self) -> Parts:
        return self.encode_values({name: getattr(self, name) for name in (*self.SEALED, *self.ERASABLE)})

    @classmethod
    def encode_values(cls, values: Mapping[str, Any]) -> Parts:
        """The sealed bytes of an entry, by column."""
        header, words = ([encode_value(values[name]) for name in names] for names in (cls.SEALED, cls.ERASABLE))
        encoded = dump_in_order([header, words])[1]
        return Parts(encoded[0], encoded[1] if any(words) else b"", b"", b"", b"", _NO_DOCUMENT)
