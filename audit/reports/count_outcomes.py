"""Follow what becomes of conversations and forms, turn by turn, and count it where they began."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import Any
from uuid import UUID

from django.db.models import Q

from audit.models import CeOutcome, CeTurnCount, CeTurnIndex
from audit.record.days import floor_hour
from audit.record.form_steps import FORM_STAGES, FormProgress, FormStep, split_steps
from audit.record.milestones import COMMITTED
from audit.record.outcomes import FORM_ENDS, FormOutcome, Outcome, TurnResult, follow_conversation, has_bot_failed
from audit.record.task_errors import TASK_STAGES, is_task_undone
from audit.reports.count_batch import NEW_COUNTS, insert_rows
from convengine.engine.steps.hand_over.step import MESSAGE_PASSED_ON, PERSON_ANSWERED
from convengine.engine.steps.responses.stages import NOT_UNDERSTOOD, PERSON_WANTED
from convengine.engine.text.compare import code
from convengine.engine.threads.stages import SESSION_LIFECYCLE
from convengine.engine.turn.enums import Lifecycle, TurnStatus
from convengine.engine.turn.scope import HAND_OVER, is_resolved
from convengine.server.sessions.models import ADDITION, ENDED, CeConversationHistory

#: Records whose conversations are followed together.
SLICE = 1_000
#: Tables of the rows that answer.
ANSWERING = ("ce_response", "ce_policy", "ce_pending_action")
#: The stages that say that a person has the conversation.
_WITH_PERSON = (str(MESSAGE_PASSED_ON), str(PERSON_ANSWERED))
_STAGES = (
    *(str(NOT_UNDERSTOOD), str(PERSON_WANTED), str(SESSION_LIFECYCLE)),
    *(*_WITH_PERSON, *TASK_STAGES, *FORM_STAGES),
)
_COLUMNS = (
    *("conversation_id", "turn_id", "turn_no", "source", "status", "intent_code", "state_code", "config_version"),
    *("created_at", "conversation__workspace_id", "conversation__channel", "conversation__lifecycle"),
    "conversation__last_turn_no",
)
_ENTRIES = Q(kind=CeTurnIndex.STAGE, value__in=_STAGES) | Q(kind__in=ANSWERING)
_Entries = Iterable[tuple[str, str, str]]
#: A changed row, with the outcome and the field that it had. A new row had none (null).
_Change = tuple[CeOutcome, tuple[str, str] | None]
#: All outcomes that are stored, as counts.
_COUNT_STORED = f"""INSERT INTO {NEW_COUNTS}
SELECT hour, workspace_id, channel, config_version, intent_code,
       CASE WHEN schema_id = {CeOutcome.CONVERSATION} THEN '{CeTurnCount.OUTCOME}'
            ELSE '{CeTurnCount.FORM_OUTCOME}' || outcome END,
       CASE WHEN schema_id = {CeOutcome.CONVERSATION} THEN outcome
            ELSE CAST(schema_id AS text) || ':' || field END, count(*), 0
  FROM ce_outcome GROUP BY 1, 2, 3, 4, 5, 6, 7"""


def count_outcomes(cursor: Any, first: int, last: int) -> None:
    """Follow the records after `first`, up to `last`, and write what changed into NEW_COUNTS."""
    for start in range(first, last, SLICE):
        _count_slice(cursor, start, min(start + SLICE, last))


def count_stored_outcomes(cursor: Any) -> None:
    cursor.execute(_COUNT_STORED)


def _count_slice(cursor: Any, first: int, last: int) -> None:
    """Follow the records after `first`, up to `last`, store the outcomes, and write changes into NEW_COUNTS."""
    rows = CeConversationHistory._base_manager.filter(pk__gt=first, pk__lte=last).order_by("pk")
    turns = list(rows.values_list(*_COLUMNS, named=True))
    entries = _read_entries([turn.turn_id for turn in turns if turn.source != ADDITION])
    conversations = _read_conversations({turn.conversation_id for turn in turns})
    for turn in turns:
        conversations[turn.conversation_id].follow(turn, entries.get(turn.turn_id, ()))
    changed = [row for conversation in conversations.values() for row in conversation.list_changes()]
    _store_outcomes(changed)
    insert_rows(cursor, NEW_COUNTS, list(_list_counts(changed)))


def _store_outcomes(changed: Iterable[_Change]) -> None:
    CeOutcome.objects.bulk_create([row for row, before in changed if before is None])
    CeOutcome.objects.bulk_update([row for row, before in changed if before is not None], ["outcome", "field"])


def _read_entries(turn_ids: list[UUID]) -> Mapping[UUID, _Entries]:
    """What the index says of turns. One query."""
    by_turn: dict[UUID, list[tuple[str, str, str]]] = defaultdict(list)
    entries = CeTurnIndex.objects.filter(_ENTRIES, turn_id__in=turn_ids)
    for turn_id, *entry in entries.values_list("turn_id", "kind", "value", "role"):
        by_turn[turn_id].append((entry[0], entry[1], entry[2]))
    return by_turn


class _Conversation:
    """A conversation and its open form, as far as they were followed."""

    def __init__(self, rows: Iterable[CeOutcome]) -> None:
        self._rows = list(rows)
        self._before = {row.pk: (row.outcome, row.field) for row in self._rows}

    def follow(self, turn: Any, entries: _Entries) -> None:
        """Follow one more record. A conversation whose first turn is not stored any more has no outcome."""
        result = _read_end(turn) if turn.source == ADDITION else _read_result(turn, entries)
        if turn.turn_no == 1 and self._whole is None:
            self._begin(turn, CeOutcome.CONVERSATION, Outcome.OPEN)
        if (whole := self._whole) is None:
            return
        ends = self._follow_form(turn, result)
        has_open_form = self._open_form is not None
        whole.outcome = follow_conversation(Outcome(whole.outcome), result, ends, has_open_form=has_open_form).value

    def _follow_form(self, turn: Any, result: TurnResult) -> set[FormOutcome]:
        """What became of forms in the turn. The steps of other forms come first: they end the form that was open."""
        ends: set[FormOutcome] = set()
        started = next((step.schema for step in result.steps if step.kind is FormStep.STARTED), None)
        for step in sorted(result.steps, key=lambda step: step.schema == started):
            ends |= self._take_step(turn, step)
        if result.is_handed_over:
            ends |= self._close(FormOutcome.HANDED_OVER)
        return ends | (self._close(FormOutcome.LEFT) if result.has_ended else set())

    def _take_step(self, turn: Any, step: FormProgress) -> set[FormOutcome]:
        """Follow one step; returns what became of the form that it ends. Only a start counts for another form."""
        if step.kind is FormStep.STARTED:
            ends = self._close(FormOutcome.LEFT)
            self._begin(turn, step.schema, FormOutcome.OPEN)
            return ends
        form = self._open_form
        if form is None or form.schema_id != step.schema:
            return set()
        if step.kind in (FormStep.ASKED, FormStep.FILLED):
            form.field = step.field
        return self._close(FORM_ENDS[step.kind], step.field) if step.kind in FORM_ENDS else set()

    def _begin(self, turn: Any, schema: int, outcome: Outcome | FormOutcome) -> None:
        """Add a row for a form, or for the conversation, that begins in a turn."""
        row = CeOutcome(conversation_id=turn.conversation_id, schema_id=schema, turn_no=turn.turn_no)
        row.hour, row.outcome = floor_hour(turn.created_at), outcome.value
        row.workspace_id, row.channel = turn.conversation__workspace_id, turn.conversation__channel
        row.config_version, row.intent_code = turn.config_version, turn.intent_code
        self._rows.append(row)

    def _close(self, outcome: FormOutcome, field: str | None = None) -> set[FormOutcome]:
        """End the open form, if there is one, at the field that it asks for if no other one is given."""
        if (form := self._open_form) is None:
            return set()
        form.outcome, form.field = outcome.value, form.field if field is None else field
        return {outcome}

    @property
    def _whole(self) -> CeOutcome | None:
        return next((row for row in self._rows if row.schema_id == CeOutcome.CONVERSATION), None)

    @property
    def _open_form(self) -> CeOutcome | None:
        is_open = (row for row in self._rows if row.schema_id and row.outcome == FormOutcome.OPEN)
        return next(is_open, None)

    def list_changes(self) -> Iterator[_Change]:
        """The rows that are new, or whose outcome or field changed."""
        for row in self._rows:
            before = self._before.get(row.pk)
            if before != (row.outcome, row.field):
                yield row, before


def _read_conversations(ids: Iterable[UUID]) -> Mapping[UUID, _Conversation]:
    """The conversations by id, with the outcomes that are needed to follow them. One query.

    Of the forms, those that are open are enough.
    """
    rows: dict[UUID, list[CeOutcome]] = {key: [] for key in ids}
    is_needed = Q(schema_id=CeOutcome.CONVERSATION) | Q(outcome=FormOutcome.OPEN.value)
    for row in CeOutcome.objects.filter(is_needed, conversation_id__in=list(rows)):
        rows[row.conversation_id].append(row)
    return {key: _Conversation(of_conversation) for key, of_conversation in rows.items()}


def _read_end(record: Any) -> TurnResult:
    """What an addition says: a session may end without a turn."""
    is_last = record.turn_no in (None, record.conversation__last_turn_no)
    return TurnResult(has_ended=is_last and record.conversation__lifecycle in ENDED)


def _read_result(turn: Any, entries: _Entries) -> TurnResult:
    """What a turn says, by its columns and its index entries. The steps of a turn that changed nothing do not count."""
    stages = {value: role for kind, value, role in entries if kind == CeTurnIndex.STAGE}
    has_answer = any(kind in ANSWERING for kind, _, _ in entries)
    is_committed = turn.status in COMMITTED
    steps = [FormProgress.parse(text) for stage in FORM_STAGES for text in split_steps(stages.get(stage, ""))]
    return TurnResult(
        is_committed=is_committed,
        is_handed_over=is_committed
        and (code(turn.state_code) == HAND_OVER or not stages.keys().isdisjoint(_WITH_PERSON)),
        has_bot_failed=has_bot_failed(stages),
        is_not_understood=NOT_UNDERSTOOD in stages,
        is_answered=has_answer and (turn.status == TurnStatus.BLOCKED or is_resolved(turn.intent_code)),
        has_task_failed=is_task_undone(stages.items()),
        asks=stages.get(str(SESSION_LIFECYCLE)) == Lifecycle.AWAITING_USER,
        has_ended=stages.get(str(SESSION_LIFECYCLE)) in ENDED,
        steps=steps if is_committed else (),
    )


def _list_counts(changed: Iterable[_Change]) -> Iterator[tuple[Any, ...]]:
    """The rows of NEW_COUNTS: one more for what became of each row, and one less for what it was before."""
    for row, before in changed:
        about = (row.hour, row.workspace_id, row.channel, row.config_version, row.intent_code)
        yield *about, *_name_count(row.schema_id, row.outcome, row.field), 1, "0"
        if before is not None:
            yield *about, *_name_count(row.schema_id, *before), -1, "0"


def _name_count(schema: int, outcome: str, field: str) -> tuple[str, str]:
    """The kind and the value of a count."""
    if schema == CeOutcome.CONVERSATION:
        return CeTurnCount.OUTCOME, outcome
    return f"{CeTurnCount.FORM_OUTCOME}{outcome}", f"{schema}:{field}"
