"""Count turns by hour and day: one statement, of new turns as well as of turns that are counted again.

The database counts what the columns and the index of turns say. Only what the documents say is read
(`list_document_counts`), and what became of conversations is followed turn by turn (`count_outcomes`).
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, timedelta
from json import JSONDecoder
from typing import Any, NamedTuple

from django.db import connection, transaction
from django.db.models import Case, F, Func, Max, Min, OuterRef, Q, QuerySet, Subquery, TextField, Value, When
from django.db.models.functions import NullIf, StrIndex, Substr, TruncHour

from audit.models import CeCountProgress, CeMcpUserFeedback, CeTurnCount, CeTurnIndex
from audit.record.events import read_document
from audit.record.form_steps import FORM_STAGES, FormProgress, split_steps
from audit.record.milestones import CONDITIONS, IS_COMMITTED, Milestone
from audit.record.model_calls import list_calls, name_model
from audit.record.sql_views import ReadableEvents
from audit.reports.count_batch import (
    NEW_COUNTS,
    CountChange,
    collect_counts,
    find_oldest_hour,
    insert_rows,
    quote_texts,
)
from audit.reports.count_outcomes import ANSWERING, count_outcomes
from audit.reports.durations import BOUNDS, find_bound
from convengine.engine.pipeline.stages import PIPELINE_TIMING
from convengine.engine.steps.responses.stages import HAND_OVER_OFFERED, NOT_UNDERSTOOD
from convengine.engine.turn.codec import loads
from convengine.engine.turn.job import Counts
from convengine.json_value import Json
from convengine.server.database.sql import database_time
from convengine.server.database.unreadable import read_any_text
from convengine.server.sessions.models import CeConversationHistory

#: Before the times of the steps in the text of a document.
_TIMING = f'"stage":"{PIPELINE_TIMING}"'
_STEP_LIST = '"stepList":'
#: Before the model calls of an event, which are its last key.
_CALLS = ',"calls":'
#: What a damaged document raises. It counts as far as it can be read, and *Integrity* names it.
_DAMAGES = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)
_DECODER = JSONDecoder()


class _Count(NamedTuple):
    kind: str
    value: str = ""
    amount: str = "0"


def select_texts(turns: QuerySet[Any], *about: str) -> QuerySet[Any]:
    """Turns as `list_document_counts` reads them: the columns `about`, then model calls, steps of forms, and the text.

    `turns` must be annotated with `has_model_failed`.
    """
    stages = CeTurnIndex.objects.filter(turn_id=OuterRef("turn_id"), kind=CeTurnIndex.STAGE, value__in=FORM_STAGES)
    form_steps = Subquery(stages.exclude(role="").values("role")[:1])
    texts: QuerySet[Any] = turns.annotate(
        form_steps=Case(When(IS_COMMITTED, then=form_steps), default=Value(""), output_field=TextField()),
        text=Case(When(model_calls__gt=0, then=ReadableEvents()), default=_select_timing(), output_field=TextField()),
    ).values_list(*about, "model_calls", "has_model_failed", "form_steps", "text")
    return texts


def _select_timing() -> Any:
    """The document from the times of its steps on, as the rest of it is long; a damaged one is blank."""
    if connection.vendor == "postgresql":
        return Func(ReadableEvents(), Value(_TIMING), Value(2), function="split_part", output_field=TextField())
    return Substr("events", NullIf(StrIndex("events", Value(_TIMING)), Value(0)))


def list_document_counts(rows: Iterable[Sequence[Any]]) -> Iterator[tuple[Any, ...]]:
    """The counts of turns as `select_texts` reads them: what each is about, its kind, value, turns and amount."""
    for *about, model_calls, has_model_failed, form_steps, text in rows:
        for step in map(FormProgress.parse, split_steps(form_steps or "")):
            yield *about, f"{CeTurnCount.FORM}{step.kind}", f"{step.schema}:{step.field}", 1, "0"
        for count in _count_document(text or "", model_calls, has_model_failed):
            yield *about, count.kind, count.value, 1, count.amount


def _count_document(text: str, model_calls: int, has_model_failed: bool) -> Iterator[_Count]:
    """The times of the steps, and the calls of models."""
    with suppress(*_DAMAGES):
        _, mark, timing = text.rpartition(_TIMING) if model_calls else ("", "x", text)
        if mark and (steps := _read_steps(timing)):
            yield from _count_steps(steps)
    with suppress(*_DAMAGES):
        if model_calls:
            yield from _count_calls(_read_calls(text, model_calls), has_model_failed)


def _read_steps(timing: str) -> Sequence[Mapping[str, Json]]:
    """The steps of a timing record; the times of a list have no brackets in them."""
    _, mark, rest = timing.partition(_STEP_LIST)
    try:
        steps = loads(rest[: rest.index("]") + 1]) if mark else []
    except ValueError:
        return []
    return steps if isinstance(steps, list) else []


def _count_steps(steps: Sequence[Mapping[str, Json]]) -> Iterator[_Count]:
    """The turn once, then each step with its time in the turn, unless that is less than a millisecond."""
    yield _Count(CeTurnCount.STEP)
    took: dict[str, float] = defaultdict(float)
    for step in steps:
        took[step["step"]] += step["durationMs"]
    for name, milliseconds in took.items():
        if milliseconds >= 1:
            yield _Count(CeTurnCount.STEP, f"{name}:{find_bound(milliseconds)}", f"{milliseconds:.9f}")


def _read_calls(text: str, number: int) -> Sequence[Mapping[str, Json]]:
    """The calls of a document, without reading the rest of it, which is much longer."""
    calls: list[Mapping[str, Json]] = []
    end = 0
    with suppress(TypeError, ValueError):
        while (start := text.find(_CALLS, end)) >= 0:
            of_event, end = _DECODER.raw_decode(text, start + len(_CALLS))
            calls += of_event
    # The key may be one of a payload, too.
    return calls if len(calls) == number else list_calls(read_document(text))


def _count_calls(calls: Sequence[Mapping[str, Json]], has_model_failed: bool) -> Iterator[_Count]:
    """Each call with cost, error and time, then the turn once for each model.

    `has_model_failed`: a model gave the turn no usable answer; each of its models counts as failed.
    """
    for call in calls:
        name = name_model(call)
        yield _Count(CeTurnCount.MODEL, name, f"{call['cost'] or 0:.9f}")
        if not call["success"]:
            yield _Count(CeTurnCount.MODEL_ERROR, name)
        yield _Count(CeTurnCount.MODEL_TIME, f"{name}:{find_bound(call['latency_ms'])}")
    for name in set(map(name_model, calls)):
        yield _Count(CeTurnCount.MODEL_TURN, name)
        if has_model_failed:
            yield _Count(CeTurnCount.MODEL_TURN_FAILED, name)


#: Records per transaction, and per statement that reads their documents.
BATCH, SLICE = 50_000, 1_000
#: A record may be stored after one with a higher number, until the slowest commit has ended.
SETTLED_AFTER = timedelta(seconds=60)
#: The stages whose turns are counted.
STAGES = (str(NOT_UNDERSTOOD), str(HAND_OVER_OFFERED))
_WHERE = ("hour", "workspace_id", "channel", "config_version", "intent_code")
#: What a turn has besides: columns, and conditions that are declared with the milestones.
_COLUMNS = (
    *("turn_id", "turn_no", "state_code", "intent_before", "state_before", "status", "error_code", "duration_ms"),
    *("model_calls", "cost"),
)
_FLAGS = {
    "is_moved": CONDITIONS[Milestone.ENTERED],
    "has_model_failed": CONDITIONS[Milestone.MODEL_FAILED],
    "has_task_failed": CONDITIONS[Milestone.TASK_FAILED],
}
_RANGES = ", ".join(f"({first}, {end})" for first, end in zip(BOUNDS, (*BOUNDS[1:], 1 << 32), strict=True))
_MOVED_FROM = f"intent_before || '{CeTurnCount.SEPARATOR}' || state_before || '{CeTurnCount.SEPARATOR}'"
_HAS_LEFT = "is_moved AND intent_before IS NOT NULL AND state_before IS NOT NULL"
#: The kinds that columns and the index give: intent, kind, value, turns, amount, and the turns that have it.
_FACTS = (
    f"intent_code, '{CeTurnCount.TURN}', status, 1, coalesce(duration_ms, 0) FROM turn",
    f"intent_code, '{CeTurnCount.STATE}', state_code, 1, 0 FROM turn",
    f"intent_code, '{CeTurnCount.ERROR}', error_code, 1, 0 FROM turn WHERE error_code IS NOT NULL",
    f"intent_code, '{CeTurnCount.BEGUN}', '', 1, 0 FROM turn WHERE turn_no = 1",
    f"""intent_code, '{CeTurnCount.TIME}', CAST(since AS text), 1, 0
        FROM turn JOIN duration ON duration_ms >= since AND duration_ms < until""",
    f"intent_code, '{CeTurnCount.ENTERED}', state_code, 1, 0 FROM turn WHERE is_moved",
    f"intent_before, '{CeTurnCount.EXITED}', state_before, 1, 0 FROM turn WHERE {_HAS_LEFT}",
    f"intent_code, '{CeTurnCount.MOVED}', {_MOVED_FROM} || state_code, 1, 0 FROM turn WHERE {_HAS_LEFT}",
    f"intent_code, '{CeTurnCount.MODEL_CALLS}', '', model_calls, coalesce(cost, 0) FROM turn WHERE model_calls > 0",
    f"intent_code, '{CeTurnCount.MODEL_FAILED}', '', 1, 0 FROM turn WHERE has_model_failed",
    f"intent_code, '{CeTurnCount.TASK_FAILED}', '', 1, 0 FROM turn WHERE has_task_failed",
    "intent_code, kind, value, 1, 0 FROM entry",
    f"""intent_code, '{CeTurnCount.NOT_UNDERSTOOD}', state_code, 1, 0
        FROM entry WHERE kind = '{CeTurnCount.STAGE}' AND value = '{NOT_UNDERSTOOD}'""",
)
_OF_TURN = ", ".join(_WHERE[:-1])
_COUNT_FACTS = f"""INSERT INTO {NEW_COUNTS}
WITH turn ({", ".join((*_WHERE, *_COLUMNS, *_FLAGS))}) AS ({{turns}}),
entry AS (
    SELECT DISTINCT t.turn_id, {_OF_TURN}, intent_code, state_code, i.kind, i.value
      FROM turn t JOIN ce_turn_index i ON i.turn_id = t.turn_id
     WHERE i.kind <> '{CeTurnIndex.STAGE}' OR i.value IN ({quote_texts(STAGES)})),
