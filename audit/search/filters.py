"""The filters of turns: each as a condition on their records, and as a source if an index has it."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db.models import Exists, OuterRef, Q, Sum

from audit.models import CeAudit, CeLlmCallLog, CeMcpUserFeedback, CeTurnRow
from audit.search.query import SearchQuery
from audit.search.sources import (
    Source,
    conversation_source,
    feedback_source,
    participant_source,
    row_source,
    sql_condition,
    stage_source,
    turns_source,
)
from audit.search.text_index import TextSource, is_available
from convengine.engine.stages import COMMON, stored_names
from convengine.server.sessions.models import CeConversation, CeConversationHistory

Condition = Any


@dataclass(frozen=True)
class Filter:
    """One filter."""

    #: Conditions on turn records equivalent to the source; none for text filters.
    where: tuple[Condition, ...] = ()
    source: Source | None = None


def build_filters(search: SearchQuery) -> list[Filter]:
    """The filters of a search, usually most selective first."""
    return [
        *_conversation_filters(search),
        *_related_row_filters(search),
        *_turn_filters(search),
        *_unindexed_filters(search),
    ]


def _conversation_filters(search: SearchQuery) -> Iterator[Filter]:
    if search.id:
        yield _id_filter(search.id)
    if search.participant:
        yield _participant_filter(search.participant)
    if search.workspace:
        yield Filter((Q(conversation__workspace_id=search.workspace),))
    if search.channel:
        yield Filter((Q(conversation__channel=search.channel),))


def _id_filter(key: UUID) -> Filter:
    """A turn with this id; else a conversation."""
    turn = Q(turn_id=key)
    if CeConversationHistory.objects.filter(turn).exists():
        return Filter((turn,), turns_source("n", turn))
    return Filter((Q(conversation_id=key),), conversation_source(key))


def _participant_filter(name: str) -> Filter:
    """A participant of a channel, whose name may look like an id. On the plain turn API the conversation's id is the
    participant.
    """
    called = Q(conversation__remote_jid=name)
    try:
        key = UUID(name)
    except ValueError:
        key = None
    if key and CeConversation.objects.filter(pk=key, remote_jid=name).exists():
        return Filter((called,), conversation_source(key))
    return Filter((called & ~Q(conversation__channel="api"),), participant_source(name))


def _related_row_filters(search: SearchQuery) -> Iterator[Filter]:
    if search.row:
        mine = CeTurnRow.objects.filter(turn_id=OuterRef("turn_id"), table_name=search.table, row_pk=search.row)
        yield Filter((Exists(mine),), row_source(search.table, search.row))
    if search.feedback:
        given = CeMcpUserFeedback.objects.filter(
            turn_id=OuterRef("turn_id"), feedback_type=search.feedback, replaced_at=None
        )
        yield Filter((Exists(given),), feedback_source(search.feedback))
    if search.text and is_available():
        yield Filter(source=TextSource(search.text))
    if search.stage:
        events = CeAudit.objects.filter(
            conversation_id=OuterRef("conversation_id"),
            turn_no=OuterRef("turn_no"),
            stage__in=stored_names(search.stage),
        )
        yield Filter((Exists(events),), None if search.stage in COMMON else stage_source(search.stage))


def _turn_filters(search: SearchQuery) -> Iterator[Filter]:
    if search.error:
        yield Filter((Q(error_code=search.error),), turns_source("e", Q(error_code=search.error)))
    if search.status:
        where = Q(status=search.status)
        common = search.status == "OK"
        yield Filter((where,), None if common else turns_source("o", where & Q(sql_condition("status <> 'OK'"))))
    if search.release is not None:
        yield Filter((Q(config_version=search.release),), turns_source("v", Q(config_version=search.release)))
    if search.state:
        yield Filter((Q(state_code=search.state),), turns_source("t", Q(state_code=search.state)))
    if search.intent:
        yield Filter((Q(intent_code=search.intent),), turns_source("i", Q(intent_code=search.intent)))


def _unindexed_filters(search: SearchQuery) -> Iterator[Filter]:
    if search.duration is not None:
        yield Filter((Q(duration_ms__gte=search.duration),))
    if search.cost is not None:
        calls = CeLlmCallLog.objects.filter(
            conversation_id=OuterRef("conversation_id"), turn_no=OuterRef("turn_no"), turn_id=OuterRef("turn_id")
        )
        spent = calls.values("turn_id").annotate(spent=Sum("cost")).filter(spent__gte=search.cost)
        yield Filter((Exists(spent),))
    if search.since:
        yield Filter((Q(created_at__gte=search.since),))
    if search.until:
        yield Filter((Q(created_at__lte=search.until),))
