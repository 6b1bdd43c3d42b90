"""Counts of the two sides of a gradual release, beside each other."""

from datetime import datetime
from typing import Any

from django.db.models import Case, Count, IntegerField, Max, Q, QuerySet, Value, When

from audit.models import CeMcpUserFeedback, CeTurnIndex
from convengine.engine.steps.responses.stages import NOT_UNDERSTOOD
from convengine.engine.turn.enums import Lifecycle, TurnStatus
from convengine.engine.turn.scope import HAND_OVER
from convengine.server.interfaces.turn_reports import SideCounts
from convengine.server.sessions.models import CeConversationHistory

#: The most turns that are counted, so that the cost is constant. While it runs the newest, later the first ones.
MOST = 100_000


def count_release_sides(
    first_turn: int, since: datetime, parent_version: int, until: datetime | None = None
) -> tuple[SideCounts, SideCounts]:
    """The turns after `first_turn` on newer releases than the parent, and those on it or an older one.

    `until`: the end of the gradual release; later turns tell nothing about it. At most four queries.
    """
    turns = CeConversationHistory.objects.filter(source="TURN")
    rated = CeMcpUserFeedback.objects.filter(created_at__gte=since, replaced_at=None, config_version__isnull=False)
    if until:
        turns = turns.filter(history_id__gt=first_turn, history_id__lte=first_turn + MOST, created_at__lt=until)
        rated = rated.filter(created_at__lt=until)
    else:
        newest = CeConversationHistory.objects.aggregate(newest=Max("history_id"))["newest"] or 0
        turns = turns.filter(history_id__gt=max(first_turn, newest - MOST))
    counts: dict[int, dict[str, int]] = {0: {}, 1: {}}
    for row in _group_by_side(turns, parent_version).annotate(
        turns=Count("history_id"),
        failed=Count("history_id", filter=Q(status=TurnStatus.FAILED.value)),
        handed_over=Count("history_id", filter=Q(state_code=HAND_OVER)),
        conversations=Count("conversation_id", distinct=True),
        completed=Count("conversation_id", distinct=True, filter=Q(conversation__lifecycle=Lifecycle.COMPLETE.value)),
    ):
        counts[row.pop("is_newer")] |= row
    stage = CeTurnIndex.objects.filter(kind=CeTurnIndex.STAGE, value=str(NOT_UNDERSTOOD), at__gte=since)
    unclear = turns.filter(turn_id__in=stage.values("turn_id"))
    for row in _group_by_side(unclear, parent_version).annotate(not_understood=Count("history_id")):
        counts[row.pop("is_newer")] |= row
    kind = CeMcpUserFeedback.Type
    for row in _group_by_side(rated, parent_version).annotate(
        positive=Count("pk", filter=Q(feedback_type=kind.THUMBS_UP)),
        negative=Count("pk", filter=Q(feedback_type=kind.THUMBS_DOWN)),
    ):
        counts[row.pop("is_newer")] |= row
    return SideCounts(**counts[1]), SideCounts(**counts[0])


def _group_by_side(rows: QuerySet[Any], parent_version: int) -> Any:
    """Rows grouped by `is_newer`: 1 for releases after the parent, 0 for it and older ones."""
    is_newer = Case(
        When(config_version__gt=parent_version, then=Value(1)), default=Value(0), output_field=IntegerField()
    )
    return rows.annotate(is_newer=is_newer).order_by().values("is_newer")