duration (since, until) AS (VALUES {_RANGES}),
fact ({_OF_TURN}, intent_code, kind, value, turns, amount) AS (
    {" UNION ALL ".join(f"SELECT {_OF_TURN}, {fact}" for fact in _FACTS)})
SELECT {_OF_TURN}, intent_code, kind, value, sum(turns), sum(amount) FROM fact
 GROUP BY {_OF_TURN}, intent_code, kind, value"""
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
_HOUR = {
    "postgresql": "date_trunc('hour', h.created_at AT TIME ZONE 'UTC') AT TIME ZONE 'UTC'",
    "sqlite": "substr(h.created_at, 1, 13) || ':00:00'",
}
#: The changed ratings; with each row that answered the turn, and without.
_COUNT_RATINGS = f"""INSERT INTO {NEW_COUNTS} {_CHANGED_RATINGS}
SELECT {{hour}}, c.workspace_id, c.channel, h.config_version, h.intent_code,
       CASE WHEN i.kind IS NULL THEN '{CeTurnCount.FEEDBACK}'
            WHEN f.feedback_type = '{CeMcpUserFeedback.Type.THUMBS_UP}' THEN '{CeTurnCount.ANSWER_UP}'
            ELSE '{CeTurnCount.ANSWER_DOWN}' END,
       CASE WHEN i.kind IS NULL THEN f.feedback_type ELSE i.kind || ':' || i.value END, f.turns, 0
  FROM changed f JOIN ce_conversation_history h ON h.turn_id = f.turn_id AND h.source <> 'ADDITION'
  JOIN ce_conversation c ON c.conversation_id = h.conversation_id
  JOIN (SELECT turn_id, kind, value FROM ce_turn_index WHERE kind IN ({quote_texts(ANSWERING)})
           AND turn_id IN (SELECT turn_id FROM changed)
         UNION SELECT turn_id, NULL, NULL FROM changed) i ON i.turn_id = f.turn_id
 WHERE f.turns <> 0"""


def count_new_turns(settled_after: timedelta = SETTLED_AFTER) -> Iterator[Counts]:
    """Count the turns, and the ratings, that no running commit can precede any more; forget old hours.

    These are those that are known for the time `settled_after`; with 0, all of them.
    """
    for number, name, limit, count in (
        (CeCountProgress.TURNS, "records", BATCH, _count_range),
        (CeCountProgress.OUTCOMES, "outcomes", BATCH, count_outcomes),
        (CeCountProgress.FEEDBACK, "ratings", None, count_ratings),
    ):
        settled = _find_settled(number, settled_after)
        while counted := _count_next(number, settled, limit, count):
            yield {name: counted}
    CeTurnCount.objects.filter(is_hour=True, hour__lt=find_oldest_hour()).delete()


def _find_settled(number: int, settled_after: timedelta) -> int:
    """The highest record up to which all are stored; without `settled_after`, the newest one.

    Notes the newest one for the next call. Too soon after the last one, nothing more is settled than was counted.
    """
    with transaction.atomic():
        progress, now = lock_progress(number), database_time()
        is_feedback = number == CeCountProgress.FEEDBACK
        rows: Any = CeMcpUserFeedback.objects if is_feedback else CeConversationHistory._base_manager
        newest = rows.aggregate(newest=Max("pk"))["newest"] or 0
        if not settled_after:
            return newest
        if progress.seen_at is not None and now - progress.seen_at < settled_after:
            return progress.counted
        settled, progress.seen, progress.seen_at = progress.seen, newest, now
        progress.save()
        return settled


def lock_progress(number: int) -> CeCountProgress:
    """The progress of one kind of counting, `number`. Other processes that count wait until the transaction ends."""
    CeCountProgress.objects.get_or_create(pk=number)
    return CeCountProgress.objects.select_for_update().get(pk=number)


def _count_next(number: int, settled: int, limit: int | None, count: Any) -> int:
    """Count the next records up to `settled`, at most `limit`, and note it, in one transaction.

    Returns how many numbers they have, 0 without records.
    """
    with transaction.atomic():
        progress = lock_progress(number)
        first, last = progress.counted, settled if limit is None else min(progress.counted + limit, settled)
        if last <= first:
            return 0
        with collect_counts(CountChange.ADD) as cursor:
            count(cursor, first, last)
        progress.counted = last
        progress.save(update_fields=["counted"])
        return last - first


def _count_range(cursor: Any, first: int, last: int) -> None:
    count_turns(cursor, Q(pk__gt=first, pk__lte=last))


def count_turns(cursor: Any, wanted: Q) -> None:
    """Write the counts of the wanted turns into NEW_COUNTS. Outcomes and ratings are counted on their own."""
    flags = {name: Case(When(condition, then=Value(True)), default=Value(False)) for name, condition in _FLAGS.items()}
    records = CeConversationHistory._base_manager.filter(wanted).exclude(source="ADDITION").order_by()
    about = {"workspace_id": F("conversation__workspace_id"), "channel": F("conversation__channel")}
    turns = records.annotate(hour=TruncHour("created_at", tzinfo=UTC), **about, **flags)
    sql, params = turns.values_list(*_WHERE, *_COLUMNS, *_FLAGS).query.sql_with_params()
    cursor.execute(_COUNT_FACTS.replace("{turns}", sql), params)
    texts, ends = select_texts(turns, *_WHERE), turns.aggregate(first=Min("pk"), last=Max("pk"))
    for start in range((ends["first"] or 1) - 1, ends["last"] or 0, SLICE):
        with read_any_text():
            rows = list(texts.filter(pk__gt=start, pk__lte=start + SLICE))
        insert_rows(cursor, NEW_COUNTS, list(list_document_counts(rows)))


def count_ratings(cursor: Any, first: int, last: int) -> None:
    """Write the counts of turns with a thumb, and by the row that answered, in the hour of the turn.

    A rating that one of these replaces counts no longer.
    """
    cursor.execute(_COUNT_RATINGS.replace("{hour}", _HOUR[connection.vendor]), {"first": first, "last": last})
