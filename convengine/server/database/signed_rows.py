"""A proof that the product wrote a row: a keyed hash with the deployment's secret, which the database does not know."""

from abc import abstractmethod
from typing import Any

from django.conf import settings
from django.db import models
from django.utils.crypto import constant_time_compare, salted_hmac


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
