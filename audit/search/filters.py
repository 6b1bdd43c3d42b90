"""The filters of turns: each as a condition on their records, and as a source if an index has it."""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple
from uuid import UUID

from django.db.models import Exists, OuterRef, Q

from audit.models import CeInboxMessage, CeMcpUserFeedback, CeTurnIndex
from audit.record.form_steps import FormStep
from audit.record.milestones import CONDITIONS, Milestone, has_step
from audit.record.model_calls import has_call_of
from audit.record.sql_views import has_in_document
from audit.record.turn_index import has_entry, has_stage
from audit.search.query import SearchQuery
from audit.search.sources import (
    TurnSource,
    conversation_source,
    feedback_source,
    form_step_source,
    group_source,
    index_source,
    participant_source,
    sql_condition,
    turns_source,
)
from audit.search.text_index import TextSource, is_available
from convengine.engine.forms.stages import FORM_REFUSED
from convengine.engine.stages import COMMON
from convengine.engine.steps.responses.stages import FORM_GIVEN_UP
from convengine.engine.turn.conversation import PLAIN_CHANNEL
from convengine.engine.turn.enums import TurnStatus
from convengine.engine.turn.scope import HAND_OVER
from convengine.server.sessions.models import CeConversation, CeConversationHistory
from convengine.server.sessions.participants import find_participants

Condition = Any
#: Milestones whose turns an index has.
_MILESTONE_SOURCES: Mapping[str, TurnSource] = {
    Milestone.HANDED_OVER: turns_source("g", CONDITIONS[Milestone.HANDED_OVER]),
    Milestone.MODEL_FAILED: turns_source("l", CONDITIONS[Milestone.MODEL_FAILED]),
}
#: For steps that are rare, turns among which those with the step are.
_STEP_SOURCES: Mapping[FormStep, TurnSource] = {
    FormStep.GAVE_UP: index_source("y", CeTurnIndex.STAGE, str(FORM_GIVEN_UP)),
    FormStep.DECLINED: index_source("y", CeTurnIndex.STAGE, str(FORM_REFUSED)),
    FormStep.HANDED_OVER: turns_source("z", Q(state_code=HAND_OVER)),
    **dict.fromkeys((FormStep.LEFT, FormStep.REFUSED, FormStep.MISSED), form_step_source("x")),
}


class ColumnFilter(NamedTuple):
    """A filter by a column of turn records, and the code of its source if an index has the turns with a value."""

    lookup: str
    code: str = ""


_COLUMNS: Mapping[str, ColumnFilter] = {
    "error": ColumnFilter("error_code", "e"),
    "release": ColumnFilter("config_version", "v"),
    "state": ColumnFilter("state_code", "t"),
    "intent": ColumnFilter("intent_code", "i"),
    "status": ColumnFilter("status"),
    "workspace": ColumnFilter("conversation__workspace_id"),
    "channel": ColumnFilter("conversation__channel"),
    "intent_before": ColumnFilter("intent_before"),
    "state_before": ColumnFilter("state_before"),
    "duration": ColumnFilter("duration_ms__gte"),
    "cost": ColumnFilter("cost__gte"),
    "since": ColumnFilter("created_at__gte"),
    "until": ColumnFilter("created_at__lte"),
}


class Filter(NamedTuple):
    #: A condition on turn records, equivalent to the source; every turn where the source only narrows.
    where: Condition = Q()
    source: TurnSource | None = None


def build_filters(search: SearchQuery) -> list[Filter]:
    """The filters of a search, usually most selective first."""
    return [
        *_conversation_filters(search),
        *_related_row_filters(search),
        *_column_filters(search),
    ]


def _conversation_filters(search: SearchQuery) -> Iterator[Filter]:
    """The filters by an id and by a participant, which few turns fulfil."""
    if search.id:
        # That of a turn if there is such a turn, else that of a conversation.
        turn = Q(turn_id=search.id)
        if CeConversationHistory.objects.filter(turn).exists():
            yield Filter(turn, turns_source("n", turn))
        else:
            yield Filter(Q(conversation_id=search.id), conversation_source(search.id))
    if search.participant:
        yield _participant_filter(search.participant, search.workspace)


def _participant_filter(name: str, workspace: str) -> Filter:
    """The turns of participants of channels whom the search for people finds by this name, or who have just this name.

    On the plain turn API the conversation's id is the participant. A name that looks like such an id is also a name.
    """
    called = Q(conversation__remote_jid=name)
    try:
        key = UUID(name)
    except ValueError:
        key = None
    if key and CeConversation.objects.filter(pk=key, remote_jid=name).exists():
        return Filter(called, conversation_source(key))
    names = list(dict.fromkeys([name, *find_participants(name, workspace)]))
    called = Q(conversation__remote_jid__in=names)
    return Filter(called & ~Q(conversation__channel=PLAIN_CHANNEL), participant_source(names))


def _related_row_filters(search: SearchQuery) -> Iterator[Filter]:
    """The filters by other tables and by events, and the sources of some columns. Texts are checked by the walk."""
    if search.row:
        yield Filter(has_entry(search.table, search.row), index_source("r", search.table, search.row))
    if search.feedback:
        given = CeMcpUserFeedback.objects.filter(
            turn_id=OuterRef("turn_id"), feedback_type=search.feedback, replaced_at=None
        )
        yield Filter(Exists(given), feedback_source(search.feedback))
    yield from _happening_filters(search)
    if search.group is not None:
        in_group = CeInboxMessage.objects.filter(turn_id=OuterRef("history_id"), group=search.group)
        yield Filter(Exists(in_group), group_source(search.group))
    if search.model:
        yield Filter(has_call_of(search.model))
        # Not all of them called this model.
        yield Filter(source=turns_source("m", Q(sql_condition("model_calls > 0"))))
    if search.text and is_available():
        yield Filter(source=TextSource(search.text))
    if search.stage in COMMON:
        # Common stages have no index. Their names are in the stored text, which nothing escapes.
        plain, with_source = f'"stage":"{search.stage}"', f'"stage":"{search.stage} ('
        yield Filter(Q(has_in_document(plain)) | Q(has_in_document(with_source)))
    elif search.stage:
        yield Filter(has_stage(search.stage), index_source("s", CeTurnIndex.STAGE, search.stage))
    if search.status and search.status != TurnStatus.OK:
        # The index has the turns with any other status.
        yield Filter(source=turns_source("o", Q(status=search.status) & Q(sql_condition("status <> 'OK'"))))


def _happening_filters(search: SearchQuery) -> Iterator[Filter]:
    """What happened in the turn, and what became of what began in it."""
    if search.milestone:
        yield Filter(CONDITIONS[search.milestone], _MILESTONE_SOURCES.get(search.milestone))
    if search.outcome:
        yield Filter(search.outcome.where)
    if search.step:
        yield Filter(has_step(search.step.pattern))
        if source := _STEP_SOURCES.get(search.step.kind):
            yield Filter(source=source)


def _column_filters(search: SearchQuery) -> Iterator[Filter]:
    """The filters by columns of the turn and its conversation. Numbers and times are limits."""
    for name, column in _COLUMNS.items():
        value = getattr(search, name)
        if value in ("", None):
            continue
        where = Q(**{column.lookup: value})
        yield Filter(where, turns_source(column.code, where) if column.code else None)
