"""Count turns by hour and day, incrementally and exactly once: counts and progress change in one transaction.

The database counts what the columns and the index of turns say. Only the times of steps, the calls of models and the
steps of forms are read.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import timedelta
from json import JSONDecoder
from typing import Any, NamedTuple

from django.db import connection, transaction
from django.db.models import Max, QuerySet

from audit.models import CeCountProgress, CeMcpUserFeedback, CeTurnCount, CeTurnIndex
from audit.record.events import read_document
from audit.record.form_steps import FORM_STAGES, Step, split_steps
from audit.record.milestones import MODEL_ERROR_STAGES
from audit.record.model_calls import list_calls, name_model
from audit.reports.count_batch import NEW_COUNTS, collect_counts, insert_counts, quote_texts
from audit.reports.durations import BOUNDS, find_bound
from convengine.engine.pipeline.stages import PIPELINE_TIMING
from convengine.engine.steps.responses.stages import NOT_UNDERSTOOD
from convengine.engine.turn.codec import loads
from convengine.engine.turn.enums import TurnStatus
from convengine.engine.turn.job import Counts
from convengine.engine.turn.scope import HAND_OVER
from convengine.server.database.sql import database_time
from convengine.server.database.unreadable import read_any_text
from convengine.server.sessions.models import CeConversationHistory

Json = Any
#: Records per transaction, and per statement that reads their documents.
BATCH, SLICE = 50_000, 1_000
#: A record may be stored after one with a higher number, until the slowest commit has ended.
SETTLED_AFTER = timedelta(seconds=60)
#: Tables of the rows that answer.
ANSWERING = ("ce_response", "ce_policy", "ce_pending_action")
_HOUR = {
    "postgresql": "date_trunc('hour', h.created_at AT TIME ZONE 'UTC') AT TIME ZONE 'UTC'",
    "sqlite": "substr(h.created_at, 1, 13) || ':00:00'",
}
#: Failed and interrupted turns change no conversation.
_IS_COMMITTED = f"status IN ({quote_texts((TurnStatus.OK.value, TurnStatus.BLOCKED.value))})"
_TURNS = """FROM ce_conversation_history h JOIN ce_conversation c ON c.conversation_id = h.conversation_id
  WHERE h.history_id > %(first)s AND h.history_id <= %(last)s AND h.source <> 'ADDITION'"""
_HAS_MODEL_FAILED = f"""h.model_calls > 0 AND EXISTS (SELECT 1 FROM ce_turn_index i WHERE i.turn_id = h.turn_id
        AND i.kind = '{CeTurnIndex.STAGE}' AND i.value IN ({quote_texts(MODEL_ERROR_STAGES)}))"""
_RANGES = ", ".join(f"({first}, {end})" for first, end in zip(BOUNDS, (*BOUNDS[1:], 1 << 32), strict=True))
_MOVED_FROM = f"intent_before || '{CeTurnCount.SEPARATOR}' || state_before || '{CeTurnCount.SEPARATOR}'"
#: The kinds that columns and the index give: intent, kind, value, turns, amount, and the turns that have it.
_FACTS = (
    f"intent_code, '{CeTurnCount.TURN}', status, 1, coalesce(duration_ms, 0) FROM turn",
    f"intent_code, '{CeTurnCount.STATE}', state_code, 1, 0 FROM turn",
    f"intent_code, '{CeTurnCount.ERROR}', error_code, 1, 0 FROM turn WHERE error_code IS NOT NULL",
    f"intent_code, '{CeTurnCount.BEGUN}', '', 1, 0 FROM turn WHERE turn_no = 1",
    f"intent_code, '{CeTurnCount.HANDED_OVER}', '', 1, 0 FROM turn WHERE is_handed_over",
    f"""intent_code, '{CeTurnCount.TIME}', CAST(since AS text), 1, 0
        FROM turn JOIN duration ON duration_ms >= since AND duration_ms < until""",
    f"intent_code, '{CeTurnCount.ENTERED}', state_code, 1, 0 FROM turn WHERE is_moved",
    f"""intent_before, '{CeTurnCount.EXITED}', state_before, 1, 0
        FROM turn WHERE is_moved AND intent_before IS NOT NULL AND state_before IS NOT NULL""",
    f"""intent_code, '{CeTurnCount.MOVED}', {_MOVED_FROM} || state_code, 1, 0
        FROM turn WHERE is_moved AND intent_before IS NOT NULL AND state_before IS NOT NULL""",
    f"""intent_code, '{CeTurnCount.MODEL_CALLS}', '', model_calls, coalesce(cost, 0)
        FROM turn WHERE model_calls > 0""",
    f"intent_code, '{CeTurnCount.MODEL_FAILED}', '', 1, 0 FROM turn WHERE has_model_failed",
    "intent_code, kind, value, 1, 0 FROM entry",
    f"""intent_code, '{CeTurnCount.NOT_UNDERSTOOD}', state_code, 1, 0
        FROM entry WHERE kind = '{CeTurnCount.STAGE}'""",
)
_WHERE = "hour, workspace_id, channel, config_version"
_COUNT_FACTS = f"""INSERT INTO {NEW_COUNTS}
WITH turn AS (
    SELECT {{hour}} AS hour, c.workspace_id, c.channel, h.config_version, h.intent_code, h.state_code,
           h.intent_before, h.state_before, h.status, h.error_code, h.duration_ms, h.turn_no, h.turn_id,
           h.model_calls, h.cost, {_HAS_MODEL_FAILED} AS has_model_failed,
           h.{_IS_COMMITTED}
           AND NOT coalesce(h.intent_before = h.intent_code AND h.state_before = h.state_code, FALSE) AS is_moved,
           h.state_code = '{HAND_OVER}' AND h.{_IS_COMMITTED} AND NOT EXISTS (
               SELECT 1 FROM ce_conversation_history e WHERE e.conversation_id = h.conversation_id
                  AND e.turn_no < h.turn_no AND e.state_code = '{HAND_OVER}' AND e.{_IS_COMMITTED}) AS is_handed_over
    {_TURNS}),
