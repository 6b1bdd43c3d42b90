"""A proof that the product wrote a row: a keyed hash with the deployment's secret, which the database does not know."""

from django.conf import settings
from django.db import models
from django.utils.crypto import constant_time_compare, salted_hmac


class SignedModel(models.Model):
    """A row that explains missing data. It is valid only with its proof."""

    proof = models.TextField(default="", help_text="Proof that the product wrote this row.")

    class Meta:
        abstract = True

    def claim(self) -> str:
        raise NotImplementedError

    def sign(self) -> None:
        """Set the proof."""
        self.proof = self._proof(settings.SECRET_KEY)

    def is_genuine(self) -> bool:
        """True when the product wrote it, with the present secret or an earlier one that is still configured."""
        keys = (settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS)
        try:
            return any(constant_time_compare(self.proof, self._proof(key)) for key in keys)
        except TypeError:
            # A value that its column cannot hold.
            return False

    def _proof(self, secret: str | bytes) -> str:
        return salted_hmac(
            f"convengine {self._meta.db_table}", self.claim(), secret=secret, algorithm="sha256"
        ).hexdigest()
