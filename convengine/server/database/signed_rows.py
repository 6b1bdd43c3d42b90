"""A proof that the product wrote a row: a keyed hash with the deployment's secret, which the database does not know."""

import uuid
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any, ClassVar

from django.conf import settings
from django.db import models
from django.utils.crypto import constant_time_compare, salted_hmac

from convengine.engine.text.compare import storable
from convengine.engine.turn.codec import dump_in_order

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


def encode_value(value: Any) -> Any:
    """A column's value as JSON has it, the same from every database."""
    if isinstance(value, str):
        return storable(value)
    if isinstance(value, datetime):
        return (value - _EPOCH) // _MICROSECOND
    if isinstance(value, Decimal):
        return f"{value:.9f}"
    return str(value) if isinstance(value, uuid.UUID) else value


def sign_claim(table: str, claim: str, secret: str | bytes | None = None) -> str:
    """The proof of what a row of a table claims, with the present secret unless another one is given."""
    return salted_hmac(f"convengine {table}", claim, secret=secret, algorithm="sha256").hexdigest()


def is_proven(table: str, claim: str, proof: str) -> bool:
    """True when the present secret made the proof, or an earlier one that is still configured."""
    keys = (settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS)
    try:
        return any(constant_time_compare(proof, sign_claim(table, claim, key)) for key in keys)
    except TypeError:
        # A value that its column cannot hold.
        return False


class SignedModel(models.Model):
    """A row that is valid only with its proof."""

    proof = models.TextField(default="", help_text="Proof that the product wrote this row.")

    class Meta:
        abstract = True

    @abstractmethod
    def claim(self) -> str:
        """What the proof is about."""

    def sign(self) -> None:
        """Set the proof."""
        self.proof = sign_claim(self._meta.db_table, self.claim())

    def change(self, **values: Any) -> None:
        """Set columns, with a new proof. A row that the product did not write gets none, so that it stays reported."""
        is_genuine = self.is_genuine()
        for name, value in values.items():
            setattr(self, name, value)
        if is_genuine:
            self.sign()

    def is_genuine(self) -> bool:
        """True when the product wrote it."""
        return is_proven(self._meta.db_table, self.claim(), self.proof)


class SignedState(SignedModel):
    """A row that changes after it was written: each state that the product gives it has a proof of its columns."""

    #: The columns that the proof is about.
    SEALED: ClassVar[Sequence[str]]

    #: Processes of the version before, which still run while it is replaced, do not set it.
    proof = models.TextField(default="", db_default="", help_text="Proof that the product wrote this row.")

    class Meta:
        abstract = True

    def save(self, *args: Any, **options: Any) -> None:
        """As in Django; a new row gets its proof."""
        if self._state.adding:
            self.sign()
        super().save(*args, **options)

    def claim(self) -> str:
        """All sealed columns."""
        return _describe_columns([getattr(self, name) for name in self.SEALED])

    def sign_change(self, **values: Any) -> dict[str, Any]:
        """Set columns, and give them with the new proof, for a statement that stores them."""
        self.change(**values)
        return {**values, "proof": self.proof}

    @classmethod
    def prove(cls, values: Mapping[str, Any]) -> str:
        """The proof of a row that a statement inserts; columns without a value are null."""
        return prove_columns(cls._meta.db_table, [values.get(name) for name in cls.SEALED])


def prove_columns(table: str, values: Sequence[Any]) -> str:
    """The proof of a row with these values in its sealed columns."""
    return sign_claim(table, _describe_columns(values))


def _describe_columns(values: Sequence[Any]) -> str:
    """The values as every database gives them back."""
    (encoded,) = dump_in_order([list(map(encode_value, values))])[1]
    return encoded.decode()
