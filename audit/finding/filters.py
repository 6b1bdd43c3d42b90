"""What is asked of turns, one by one: as a condition on their records, and as a source where an index has it."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db.models import Exists, OuterRef, Q, Sum

from audit.finding.search import Search
from audit.finding.sources import (
    Source,
    literal,
    of_conversation,
    of_feedback,
    of_participant,
    of_row,
    of_stage,
    of_turns,
)
from audit.finding.text_index import OfWords, available
from audit.models import CeAudit, CeLlmCallLog, CeMcpUserFeedback, CeTurnRow
from audit.stage_names import stored_names
from convengine.domain.stages import COMMON
from convengine.sessions.models import CeConversation, CeConversationHistory

Condition = Any


@dataclass(frozen=True)
class Filter:
    """One thing that is asked."""

    #: Conditions on turn records that say the same as the source; none where texts are judged.
    where: tuple[Condition, ...] = ()
    source: Source | None = None


def filters(search: Search) -> list[Filter]:
    """What is asked, what usually leaves the fewest turns first."""
    return [*_of_conversations(search), *_beside_turns(search), *_of_turns(search), *_without_index(search)]


def _of_conversations(search: Search) -> Iterator[Filter]:
    if search.id:
        yield _of_id(search.id)
    if search.participant:
        yield _of_participant(search.participant)
    if search.workspace:
        yield Filter((Q(conversation__workspace_id=search.workspace),))
    if search.channel:
        yield Filter((Q(conversation__channel=search.channel),))


def _of_id(key: UUID) -> Filter:
    """A turn, if one is called so; else a conversation."""
    turn = Q(turn_id=key)
    if CeConversationHistory.objects.filter(turn).exists():
        return Filter((turn,), of_turns("n", turn))
    return Filter((Q(conversation_id=key),), of_conversation(key))


def _of_participant(name: str) -> Filter:
    """Somebody on a channel, who may have an id for a name. On the plain turn API a conversation is its own one."""
    called = Q(conversation__remote_jid=name)
    try:
        key = UUID(name)
    except ValueError:
        key = None
    if key and CeConversation.objects.filter(pk=key, remote_jid=name).exists():
        return Filter((called,), of_conversation(key))
    return Filter((called & ~Q(conversation__channel="api"),), of_participant(name))


def _beside_turns(search: Search) -> Iterator[Filter]:
    if search.row:
        mine = CeTurnRow.objects.filter(turn_id=OuterRef("turn_id"), table_name=search.table, row_pk=search.row)
        yield Filter((Exists(mine),), of_row(search.table, search.row))
    if search.feedback:
        given = CeMcpUserFeedback.objects.filter(
            turn_id=OuterRef("turn_id"), feedback_type=search.feedback, replaced_at=None
        )
        yield Filter((Exists(given),), of_feedback(search.feedback))
    if search.text and available():
        yield Filter(source=OfWords(search.text))
    if search.stage:
        told = CeAudit.objects.filter(
            conversation_id=OuterRef("conversation_id"),
            turn_no=OuterRef("turn_no"),
            stage__in=stored_names(search.stage),
        )
        yield Filter((Exists(told),), None if search.stage in COMMON else of_stage(search.stage))


def _of_turns(search: Search) -> Iterator[Filter]:
    if search.error:
        yield Filter((Q(error_code=search.error),), of_turns("e", Q(error_code=search.error)))
    if search.status:
        where = Q(status=search.status)
        common = search.status == "OK"
        yield Filter((where,), None if common else of_turns("o", where & Q(literal("status <> 'OK'"))))
    if search.release is not None:
        yield Filter((Q(config_version=search.release),), of_turns("v", Q(config_version=search.release)))
    if search.state:
        yield Filter((Q(state_code=search.state),), of_turns("t", Q(state_code=search.state)))
    if search.intent:
        yield Filter((Q(intent_code=search.intent),), of_turns("i", Q(intent_code=search.intent)))


def _without_index(search: Search) -> Iterator[Filter]:
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
