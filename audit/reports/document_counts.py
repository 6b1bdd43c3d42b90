"""What is counted of the texts that a turn leaves: the steps of its form, the times of its steps, its model calls."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from json import JSONDecoder
from typing import Any, NamedTuple

from django.db import connection
from django.db.models import Case, Func, OuterRef, QuerySet, Subquery, TextField, Value, When
from django.db.models.functions import NullIf, StrIndex, Substr

from audit.models import CeTurnCount, CeTurnIndex
from audit.record.events import read_document
from audit.record.form_steps import FORM_STAGES, Step, split_steps
from audit.record.milestones import IS_COMMITTED
from audit.record.model_calls import list_calls, name_model
from audit.record.sql_views import ReadableEvents
from audit.reports.durations import find_bound
from convengine.engine.pipeline.stages import PIPELINE_TIMING
from convengine.engine.turn.codec import loads
from convengine.json_value import Json

#: Before the times of the steps in the text of a document.
_TIMING = f'"stage":"{PIPELINE_TIMING}"'
_STEP_LIST = '"stepList":'
#: Before the model calls of an event, which are its last key.
_CALLS = ',"calls":'
#: What a damaged document raises. It counts as far as it can be read, and *Integrity* names it.
_DAMAGES = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)
_DECODER = JSONDecoder()


class _Count(NamedTuple):
    """What is counted of a turn."""

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
        for step in map(Step.parse, split_steps(form_steps or "")):
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