entry AS (
    SELECT DISTINCT t.turn_id, {_WHERE}, intent_code, state_code, i.kind, i.value
      FROM turn t JOIN ce_turn_index i ON i.turn_id = t.turn_id
     WHERE i.kind <> '{CeTurnIndex.STAGE}' OR i.value = '{NOT_UNDERSTOOD}'),
duration (since, until) AS (VALUES {_RANGES})
{" UNION ALL ".join(f"SELECT {_WHERE}, {fact}" for fact in _FACTS)}"""
_FORMS = f"""SELECT CAST({{hour}} AS text), c.workspace_id, c.channel, h.config_version, h.intent_code, i.role
  {_TURNS.replace(" WHERE", " JOIN ce_turn_index i ON i.turn_id = h.turn_id WHERE")} AND h.{_IS_COMMITTED}
    AND i.kind = '{CeTurnIndex.STAGE}' AND i.value IN ({quote_texts(FORM_STAGES)}) AND i.role <> ''"""
#: Before the times of the steps in the text of a document.
_TIMING = f'"stage":"{PIPELINE_TIMING}"'
_STEP_LIST = '"stepList":'
#: Before the model calls of an event, which are its last key.
_CALLS = ',"calls":'
#: The text behind the mark; of a turn with model calls the whole document, which is long.
_AFTER = {
    "postgresql": "split_part(ce_readable(h.events), %(mark)s, 2)",
    "sqlite": "CASE instr(h.events, %(mark)s) WHEN 0 THEN '' ELSE substr(h.events, instr(h.events, %(mark)s)) END",
}
_EVENTS = {"postgresql": "ce_readable(h.events)", "sqlite": "h.events"}
_DOCUMENTS = f"""SELECT CAST({{hour}} AS text), c.workspace_id, c.channel, h.config_version, h.intent_code,
       h.model_calls, {_HAS_MODEL_FAILED}, CASE WHEN h.model_calls > 0 THEN {{events}} ELSE {{after}} END {_TURNS}"""
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
#: What a damaged document raises. It counts as far as it can be read, and *Integrity* names it.
_DAMAGES = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)
_DECODER = JSONDecoder()


class _Count(NamedTuple):
    """What is counted of a turn."""

    kind: str
    value: str = ""
    amount: str = "0"


def count_new_turns(settled_after: timedelta = SETTLED_AFTER) -> Iterator[Counts]:
    """Count the turns, and the ratings, that no running commit can precede any more."""
    settled = find_settled(CeCountProgress.TURNS, settled_after)
    while counted := _count_next_turns(settled):
        yield {"records": counted}
    for part in list_parts():
        while counted := count_part(part.pk):
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
        newest = settled = find_newest(number)
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


def find_newest(number: int) -> int:
    is_turns = number == CeCountProgress.TURNS
    rows: Any = CeConversationHistory._base_manager if is_turns else CeMcpUserFeedback.objects
    return rows.aggregate(newest=Max("pk"))["newest"] or 0


def lock_progress(number: int) -> CeCountProgress:
    CeCountProgress.objects.get_or_create(pk=number)
    return CeCountProgress.objects.select_for_update().get(pk=number)


def list_parts() -> QuerySet[CeCountProgress]:
    """The parts of the turns that are counted again."""
    return CeCountProgress.objects.filter(pk__gte=CeCountProgress.FIRST_PART).order_by("pk")


def count_part(number: int) -> int:
    """Count the next batch of a part of a recount; returns how many records it has, 0 at the end of the part."""
    with transaction.atomic():
        # A recount that ended has no parts.
        part = list_parts().select_for_update().filter(pk=number).first()
        return _count_batch(part, part.recount_until or 0) if part else 0


def _count_next_turns(settled: int) -> int:
    with transaction.atomic():
        progress = lock_progress(CeCountProgress.TURNS)
        return _count_batch(progress, _limit(progress, settled))


def _count_batch(progress: CeCountProgress, until: int) -> int:
    """Needs an open transaction in which the progress is locked."""
    first, last = progress.counted, min(progress.counted + BATCH, until)
    if last <= first:
        return 0
    with collect_counts() as cursor:
        _execute(cursor, _COUNT_FACTS, first, last)
        _execute(cursor, _FORMS, first, last)
        insert_counts(cursor, list(_list_form_steps(cursor.fetchall())))
        for start in range(first, last, SLICE):
            _execute(cursor, _DOCUMENTS, start, min(start + SLICE, last))
            with read_any_text():
                rows = cursor.fetchall()
            insert_counts(cursor, list(_list_document_counts(rows)))
    progress.counted = last
    progress.save(update_fields=["counted"])
    return last - first


def _execute(cursor: Any, sql: str, first: int, last: int) -> None:
    vendor = connection.vendor
    for name, texts in (("{hour}", _HOUR), ("{after}", _AFTER), ("{events}", _EVENTS)):
        sql = sql.replace(name, texts[vendor])
    cursor.execute(sql, {"mark": _TIMING, "first": first, "last": last})


def _list_form_steps(rows: Sequence[tuple[Any, ...]]) -> Iterator[tuple[Any, ...]]:
    for *where, role in rows:
        for step in map(Step.parse, split_steps(role)):
            yield *where, f"{CeTurnCount.FORM}{step.kind}", f"{step.schema}:{step.field}", 1, "0"


def _list_document_counts(rows: Sequence[tuple[Any, ...]]) -> Iterator[tuple[Any, ...]]:
    for *where, model_calls, has_model_failed, text in rows:
        for kind, value, amount in _count_document(text or "", model_calls, has_model_failed):
            yield *where, kind, value, 1, amount


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


def _count_ratings(settled: int) -> int:
    """Turns with a thumb, and by the row that answered, in the hour of the turn: a replaced rating counts no longer."""
    with transaction.atomic():
        progress = lock_progress(CeCountProgress.FEEDBACK)
        first, last = progress.counted, _limit(progress, settled)
        if last <= first:
            return 0
        with collect_counts() as cursor:
            _execute(cursor, _COUNT_RATINGS, first, last)
        progress.counted = last
        progress.save(update_fields=["counted"])
        return last - first
