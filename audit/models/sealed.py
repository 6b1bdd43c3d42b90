"""What the tables of the record have in common."""

from typing import Any, ClassVar

from convengine.sealed import PurgedQuerySet, Sealed


class AppendOnly(Sealed):
    """Rows that are written once, by the turn's commit; they leave by retention only."""

    objects: ClassVar[Any] = PurgedQuerySet.as_manager()

    class Meta:
        abstract = True
