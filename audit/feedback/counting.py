"""Which rows people like, and which not: what was said of their answers, the worst first."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Count, Max, Q

from audit.models import CeMcpUserFeedback

#: Rows of one list.
MOST = 100
_UP, _DOWN = Q(feedback_type="THUMBS_UP"), Q(feedback_type="THUMBS_DOWN")


@dataclass(frozen=True)
class Rated:
    """A row that answered, and what was thought of it."""

    table: str
    pk: str
    ups: int
    downs: int
    #: The newest words said of it; blank when there are none.
    said: str = ""

    @property
    def share(self) -> int:
        """How many of a hundred thumbs point down."""
        return round(100 * self.downs / (self.ups + self.downs))


def rated(since: datetime) -> list[Rated]:
    """Rows that answered, the worst first. Two queries over what was given since; what was replaced does not count."""
    found = CeMcpUserFeedback.objects.filter(replaced_at=None, created_at__gte=since).exclude(row_pk="")
    counted = found.values("table_name", "row_pk").annotate(
        ups=Count("pk", filter=_UP),
        downs=Count("pk", filter=_DOWN),
        last=Max("pk", filter=~Q(comment="", correction="")),
    )
    rows = list(counted.order_by("-downs", "ups", "table_name", "row_pk")[:MOST])
    words = _words([row["last"] for row in rows if row["last"]])
    return [
        Rated(row["table_name"], row["row_pk"], row["ups"], row["downs"], words.get(row["last"], "")) for row in rows
    ]


def of_row(table: str, pk: str) -> Rated | None:
    """What was thought of one row's answers, ever; null when nobody said anything. One query by an index."""
    found = CeMcpUserFeedback.objects.filter(replaced_at=None, table_name=table, row_pk=str(pk))
    counts = found.aggregate(ups=Count("pk", filter=_UP), downs=Count("pk", filter=_DOWN))
    return Rated(table, str(pk), counts["ups"], counts["downs"]) if counts["ups"] or counts["downs"] else None


def _words(keys: Sequence[int]) -> dict[int, str]:
    found = CeMcpUserFeedback.objects.filter(pk__in=keys).values_list("pk", "comment", "correction")
    return {pk: comment or correction for pk, comment, correction in found}
