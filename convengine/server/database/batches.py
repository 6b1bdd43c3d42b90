"""Remove many rows."""

from collections.abc import Iterator
from typing import Any

from django.db.models import QuerySet

from convengine.engine.turn.job import Counts

#: How many rows a statement removes.
ROWS = 500


def remove_in_batches(rows: QuerySet[Any], name: str) -> Iterator[Counts]:
    """Delete rows in the order of the query, and count those of each batch under a name."""
    while keys := list(rows.values_list("pk", flat=True)[:ROWS]):
        rows.model._default_manager.filter(pk__in=keys).delete()
        yield {name: len(keys)}
