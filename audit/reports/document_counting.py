"""Count what only the documents of turns tell, in a pass of its own: steps by duration, and calls by model.

Turns by duration, and not understood ones by state, are counted with them, and ratings by the row that answered. A
new count of this kind begins at the first record that is still stored, and touches no other count.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any, NamedTuple

from django.db import connection, transaction

from audit.models import CeCountProgress, CeMcpUserFeedback, CeTurnCount, CeTurnIndex
from audit.record.events import read_document
from audit.record.milestones import MODEL_ERROR_STAGES
from audit.record.model_calls import list_calls, name_model
from audit.reports.counting import (
    CHANGED_RATINGS,
    HOUR,
    SETTLED_AFTER,
    CountKey,
    add_counts,
    find_settled,
    lock_progress,
    read_hour,
)
from audit.reports.durations import find_bound
from convengine.engine.pipeline.stages import PIPELINE_TIMING
from convengine.engine.steps.responses.stages import NOT_UNDERSTOOD
from convengine.engine.turn.codec import loads
from convengine.engine.turn.job import Counts

Json = Any
#: Turns per transaction.
BATCH = 2_000
#: Tables of the rows that answer.
ANSWERING = ("ce_response", "ce_policy", "ce_pending_action")
#: Before the times of the steps in the text of a document.
_TIMING = f'"stage":"{PIPELINE_TIMING}"'
_STEP_LIST = '"stepList":'
#: The text behind the mark; of a turn with model calls the whole document, which is long.
_AFTER = {
    "postgresql": "split_part(h.events, %(mark)s, 2)",
    "sqlite": "CASE instr(h.events, %(mark)s) WHEN 0 THEN '' ELSE substr(h.events, instr(h.events, %(mark)s)) END",
}
_ERROR_STAGES = ", ".join(f"'{stage}'" for stage in MODEL_ERROR_STAGES)
_HAS_STAGE = f"EXISTS (SELECT 1 FROM ce_turn_index i WHERE i.turn_id = h.turn_id AND i.kind = '{CeTurnIndex.STAGE}'"
_KIND_OF_RATING = {
    CeMcpUserFeedback.Type.THUMBS_UP: CeTurnCount.ANSWER_UP,
    CeMcpUserFeedback.Type.THUMBS_DOWN: CeTurnCount.ANSWER_DOWN,
}
#: What a damaged document raises. It counts as far as it can be read, and *Integrity* names it.
_DAMAGES = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)
#: Turns or calls, and their amount, by kind and value.
_Sums = defaultdict[tuple[str, str], list[float]]


class _Turn(NamedTuple):
    """What is read of a turn."""

    hour: datetime
    workspace: str
    channel: str
    release: int
    intent: str
    state: str
    duration: int | None
    is_not_understood: bool
    has_model_failed: bool
    has_calls: bool
    text: str | None


def count_new_documents(settled_after: timedelta = SETTLED_AFTER) -> Iterator[Counts]:
    """Count the documents of turns, and the ratings, that no running commit can precede any more."""
    settled = find_settled(CeCountProgress.DOCUMENTS, settled_after)
    while counted := _count_batch(settled):
        yield {"documents": counted}
    settled = find_settled(CeCountProgress.ANSWERS, settled_after)
    if counted := _count_ratings(settled):
        yield {"rated answers": counted}


def _count_batch(settled: int) -> int:
    with transaction.atomic():
        progress = lock_progress(CeCountProgress.DOCUMENTS)
        first, last = progress.counted, min(progress.counted + BATCH, settled)
        if last <= first:
            return 0
        sums: dict[tuple[Any, ...], _Sums] = {}
        for turn in _read_turns(first, last):
            key = turn[:5]
            if key not in sums:
                sums[key] = defaultdict(lambda: [0, 0.0])
            _count_turn(turn, sums[key])
        add_counts(
            (CountKey(*(*key, *what)), int(number), Decimal(f"{amount:.9f}"))
            for key, counts in sums.items()
            for what, (number, amount) in counts.items()
        )
        progress.counted = last
        progress.save(update_fields=["counted"])
        return last - first


def _read_turns(first: int, last: int) -> Iterator[_Turn]:
    with connection.cursor() as cursor:
        cursor.execute(
            f"""SELECT {HOUR[connection.vendor]}, c.workspace_id, c.channel, h.config_version, h.intent_code,
                       h.state_code, h.duration_ms, {_HAS_STAGE} AND i.value = '{NOT_UNDERSTOOD}'),
                       h.model_calls > 0 AND {_HAS_STAGE} AND i.value IN ({_ERROR_STAGES})), h.model_calls > 0,
                       CASE WHEN h.model_calls > 0 THEN h.events ELSE {_AFTER[connection.vendor]} END
                  FROM ce_conversation_history h JOIN ce_conversation c ON c.conversation_id = h.conversation_id
                 WHERE h.history_id > %(first)s AND h.history_id <= %(last)s AND h.source <> 'ADDITION'""",
            {"mark": _TIMING, "first": first, "last": last},
        )
        for hour, *columns in cursor:
            yield _Turn(read_hour(hour), *columns)


def _count_turn(turn: _Turn, sums: _Sums) -> None:
    if turn.duration is not None:
        sums[CeTurnCount.TIME, str(find_bound(turn.duration))][0] += 1
    if turn.is_not_understood:
        sums[CeTurnCount.NOT_UNDERSTOOD, turn.state][0] += 1
    _, mark, timing = (turn.text or "").rpartition(_TIMING) if turn.has_calls else ("", "x", turn.text or "")
    with suppress(*_DAMAGES):
        if mark and (steps := _read_steps(timing)):
            _count_steps(steps, sums)
    with suppress(*_DAMAGES):
        if turn.has_calls:
            _count_calls(turn, list_calls(read_document(turn.text)), sums)


def _read_steps(timing: str) -> Sequence[Mapping[str, Json]]:
    """The steps of a timing record; the times of a list have no brackets in them."""
    _, mark, rest = timing.partition(_STEP_LIST)
    try:
        steps = loads(rest[: rest.index("]") + 1]) if mark else []
    except ValueError:
        return []
    return steps if isinstance(steps, list) else []


def _count_steps(steps: Sequence[Mapping[str, Json]], sums: _Sums) -> None:
    sums[CeTurnCount.STEP, ""][0] += 1
    took: dict[str, float] = {}
    for step in steps:
        if (milliseconds := step["durationMs"]) > 0:
            took[step["step"]] = took.get(step["step"], 0) + milliseconds
    for name, milliseconds in took.items():
        if milliseconds >= 1:
            counted = sums[CeTurnCount.STEP, f"{name}:{find_bound(milliseconds)}"]
            counted[0] += 1
            counted[1] += milliseconds


def _count_calls(turn: _Turn, calls: Sequence[Mapping[str, Json]], sums: _Sums) -> None:
    for call in calls:
        name = name_model(call)
        counted = sums[CeTurnCount.MODEL, name]
        counted[0] += 1
        counted[1] += call["cost"] or 0
        if not call["success"]:
            sums[CeTurnCount.MODEL_ERROR, name][0] += 1
        sums[CeTurnCount.MODEL_TIME, f"{name}:{find_bound(call['latency_ms'])}"][0] += 1
    for name in set(map(name_model, calls)):
        sums[CeTurnCount.MODEL_TURN, name][0] += 1
        if turn.has_model_failed:
            sums[CeTurnCount.MODEL_TURN_FAILED, name][0] += 1


def _count_ratings(settled: int) -> int:
    """Turns with a thumb by the row that answered, in the hour of the turn."""
    with transaction.atomic():
        progress = lock_progress(CeCountProgress.ANSWERS)
        first, last = progress.counted, settled
        if last <= first:
            return 0
        tables = ", ".join(f"'{table}'" for table in ANSWERING)
        with connection.cursor() as cursor:
            cursor.execute(
                f"""{CHANGED_RATINGS} SELECT {HOUR[connection.vendor]}, c.workspace_id, c.channel, h.config_version,
                    h.intent_code, f.feedback_type, i.kind, i.value, sum(f.turns)
                    FROM changed f JOIN ce_conversation_history h ON h.turn_id = f.turn_id AND h.source <> 'ADDITION'
                    JOIN ce_conversation c ON c.conversation_id = h.conversation_id
                    JOIN (SELECT DISTINCT turn_id, kind, value FROM ce_turn_index WHERE kind IN ({tables})
                             AND turn_id IN (SELECT turn_id FROM changed)) i ON i.turn_id = f.turn_id
                    WHERE f.turns <> 0 GROUP BY 1, 2, 3, 4, 5, 6, 7, 8""",
                {"first": first, "last": last},
            )
            add_counts(
                (CountKey(*(read_hour(hour), *key, _KIND_OF_RATING[kind], f"{table}:{pk}")), int(turns), Decimal(0))
                for hour, *key, kind, table, pk, turns in cursor
            )
        progress.counted = last
        progress.save(update_fields=["counted"])
        return last - first
