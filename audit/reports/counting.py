"""Count turns by hour and day, incrementally and exactly once: counts and progress change in one transaction."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta, tzinfo
from decimal import Decimal
from typing import Any, NamedTuple

from django.db import connection, transaction
from django.db.models import Max
from django.utils import timezone

from audit.models import CeCountProgress, CeMcpUserFeedback, CeTurnCount, CeTurnDayCount, CeTurnIndex, CeTurnMonthCount
from audit.record.events import read_document
from audit.record.form_steps import FORM_STAGES, FormStep, Step, split_steps
from audit.record.milestones import MODEL_ERROR_STAGES
from audit.record.model_calls import list_calls, name_model
from audit.reports.days import find_day, find_month
from audit.reports.durations import find_bound
from convengine.engine.pipeline.stages import PIPELINE_TIMING
from convengine.engine.steps.responses.stages import NOT_UNDERSTOOD
from convengine.engine.turn.codec import loads
from convengine.engine.turn.enums import TurnStatus
from convengine.engine.turn.job import Counts
from convengine.engine.turn.scope import HAND_OVER
from convengine.server.database.sql import database_time
from convengine.server.sessions.models import CeConversationHistory

Json = Any
#: Records per transaction, and per statement that reads their documents.
BATCH, SLICE = 20_000, 1_000
#: A record may be stored after one with a higher number, until the slowest commit has ended.
SETTLED_AFTER = timedelta(seconds=60)
#: The kinds that are counted by hour, too; all others, which have very many values, by day only.
BY_HOUR = frozenset(
    {
        *(CeTurnCount.TURN, CeTurnCount.STATE, CeTurnCount.ERROR, CeTurnCount.STAGE, CeTurnCount.TIME),
        *(CeTurnCount.BEGUN, CeTurnCount.HANDED_OVER, CeTurnCount.FEEDBACK),
        *(CeTurnCount.MODEL_CALLS, CeTurnCount.MODEL_FAILED, CeTurnCount.MODEL_ERROR),
        *(
            f"{CeTurnCount.FORM}{step}"
            for step in (FormStep.STARTED, FormStep.COMPLETED, FormStep.GAVE_UP, FormStep.LEFT)
        ),
    }
)
#: Tables of the rows that answer.
ANSWERING = ("ce_response", "ce_policy", "ce_pending_action")
COLUMNS = ("hour", "workspace_id", "channel", "config_version", "intent_code", "kind", "value")
KEY = ", ".join(COLUMNS)
_HOUR = {
    "postgresql": "date_trunc('hour', h.created_at AT TIME ZONE 'UTC') AT TIME ZONE 'UTC'",
    "sqlite": "substr(h.created_at, 1, 13) || ':00:00'",
}
#: Failed and interrupted turns change no conversation.
_COMMITTED = (TurnStatus.OK.value, TurnStatus.BLOCKED.value)
_IS_COMMITTED = f"status IN {_COMMITTED}"
#: Before the times of the steps in the text of a document.
_TIMING = f'"stage":"{PIPELINE_TIMING}"'
_STEP_LIST = '"stepList":'
#: The text behind the mark; of a turn with model calls the whole document, which is long.
_AFTER = {
    "postgresql": "split_part(h.events, %(mark)s, 2)",
    "sqlite": "CASE instr(h.events, %(mark)s) WHEN 0 THEN '' ELSE substr(h.events, instr(h.events, %(mark)s)) END",
}
_ENTRIES = {
    "postgresql": "json_agg(json_build_array(i.kind, i.value, i.role))::text",
    "sqlite": "json_group_array(json_array(i.kind, i.value, i.role))",
}
_STAGES = ", ".join(f"'{stage}'" for stage in (NOT_UNDERSTOOD, *MODEL_ERROR_STAGES, *FORM_STAGES))
_TURNS = """SELECT {hour}, c.workspace_id, c.channel, h.config_version, h.intent_code, h.state_code, h.intent_before,
       h.state_before, h.status, h.error_code, h.duration_ms, h.turn_no, h.model_calls, h.cost,
       h.state_code = '{hand_over}' AND h.{is_committed} AND NOT EXISTS (
           SELECT 1 FROM ce_conversation_history e WHERE e.conversation_id = h.conversation_id
              AND e.turn_no < h.turn_no AND e.state_code = '{hand_over}' AND e.{is_committed}),
       (SELECT {entries} FROM ce_turn_index i
         WHERE i.turn_id = h.turn_id AND (i.kind <> '{stage}' OR i.value IN ({stages}))),
       CASE WHEN h.model_calls > 0 THEN h.events ELSE {after} END
  FROM ce_conversation_history h JOIN ce_conversation c ON c.conversation_id = h.conversation_id
 WHERE h.history_id > %(first)s AND h.history_id <= %(last)s AND h.source <> 'ADDITION'"""
#: Ratings that count before the new ones, and with them: a later one of the same person replaces an earlier one.
_CHANGED_RATINGS = """WITH rated AS (
        SELECT f.turn_id, f.feedback_type, f.feedback_id AS id,
               lead(f.feedback_id) OVER (PARTITION BY f.turn_id, f.author ORDER BY f.feedback_id) AS next
          FROM ce_mcp_user_feedback f
         WHERE f.feedback_id <= %(last)s AND f.turn_id IN (
               SELECT turn_id FROM ce_mcp_user_feedback WHERE feedback_id > %(first)s AND feedback_id <= %(last)s)),
    changed AS (
        SELECT turn_id, feedback_type,
               max(CASE WHEN next IS NULL THEN 1 ELSE 0 END)
             - max(CASE WHEN id <= %(first)s AND (next IS NULL OR next > %(first)s) THEN 1 ELSE 0 END) AS turns
          FROM rated GROUP BY turn_id, feedback_type)"""
#: The changed ratings; with each row that answered the turn, and without.
_RATINGS = """{changed} SELECT {hour}, c.workspace_id, c.channel, h.config_version, h.intent_code, f.feedback_type,
       coalesce(i.kind, ''), coalesce(i.value, ''), sum(f.turns)
  FROM changed f JOIN ce_conversation_history h ON h.turn_id = f.turn_id AND h.source <> 'ADDITION'
  JOIN ce_conversation c ON c.conversation_id = h.conversation_id
  JOIN (SELECT turn_id, kind, value FROM ce_turn_index WHERE kind IN ({tables})
           AND turn_id IN (SELECT turn_id FROM changed)
         UNION SELECT turn_id, NULL, NULL FROM changed) i ON i.turn_id = f.turn_id
 WHERE f.turns <> 0 GROUP BY 1, 2, 3, 4, 5, 6, 7, 8"""
_KIND_OF_RATING = {
    CeMcpUserFeedback.Type.THUMBS_UP: CeTurnCount.ANSWER_UP,
    CeMcpUserFeedback.Type.THUMBS_DOWN: CeTurnCount.ANSWER_DOWN,
}
#: What a damaged document raises. It counts as far as it can be read, and *Integrity* names it.
_DAMAGES = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)


#: Between the values of a column; few texts have it, such as the name of a channel.
_SEPARATOR = "\x1e"
#: Turns and amounts by key.
_Table = defaultdict[tuple[Any, ...], list[Any]]


class CountKey(NamedTuple):
    """What a count is about."""

    hour: datetime
    workspace_id: str
    channel: str
    config_version: int
    intent_code: str
    kind: str
    value: str


class _Turn(NamedTuple):
    """What is read of a turn."""

    hour: datetime
    workspace: str
    channel: str
    release: int
    intent: str
    state: str
    intent_before: str | None
    state_before: str | None
    status: str
    error: str | None
    duration: int | None
    number: int | None
    model_calls: int
    cost: Decimal | None
    is_handed_over: bool
    #: Rows and stages of the index, as JSON.
    entries: str | None
    text: str | None


class _Sums:
    """Turns or calls, and their amount, of each key."""

    def __init__(self) -> None:
        self.sums: _Table = defaultdict(lambda: [0, 0])
        self._where: tuple[Any, ...] = ()
        self._intent = ""

    def begin_turn(self, turn: _Turn) -> None:
        """Add to the counts of this turn from now on."""
        self._where, self._intent = turn[:4], turn.intent

    def add(self, kind: str, value: str = "", turns: int = 1, amount: Any = 0, intent: str | None = None) -> None:
        """Add to a count; of another intent if one is given."""
        counted = self.sums[*self._where, self._intent if intent is None else intent, kind, value]
        counted[0] += turns
        counted[1] += amount


def count_new_turns(settled_after: timedelta = SETTLED_AFTER) -> Iterator[Counts]:
    """Count the turns, and the ratings, that no running commit can precede any more."""
    settled = find_settled(CeCountProgress.TURNS, settled_after)
    while counted := _count_batch(settled):
        yield {"records": counted}
    settled = find_settled(CeCountProgress.FEEDBACK, settled_after)
    if counted := _count_ratings(settled):
        yield {"ratings": counted}


def find_settled(number: int, settled_after: timedelta) -> int:
    """The highest record up to which all are stored. Notes the newest one for the next look.

    While turns are counted again, it is at most the one up to which they were counted before.
    """
    with transaction.atomic():
        progress, now = lock_progress(number), database_time()
        newest = settled = _find_newest(number)
        if settled_after:
            if progress.seen_at is not None and now - progress.seen_at < settled_after:
                settled = progress.counted
            else:
                settled, progress.seen, progress.seen_at = progress.seen, newest, now
                progress.save()
        return settled if progress.recount_until is None else progress.recount_until


def _limit(progress: CeCountProgress, settled: int) -> int:
    """A recount may have begun since `settled` was found: its counts must not contain more than those put aside."""
    return settled if progress.recount_until is None else min(settled, progress.recount_until)


def _find_newest(number: int) -> int:
    is_turns = number == CeCountProgress.TURNS
    rows: Any = CeConversationHistory._base_manager if is_turns else CeMcpUserFeedback.objects
    return rows.aggregate(newest=Max("pk"))["newest"] or 0


def lock_progress(number: int) -> CeCountProgress:
    CeCountProgress.objects.get_or_create(pk=number)
    return CeCountProgress.objects.select_for_update().get(pk=number)


def _count_batch(settled: int) -> int:
    with transaction.atomic():
        progress = lock_progress(CeCountProgress.TURNS)
        first, last = progress.counted, min(progress.counted + BATCH, _limit(progress, settled))
        if last <= first:
            return 0
        sums = _Sums()
        for start in range(first, last, SLICE):
            for turn in _read_turns(start, min(start + SLICE, last)):
                sums.begin_turn(turn)
                _count_turn(turn, sums)
        _add_sums(sums.sums)
        progress.counted = last
        progress.save(update_fields=["counted"])
        return last - first


def _read_turns(first: int, last: int) -> Iterator[_Turn]:
    vendor = connection.vendor
    sql = _TURNS.format(
        hour=_HOUR[vendor],
        hand_over=HAND_OVER,
        is_committed=_IS_COMMITTED,
        entries=_ENTRIES[vendor],
        stage=CeTurnIndex.STAGE,
        stages=_STAGES,
        after=_AFTER[vendor],
    )
    with connection.cursor() as cursor:
        cursor.execute(sql, {"mark": _TIMING, "first": first, "last": last})
        for hour, *columns in cursor:
            yield _Turn(_read_hour(hour), *columns)


def _count_turn(turn: _Turn, sums: _Sums) -> None:
    sums.add(CeTurnCount.TURN, turn.status, amount=turn.duration or 0)
    sums.add(CeTurnCount.STATE, turn.state)
    if turn.error is not None:
        sums.add(CeTurnCount.ERROR, turn.error)
    if turn.number == 1:
        sums.add(CeTurnCount.BEGUN)
    if turn.is_handed_over:
        sums.add(CeTurnCount.HANDED_OVER)
    if turn.duration is not None:
        sums.add(CeTurnCount.TIME, str(find_bound(turn.duration)))
    if turn.status in _COMMITTED:
        _count_move(turn, sums)
    entries = loads(turn.entries or "[]")
    for kind, value in {(kind, value) for kind, value, _ in entries if kind != CeTurnIndex.STAGE}:
        sums.add(kind, value)
    roles = {value: role for kind, value, role in entries if kind == CeTurnIndex.STAGE}
    if NOT_UNDERSTOOD in roles:
        sums.add(CeTurnCount.STAGE, str(NOT_UNDERSTOOD))
        sums.add(CeTurnCount.NOT_UNDERSTOOD, turn.state)
    if turn.status in _COMMITTED and roles:
        _count_form_steps(entries, sums)
    has_model_failed = turn.model_calls > 0 and not roles.keys().isdisjoint(MODEL_ERROR_STAGES)
    if turn.model_calls > 0:
        sums.add(CeTurnCount.MODEL_CALLS, turns=turn.model_calls, amount=Decimal(str(turn.cost or 0)))
    if has_model_failed:
        sums.add(CeTurnCount.MODEL_FAILED)
    _count_document(turn, has_model_failed, sums)


def _count_move(turn: _Turn, sums: _Sums) -> None:
    before, after = (turn.intent_before, turn.state_before), (turn.intent, turn.state)
    if before == after:
        return
    sums.add(CeTurnCount.ENTERED, turn.state)
    if turn.intent_before is not None and turn.state_before is not None:
        sums.add(CeTurnCount.EXITED, turn.state_before, intent=turn.intent_before)
        sums.add(CeTurnCount.MOVED, CeTurnCount.SEPARATOR.join((turn.intent_before, turn.state_before, turn.state)))


def _count_form_steps(entries: Iterable[Sequence[str]], sums: _Sums) -> None:
    for kind, value, role in entries:
        if kind == CeTurnIndex.STAGE and value in FORM_STAGES:
            for step in map(Step.parse, split_steps(role)):
                sums.add(f"{CeTurnCount.FORM}{step.kind}", f"{step.schema}:{step.field}")


def _count_document(turn: _Turn, has_model_failed: bool, sums: _Sums) -> None:
    """The times of the steps, and the calls of models."""
    has_calls = turn.model_calls > 0
    _, mark, timing = (turn.text or "").rpartition(_TIMING) if has_calls else ("", "x", turn.text or "")
    with suppress(*_DAMAGES):
        if mark and (steps := _read_steps(timing)):
            _count_steps(steps, sums)
    with suppress(*_DAMAGES):
        if has_calls:
            _count_calls(list_calls(read_document(turn.text)), has_model_failed, sums)


def _read_steps(timing: str) -> Sequence[Mapping[str, Json]]:
    """The steps of a timing record; the times of a list have no brackets in them."""
    _, mark, rest = timing.partition(_STEP_LIST)
    try:
        steps = loads(rest[: rest.index("]") + 1]) if mark else []
    except ValueError:
        return []
    return steps if isinstance(steps, list) else []


def _count_steps(steps: Sequence[Mapping[str, Json]], sums: _Sums) -> None:
    sums.add(CeTurnCount.STEP)
    took: dict[str, float] = {}
    for step in steps:
        if (milliseconds := step["durationMs"]) > 0:
            took[step["step"]] = took.get(step["step"], 0) + milliseconds
    for name, milliseconds in took.items():
        if milliseconds >= 1:
            sums.add(CeTurnCount.STEP, f"{name}:{find_bound(milliseconds)}", amount=_to_decimal(milliseconds))


def _count_calls(calls: Sequence[Mapping[str, Json]], has_model_failed: bool, sums: _Sums) -> None:
    for call in calls:
        name = name_model(call)
        sums.add(CeTurnCount.MODEL, name, amount=_to_decimal(call["cost"] or 0))
        if not call["success"]:
            sums.add(CeTurnCount.MODEL_ERROR, name)
        sums.add(CeTurnCount.MODEL_TIME, f"{name}:{find_bound(call['latency_ms'])}")
    for name in set(map(name_model, calls)):
        sums.add(CeTurnCount.MODEL_TURN, name)
        if has_model_failed:
            sums.add(CeTurnCount.MODEL_TURN_FAILED, name)


def _to_decimal(number: float) -> Decimal:
    return Decimal(f"{number:.9f}")


def _count_ratings(settled: int) -> int:
    """Turns with a thumb, and by the row that answered, in the hour of the turn: a replaced rating counts no longer."""
    with transaction.atomic():
        progress = lock_progress(CeCountProgress.FEEDBACK)
        first, last = progress.counted, _limit(progress, settled)
        if last <= first:
            return 0
        tables = ", ".join(f"'{table}'" for table in ANSWERING)
        with connection.cursor() as cursor:
            cursor.execute(
                _RATINGS.format(changed=_CHANGED_RATINGS, hour=_HOUR[connection.vendor], tables=tables),
                {"first": first, "last": last},
            )
            add_counts(list(map(_read_rating, cursor)))
        progress.counted = last
        progress.save(update_fields=["counted"])
        return last - first


def _read_rating(row: Sequence[Any]) -> tuple[CountKey, int, Decimal]:
    hour, workspace, channel, release, intent, rating, table, pk, turns = row
    counted = (_KIND_OF_RATING[rating], f"{table}:{pk}") if table else (CeTurnCount.FEEDBACK, rating)
    return CountKey(_read_hour(hour), workspace, channel, release, intent, *counted), int(turns), Decimal(0)


def _read_hour(hour: datetime | str) -> datetime:
    return datetime.fromisoformat(hour).replace(tzinfo=UTC) if isinstance(hour, str) else hour.astimezone(UTC)


def add_counts(counts: Iterable[tuple[CountKey, int, Decimal]]) -> None:
    """Add to the counts of hours, days and months; most kinds are not counted by hour. Needs an open transaction."""
    sums: _Table = defaultdict(lambda: [0, 0])
    for key, turns, amount in counts:
        sums[tuple(key)][0] += turns
        sums[tuple(key)][1] += amount
    _add_sums(sums)


def _add_sums(hours: _Table) -> None:
    days = _sum_up(hours, find_day)
    for model, table in (
        (CeTurnCount, {key: counted for key, counted in hours.items() if key[5] in BY_HOUR}),
        (CeTurnDayCount, days),
        (CeTurnMonthCount, _sum_up(days, find_month)),
    ):
        _upsert(model._meta.db_table, table)


def _sum_up(table: _Table, find_start: Callable[[datetime, tzinfo], datetime]) -> _Table:
    """The counts of longer times."""
    zone = timezone.get_current_timezone()
    starts = {hour: find_start(hour, zone) for hour in {key[0] for key in table}}
    sums: _Table = defaultdict(lambda: [0, 0])
    for key, (turns, amount) in table.items():
        counted = sums[starts[key[0]], *key[1:]]
        counted[0] += turns
        counted[1] += amount
    return sums


def _upsert(table: str, sums: Mapping[tuple[Any, ...], Sequence[Any]]) -> None:
    if not sums:
        return
    # One order for all, so that two writers cannot wait for each other.
    in_order = sorted(sums.items())
    update = add_on_conflict_sql(table)
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            types = ("timestamptz", "text", "text", "bigint", "text", "text", "text", "bigint", "numeric")
            keys = zip(*(key for key, _ in in_order), strict=True)
            columns = [*keys, [turns for _, (turns, _) in in_order], [amount for _, (_, amount) in in_order]]
            array, values = _encode_columns([list(map(str, column)) for column in columns])
            arrays = ", ".join(f"({array})::{name}[]" for name in types)
            cursor.execute(
                f"INSERT INTO {table} ({KEY}, turns, amount) SELECT * FROM unnest({arrays}) {update}", values
            )
        else:
            adapt_time = connection.ops.adapt_datetimefield_value
            cursor.executemany(
                f"INSERT INTO {table} ({KEY}, turns, amount) VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s) {update}",
                [(adapt_time(hour), *rest, turns, str(amount)) for (hour, *rest), (turns, amount) in in_order],
            )


def _encode_columns(columns: Sequence[list[str]]) -> tuple[str, Sequence[Any]]:
    """The SQL of an array, and the values of the columns: texts are sent much faster than arrays."""
    # Values behind a separator each: without one, a single blank text would be none.
    texts = [_SEPARATOR.join(("", *column)) for column in columns]
    if all(text.count(_SEPARATOR) == len(column) for text, column in zip(texts, columns, strict=True)):
        return f"(string_to_array(%s, '{_SEPARATOR}'))[2:]", texts
    return "%s::text[]", columns


def add_on_conflict_sql(table: str) -> str:
    """What an insert does with a count that is there."""
    return f"""ON CONFLICT ({KEY}) DO UPDATE
        SET turns = {table}.turns + EXCLUDED.turns, amount = {table}.amount + EXCLUDED.amount"""
