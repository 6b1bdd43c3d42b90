"""Count feedback by row, worst first."""

from collections.abc import Sequence
from datetime import datetime

from django.db.models import Count, Max, Q

from audit.models import CeMcpUserFeedback
from convengine.server.app_interfaces import RowRating

#: Maximum rows of the list.
MAX_ROWS = 100
_UP, _DOWN = Q(feedback_type="THUMBS_UP"), Q(feedback_type="THUMBS_DOWN")


def rank_rows(since: datetime) -> list[RowRating]:
    """Rows that answered, worst first. Two queries over the feedback since a time; replaced feedback does not count."""
    found = CeMcpUserFeedback.objects.filter(replaced_at=None, created_at__gte=since).exclude(row_pk="")
    counted = found.values("table_name", "row_pk").annotate(
        ups=Count("pk", filter=_UP),
        downs=Count("pk", filter=_DOWN),
        last=Max("pk", filter=~Q(comment="", correction="")),
    )
    rows = list(counted.order_by("-downs", "ups", "table_name", "row_pk")[:MAX_ROWS])
    words = _read_comments([row["last"] for row in rows if row["last"]])
    return [
        RowRating(row["table_name"], row["row_pk"], row["ups"], row["downs"], words.get(row["last"], ""))
        for row in rows
    ]


def rate_row(table: str, pk: str) -> RowRating | None:
    """All ratings of one row's answers; null without any. One query by an index."""
    found = CeMcpUserFeedback.objects.filter(replaced_at=None, table_name=table, row_pk=str(pk))
    counts = found.aggregate(ups=Count("pk", filter=_UP), downs=Count("pk", filter=_DOWN))
    return RowRating(table, str(pk), counts["ups"], counts["downs"]) if counts["ups"] or counts["downs"] else None


def _read_comments(keys: Sequence[int]) -> dict[int, str]:
    found = CeMcpUserFeedback.objects.filter(pk__in=keys).values_list("pk", "comment", "correction")
    return {pk: comment or correction for pk, comment, correction in found}
