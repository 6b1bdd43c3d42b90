"""Read what users wrote and the bot could not serve, from the index of turns, the record and the feedback.

Also what the page that teaches needs: the wordings of a group, and all messages.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.db.models import OuterRef, Q, QuerySet, Subquery, Value

from audit.inbox.grouping import NO_SUBJECT, GroupSubject, InboxMessage
from audit.models import CeInboxGroup, CeMcpUserFeedback, CeTurnIndex
from audit.record.events import read_document
from audit.record.milestones import CONDITIONS, Milestone
from audit.record.sql_views import has_in_document
from convengine.engine.clarification.stages import INTENT_COLLISION_DETECTED
from convengine.engine.documents.index import get_document_index
from convengine.engine.forms.stages import FIELDS_READ, FORM_LEFT
from convengine.engine.steps.intents.stages import INTENT_CLASSIFIER_COLLISION
from convengine.engine.steps.responses.stages import FORM_GIVEN_UP, NOT_UNDERSTOOD
from convengine.engine.text.compare import code
from convengine.engine.turn import rows
from convengine.engine.turn.scope import HAND_OVER, is_resolved
from convengine.server.database.sql import database_time
from convengine.server.database.unreadable import read_rows
from convengine.server.interfaces.configuration import configuration
from convengine.server.interfaces.inbox import StoredMessage
from convengine.server.sessions.models import CeConversationHistory

Kind = CeInboxGroup.Kind
#: How far back messages are read.
PERIOD = timedelta(days=30)
#: The kinds whose groups the job looks at again after somebody taught them; the others come back with a new message.
RECHECKED = frozenset({Kind.NOT_UNDERSTOOD, Kind.TWO_INTENTS})
#: The kinds whose messages are grouped by their words; the others by what they met.
BY_WORDS = RECHECKED | {Kind.HANDED_OVER}
#: How many of the newest messages of a kind are read; fewer where the events of the turns must be read.
MOST_MESSAGES, MOST_DOCUMENTS = 100_000, 5_000
_BATCH = 1_000
_FORM = "ce_output_schema"
_ALL = Q()
#: What the chat says of sections of documents names their place, 0 for none of them.
_OF_SECTIONS = Q(metadata_json__has_key="place")
_NOTHING = Value("")
#: How many messages a reader shows besides the leader.
SHOWN_EXAMPLES = 3
_COLUMNS = ("history_id", "user_input", "created_at", "conversation__workspace_id")


def read_messages(kind: str, since: datetime) -> Iterator[InboxMessage]:
    return _READERS[Kind(kind)](since)


def _read_not_understood(since: datetime) -> Iterator[InboxMessage]:
    """Without those that were handed over, or came while a person had the conversation; and with those for which users
    said that none of the sections helped.
    """
    yield from _read_turns(_list_turn_ids([NOT_UNDERSTOOD], since, MOST_MESSAGES), ~Q(state_code=HAND_OVER))
    ratings = CeMcpUserFeedback.objects.filter(_OF_SECTIONS, feedback_type=CeMcpUserFeedback.Type.THUMBS_DOWN)
    yield from _read_rated(since, ratings, lambda rating: NO_SUBJECT)


def _read_two_intents(since: datetime) -> Iterator[InboxMessage]:
    """Each with the intent that the user got with the next message."""
    stages = [INTENT_COLLISION_DETECTED, INTENT_CLASSIFIER_COLLISION]
    following = CeConversationHistory.objects.filter(
        conversation=OuterRef("conversation"), turn_no=OuterRef("turn_no") + 1
    )
    turn_ids = _list_turn_ids(stages, since, MOST_MESSAGES)
    return _read_turns(turn_ids, then=Subquery(following.values("intent_code")[:1]))


def _read_handed_over(since: datetime) -> Iterator[InboxMessage]:
    """The message of each conversation that led to a human: of its very first turn in that state."""
    turns = CeConversationHistory.objects.filter(CONDITIONS[Milestone.HANDED_OVER], created_at__gte=since)
    keys = list(turns.order_by("-history_id").values_list("history_id", flat=True)[:MOST_MESSAGES])
    for start in range(0, len(keys), _BATCH):
        batch = CeConversationHistory.objects.filter(pk__in=keys[start : start + _BATCH]).exclude(user_input=None)
        for turn, text, at, workspace in batch.values_list(*_COLUMNS):
            yield InboxMessage(turn, text or "", at, workspace)


def _read_refused_values(since: datetime) -> Iterator[InboxMessage]:
    """Each refused value, with its field and the reason."""
    wanted = Q(has_in_document('"refused":[{'))
    for row, payloads in _read_payloads([FIELDS_READ], since, wanted):
        for refusal in (item for payload in payloads for item in payload.get("refused") or ()):
            if isinstance(refusal, Mapping) and isinstance(refusal.get("text"), str):
                subject = GroupSubject(row.intent_code, str(refusal.get("field")), str(refusal.get("reason") or ""))
                yield InboxMessage(row.pk, refusal["text"], row.created_at, row.conversation.workspace_id, subject)


def _read_forms_given_up(since: datetime) -> Iterator[InboxMessage]:
    """The message at which a form ended without being done; its field, where the bot gave up about one."""
    for row, payloads in _read_payloads([FORM_GIVEN_UP, FORM_LEFT], since):
        fields = [str(payload.get("field") or "") for payload in payloads]
        form = next((str(payload["schemaId"]) for payload in payloads if payload.get("schemaId") is not None), "")
        subject = GroupSubject(field=next(filter(None, fields), ""), table=_FORM, row=form)
        yield InboxMessage(row.pk, row.user_input or "", row.created_at, row.conversation.workspace_id, subject)


def _read_negative_feedback(since: datetime) -> Iterator[InboxMessage]:
    """The messages whose answers were rated down, with the row that answered; not those about sections."""
    of_answers = Q(metadata_json__isnull=True) | ~_OF_SECTIONS
    ratings = CeMcpUserFeedback.objects.filter(of_answers, feedback_type=CeMcpUserFeedback.Type.THUMBS_DOWN)
    narrow = ratings.only("turn_id", "created_at", "table_name", "row_pk")
    return _read_rated(
        since, narrow, lambda rating: GroupSubject(table=rating.table_name, row=rating.row_pk), MOST_MESSAGES
    )


def _read_other_sections(since: datetime) -> Iterator[InboxMessage]:
    """The messages for which users chose another section than the first, with its document and its path."""
    sections = get_document_index(configuration().current()).sections
    known = {(str(section.document), section.section.name) for section in sections}

    def read_subject(rating: CeMcpUserFeedback) -> GroupSubject | None:
        # Anybody who may rate sends this, so only a section that is there counts.
        sent = rating.metadata_json or {}
        document, section, position = str(sent.get("document")), str(sent.get("section")), sent.get("place")
        if not isinstance(position, int) or position < 2 or (document, section) not in known:
            return None
        return GroupSubject(detail=section, table=rows.AnswerDocument.table, row=document)

    ratings = CeMcpUserFeedback.objects.filter(_OF_SECTIONS, feedback_type=CeMcpUserFeedback.Type.THUMBS_UP)
    return _read_rated(since, ratings, read_subject)


def _read_rated(
    since: datetime,
    ratings: QuerySet[CeMcpUserFeedback],
    read_subject: Callable[[CeMcpUserFeedback], GroupSubject | None],
    most: int = MOST_DOCUMENTS,
) -> Iterator[InboxMessage]:
    """The messages whose answers have these ratings, the newest first, by `read_subject`; without those of None."""
    newest = list(ratings.filter(replaced_at=None, created_at__gte=since).order_by("-created_at")[:most])
    for start in range(0, len(newest), _BATCH):
        batch = newest[start : start + _BATCH]
        turns = CeConversationHistory.objects.filter(turn_id__in=[rating.turn_id for rating in batch])
        by_id = {turn_id: own for turn_id, *own in turns.values_list("turn_id", *_COLUMNS)}
        for rating in batch:
            subject = read_subject(rating)
            if rating.turn_id in by_id and subject is not None:
                turn, text, _, workspace = by_id[rating.turn_id]
                yield InboxMessage(turn, text or "", rating.created_at, workspace, subject)


def read_shown_turns(groups: Iterable[CeInboxGroup], *, with_documents: bool = False) -> None:
    """Set the turns whose messages a reader shows. One query at most."""
    chosen = {group: group.turns[: SHOWN_EXAMPLES + 1] for group in groups}
    rows = CeConversationHistory.objects.filter(pk__in={turn for turns in chosen.values() for turn in turns})
    stored = {turn.pk: turn for turn in read_rows(rows.defer(None) if with_documents else rows)}
    for group, turns in chosen.items():
        group.shown_turns = [stored[turn] for turn in turns if turn in stored]


_READERS: Mapping[Kind, Callable[[datetime], Iterator[InboxMessage]]] = {
    Kind.NOT_UNDERSTOOD: _read_not_understood,
    Kind.TWO_INTENTS: _read_two_intents,
    Kind.REFUSED_VALUE: _read_refused_values,
    Kind.FORM_GIVEN_UP: _read_forms_given_up,
    Kind.HANDED_OVER: _read_handed_over,
    Kind.NEGATIVE: _read_negative_feedback,
    Kind.OTHER_SECTION: _read_other_sections,
}


def _list_turn_ids(stages: Iterable[Any], since: datetime, most: int) -> list[UUID]:
    entries = CeTurnIndex.objects.filter(kind=CeTurnIndex.STAGE, value__in=list(map(str, stages)), at__gte=since)
    return list(dict.fromkeys(entries.order_by("-at").values_list("turn_id", flat=True)[:most]))


def _read_turns(turn_ids: Sequence[UUID], wanted: Q = _ALL, then: Any = _NOTHING) -> Iterator[InboxMessage]:
    """The messages of turns. `then`: the intent that users got with the next message; it counts if it is another."""
    for start in range(0, len(turn_ids), _BATCH):
        turns = CeConversationHistory.objects.filter(wanted, turn_id__in=turn_ids[start : start + _BATCH])
        columns = *_COLUMNS, "intent_code", then
        for turn, text, at, workspace, intent, later in turns.exclude(user_input=None).values_list(*columns):
            intent_got = code(later) if is_resolved(later) and code(later) != code(intent) else ""
            yield InboxMessage(turn, text or "", at, workspace, GroupSubject(intent_got))


def _read_payloads(
    stages: Sequence[Any], since: datetime, wanted: Q = _ALL
) -> Iterator[tuple[CeConversationHistory, list[dict[str, Any]]]]:
    """The newest turns with one of the stages, each with the payloads of these events."""
    names = set(map(str, stages))
    turn_ids = _list_turn_ids(stages, since, MOST_MESSAGES)
    count = 0
    for start in range(0, len(turn_ids), _BATCH):
        turns = CeConversationHistory.objects.filter(wanted, turn_id__in=turn_ids[start : start + _BATCH])
        in_order = turns.exclude(user_input=None).defer(None).select_related("conversation").order_by("-history_id")
        for row in read_rows(in_order):
            yield row, read_payloads(row, names)
            count += 1
            if count >= MOST_DOCUMENTS:
                return


def read_payloads(row: CeConversationHistory, stages: Collection[str]) -> list[dict[str, Any]]:
    """The payloads of the events of a turn with one of the stages."""
    return [entry.get("payload") or {} for entry in read_document(row.events) if str(entry.get("stage")) in stages]


def list_group_messages(group: int) -> list[StoredMessage]:
    """The wordings of a group, the most frequent first; empty for a group that does not exist."""
    row = CeInboxGroup.objects.filter(pk=group).first()
    if row is None:
        return []
    turns = CeConversationHistory.objects.filter(pk__in=row.turns).values_list("history_id", "user_input")
    texts = {turn: text.strip() for turn, text in turns if text and text.strip()}
    return [StoredMessage(turn, texts[turn]) for turn in row.turns if turn in texts]


def count_message_texts(most: int) -> Mapping[str, int]:
    """The texts of the newest messages of the period, each with how often it came; `most` are read."""
    turns = CeConversationHistory.objects.filter(created_at__gte=database_time() - PERIOD).exclude(user_input=None)
    texts = turns.order_by("-history_id").values_list("user_input", flat=True)[:most]
    return Counter(text for text in texts.iterator(chunk_size=5_000) if text and not text.isspace())
