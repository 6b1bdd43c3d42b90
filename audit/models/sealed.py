"""What the tables of the record share."""

from typing import Any, ClassVar

from convengine.server.database.sealed_tables import PurgedQuerySet, SealedModel


class AppendOnly(SealedModel):
    """Rows that are written once, by the turn's commit; only retention removes them."""

    objects: ClassVar[Any] = PurgedQuerySet.as_manager()

    class Meta:
        abstract = True
