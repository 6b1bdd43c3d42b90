"""What was learned of phrases. Every row can be made again from a release, so nothing is lost with it."""

import hashlib
from collections.abc import Iterable
from datetime import datetime
from itertools import groupby

from django.db import models
from django.utils.formats import date_format
from django.utils.timezone import localtime

from convengine.server.database.signed_rows import SignedModel


class DerivedRow(SignedModel):
    """A row whose name is the hash of all that it is made from, with a proof that the product made it of that."""

    #: The column with what was made.
    CONTENT = ""

    name = models.CharField(max_length=64, primary_key=True, help_text="The hash of all that it is made from.")
    #: Processes of the version before, which still run while it is replaced, do not set it.
    proof = models.TextField(default="", db_default="", help_text="Proof that the product wrote this row.")
    refused_at = models.DateTimeField(null=True, help_text="When a process found it changed. It was made again.")

    class Meta:
        abstract = True

    def __str__(self) -> str:
        return str(self.name)[:12]

    @property
    def content(self) -> bytes | None:
        """What was made. Returns None while it is being made."""
        content = getattr(self, self.CONTENT)
        return content if content is None else bytes(content)

    def claim(self) -> str:
        """Its name, and the hash of what was made."""
        content = getattr(self, self.CONTENT)
        # A database may hold a value of any type, which no proof covers.
        is_readable = isinstance(content, bytes | memoryview)
        return f"{self.name} {hashlib.sha256(content).hexdigest() if is_readable else None}"


class CePhraseModel(DerivedRow):
    """What a classifier learned, or who is making it. It has no texts: those are in the release."""

    CONTENT = "weights"

    weights = models.BinaryField(null=True, help_text="Arrays of numbers; null while it is being made.")
    claimed_until = models.DateTimeField(null=True, help_text="Until then, one process is making it.")
    used_at = models.DateTimeField("used", help_text="When a process loaded it last, to the hour.")

    class Meta:
        db_table = "ce_phrase_model"
        verbose_name = "classifier of phrases"
        verbose_name_plural = "classifiers of phrases"
        default_permissions = ()


class CePhraseVector(DerivedRow):
    """What a text means, as numbers, so that an edit encodes only what is new."""

    CONTENT = "vector"

    vector = models.BinaryField(help_text="Numbers of two bytes.")
    made_at = models.DateTimeField("made", help_text="When it was stored.")

    class Meta:
        db_table = "ce_phrase_vector"
        verbose_name = "vector of a phrase"
        verbose_name_plural = "vectors of phrases"
        default_permissions = ()


#: All tables of such rows.
DERIVED: tuple[type[DerivedRow], ...] = (CePhraseModel, CePhraseVector)


def list_refused(since: datetime) -> Iterable[DerivedRow]:
    """The rows that were found changed since a time, and made again; those of a table newest first."""
    for model in DERIVED:
        yield from model._default_manager.filter(refused_at__gte=since).defer(model.CONTENT).order_by("-refused_at")


def describe_refused(since: datetime) -> Iterable[str]:
    """What was found changed since a time, and what to do: a sentence for each table."""
    for _, group in groupby(list_refused(since), type):
        rows = list(group)
        meta = rows[0]._meta
        name = meta.verbose_name if len(rows) == 1 else meta.verbose_name_plural
        yield (
            f"{len(rows)} {name} changed outside of the product. The last is row {rows[0]} of {meta.db_table}, found "
            f"{date_format(localtime(rows[0].refused_at), 'DATETIME_FORMAT')}. The product made what changed again "
            "from the release. Unless CE_SECRET_KEY is new, check who can write to the database, and run "
            "“convengine manage audit_verify”."
        )
