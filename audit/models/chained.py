"""Logs whose rows are chained per day: each row is sealed after the one before it, and the day's row knows the last.

The seal of a row is a SHA-256 over the seal before it and the row's columns; the row of the day has a proof made with
the deployment's secret. So SQL alone can neither change nor remove an entry without a trace.
"""

import hashlib
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from typing import Any, ClassVar, Self

from django.conf import settings
from django.db import models, transaction
from django.utils.crypto import constant_time_compare, salted_hmac

from audit.models.proof import SignedModel
from audit.seal import GENESIS, encode_value
from convengine.engine.turn.codec import dump_in_order

_PURPOSE = b"convengine log 1\n"
_SIZES = (16, 32, 32)


@dataclass(frozen=True)
class LogSeal:
    """The seal of a log entry as it is stored."""

    salt: bytes
    #: The hash of the entry before this one.
    previous: bytes
    hash: bytes
    #: After a part was erased: the proof over the old hash and the rest.
    resealed: bytes = b""

    @classmethod
    def create(cls, previous: bytes, content: bytes) -> Self:
        """Seal a new entry."""
        salt = os.urandom(16)
        return cls(salt, previous, _digest(salt, previous, content))

    def cut(self, content: bytes) -> "LogSeal":
        """The seal after a part was erased; `content` is what remains."""
        salt = os.urandom(16)
        return replace(self, salt=salt, resealed=self._reseal(salt, content, settings.SECRET_KEY))

    def matches(self, content: bytes) -> bool:
        """True when the entry is as it was sealed last."""
        if not self.resealed:
            return self.hash == _digest(self.salt, self.previous, content)
        keys = (settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS)
        return any(constant_time_compare(self.resealed, self._reseal(self.salt, content, key)) for key in keys)

    def to_bytes(self) -> bytes:
        """The bytes that are stored."""
        return self.salt + self.previous + self.hash + self.resealed

    @classmethod
    def read(cls, data: Any) -> Self:
        """Parse a seal. Raises ValueError."""
        data = bytes(data) if data is not None and not isinstance(data, str) else b""
        if len(data) not in (sum(_SIZES), sum(_SIZES) + 32):
            raise ValueError("This is no seal of a log entry.")
        return cls(data[:16], data[16:48], data[48:80], data[80:])

    def _reseal(self, salt: bytes, content: bytes, key: str | bytes) -> bytes:
        whole = salt.hex() + self.hash.hex() + content.hex()
        return salted_hmac("convengine log entry", whole, secret=key, algorithm="sha256").digest()


def _digest(salt: bytes, previous: bytes, content: bytes) -> bytes:
    return hashlib.sha256(_PURPOSE + salt + previous + content).digest()


class CeChainDay(SignedModel):
    """The end of a log's chain on one day. Its row is the lock for new entries of the day."""

    log = models.TextField(help_text="The table of the log.")
    day = models.DateField(help_text="The day in UTC.")
    rows = models.IntegerField("entries", default=0, help_text="The number of entries on the day.")
    head = models.BinaryField("seal", default=GENESIS, help_text="The hash of the last entry's seal.")
    previous_day = models.DateField("day before", null=True, help_text="The last day before with entries.")
    removed = models.BooleanField(default=False, help_text="Retention removed the entries of the day.")

    class Meta:
        db_table = "ce_chain_day"
        verbose_name = "day of a log"
        verbose_name_plural = "days of logs"
        default_permissions = ()
        constraints = [models.UniqueConstraint(fields=["log", "day"], name="ce_chain_day_once")]

    def __str__(self) -> str:
        return f"{self.log} {self.day}"

    def claim(self) -> str:
        return f"{self.log} {self.day} {self.rows} {bytes(self.head).hex()} {self.previous_day} {self.removed}"


class ChainedRow(models.Model):
    """An entry of a log that is chained per day."""

    #: The sealed columns, and of these the JSON columns.
    SEALED: ClassVar[Sequence[str]]
    SEALED_JSON: ClassVar[Sequence[str]] = ()

    seal = models.BinaryField(
        null=True, editable=False, help_text="The seal of the entry, with the hash of the entry before it."
    )

    class Meta:
        abstract = True

    def save(self, *args: Any, **options: Any) -> None:
        """As in Django; a new entry is sealed after the last one of its day."""
        if not self._state.adding:
            super().save(*args, **options)
            return
        with transaction.atomic(savepoint=False):
            self.append_to_chain()
            super().save(*args, **options)

    def encode(self) -> bytes:
        """The sealed bytes."""
        return self.encode_values({name: getattr(self, name) for name in (*self.SEALED, *self.SEALED_JSON)})

    @classmethod
    def encode_values(cls, values: Mapping[str, Any]) -> bytes:
        """The sealed bytes of an entry, by column."""
        plain = [encode_value(values[name]) for name in cls.SEALED]
        documents = dump_in_order([values[name] for name in cls.SEALED_JSON])[1]
        return b"\n".join([*dump_in_order([plain])[1], *documents])

    def append_to_chain(self) -> None:
        """Seal the entry after the last one of its day. Needs an open transaction."""
        day = _lock_day(self._meta.db_table, day_of(getattr(self, "created_at")))  # noqa: B009
        seal = LogSeal.create(bytes(day.head), self.encode())
        self.seal = seal.to_bytes()
        day.head, day.rows = seal.hash, day.rows + 1
        day.sign()
        day.save(update_fields=["rows", "head", "proof"])


def day_of(at: datetime) -> date:
    """The day of an entry."""
    return at.astimezone(UTC).date()


def _lock_day(log: str, day: date) -> CeChainDay:
    """The day's row, locked until the transaction ends; made by its first entry."""
    days = CeChainDay.objects.select_for_update().filter(log=log, day=day)
    row = days.first()
    if row is None:
        before = CeChainDay.objects.filter(log=log, day__lt=day).order_by("-day").values_list("day", flat=True).first()
        CeChainDay.objects.bulk_create([CeChainDay(log=log, day=day, previous_day=before)], ignore_conflicts=True)
        row = days.get()
    return row
