"""The numbers of the reports, each declared once: pages, files, API, command, Home and alerts read this list."""

from collections.abc import Callable, Mapping, Set
from dataclasses import dataclass, field, replace
from decimal import Decimal
from enum import StrEnum
from typing import Any

from audit.models import CeMcpUserFeedback, CeTurnCount
from audit.record.milestones import Milestone
from audit.record.outcomes import FormOutcome, Outcome
from audit.reports.durations import find_quantile
from audit.reports.report import FORM_OUTCOMES, Totals
from convengine.engine.steps.responses.stages import HAND_OVER_OFFERED, NOT_UNDERSTOOD
from convengine.engine.turn.enums import TurnStatus

Number = int | float | Decimal
#: Calls and turns that take at least this many milliseconds count as slow; where a range of durations begins.
SLOW_FROM = 2_000


class MeasureUnit(StrEnum):
    """What a number counts."""

    TURNS = "turns"
    CONVERSATIONS = "conversations"
    FORMS = "forms"
    CALLS = "calls"
    MILLISECONDS = "ms"
    COST = "cost"


@dataclass(frozen=True)
class Measure:
    """A number of a group of turns; with a base, a share or a mean."""

    #: As files, API, command and alerts call it.
    name: str
    label: str
    help: str
    unit: MeasureUnit
    count: Callable[[Totals], int | Decimal]
    #: What the count is divided by: for a share, what it is a part of. None for a plain number.
    base: "Measure | None" = None
    #: None if it is neither good nor bad.
    higher_is_worse: bool | None = None
    #: The filters of the search that lists the counted turns; None if no search lists them.
    search: Mapping[str, str] | None = field(default=None, hash=False)
    #: Of a measure that is neither a count nor a mean: the number itself, of the base.
    value: Callable[[Totals], int | None] | None = None

    @property
    def is_share(self) -> bool:
        """True for a count with its percentage of the base."""
        return self.base is not None and self.unit in (
            MeasureUnit.TURNS,
            MeasureUnit.CONVERSATIONS,
            MeasureUnit.FORMS,
            MeasureUnit.CALLS,
        )

    @property
    def needs_durations(self) -> bool:
        """True for a number of the totals' durations, which are read on demand."""
        return self.base is TIMED

    @property
    def base_label(self) -> str:
        """What it is a share or a mean of, in words; blank for a plain number."""
        return self.base.label.lower() if self.base else ""

    def read_part(self, totals: Totals) -> tuple[int, int]:
        """Of a share: the count, and what it is a part of."""
        assert self.base is not None
        return int(self.count(totals)), int(self.base.count(totals))

    def read_share(self, totals: Totals) -> float | None:
        """The percentage of the base. Returns None for a measure that is no share, or if the base is empty."""
        part, whole = self.read_part(totals) if self.is_share else (0, 0)
        return round(100 * part / whole, 1) if whole else None

    def read_number(self, totals: Totals) -> Number | None:
        """The number that pages and files show: of a share, its count."""
        return self.count(totals) if self.is_share else self.read_value(totals)

    def read_value(self, totals: Totals) -> Number | None:
        """The number by which two groups are compared: the share in percent, the mean, a quantile, or the plain number.

        Returns None for a share, a mean or a quantile of nothing.
        """
        if self.value is not None:
            return self.value(totals)
        if self.is_share:
            return self.read_share(totals)
        if self.base is None:
            return self.count(totals)
        whole = self.base.count(totals)
        return round(self.count(totals) / whole) if whole else None


def _count(kind: str, value: Any = None) -> Callable[[Totals], int]:
    return lambda totals: totals.count(kind, None if value is None else str(value))


_Count, _Thumb = CeTurnCount, CeMcpUserFeedback.Type
TURNS = Measure(
    "turns",
    "Turns",
    "Messages with their answers, failed ones included.",
    MeasureUnit.TURNS,
    _count(_Count.TURN),
    search={},
)
#: What times are shares of: no measure of its own.
TIMED = replace(TURNS, count=_count(_Count.TIME))
CONVERSATIONS = Measure(
    "conversations",
    "Conversations begun",
    "Conversations with their first turn in this period.",
    MeasureUnit.CONVERSATIONS,
    _count(_Count.BEGUN),
    search={"milestone": Milestone.BEGAN},
)
#: What outcomes are shares of: no measure of its own.
_FOLLOWED = replace(CONVERSATIONS, count=_count(_Count.OUTCOME))


def _measure_outcome(outcome: Outcome, name: str, *, higher_is_worse: bool | None) -> Measure:
    """The measure of the conversations with an outcome, as a share of those that were followed."""
    return Measure(
        name,
        outcome.label,
        f"Conversations begun in this period, by what became of them. {outcome.help}",
        MeasureUnit.CONVERSATIONS,
        _count(_Count.OUTCOME, outcome),
        _FOLLOWED,
        higher_is_worse=higher_is_worse,
        search={"outcome": outcome.value},
    )


RESOLVED = _measure_outcome(Outcome.RESOLVED, "resolved", higher_is_worse=False)
HANDED_OVER = _measure_outcome(Outcome.HANDED_OVER, "handed_over", higher_is_worse=True)
HANDED_OVER_FAILED = _measure_outcome(Outcome.HANDED_OVER_FAILED, "handed_over_failed", higher_is_worse=True)
GIVEN_UP = _measure_outcome(Outcome.GIVEN_UP, "given_up", higher_is_worse=True)
ENDED_NOT_UNDERSTOOD = _measure_outcome(Outcome.NOT_UNDERSTOOD, "ended_not_understood", higher_is_worse=True)
OPEN = _measure_outcome(Outcome.OPEN, "open", higher_is_worse=None)
#: They add up to the conversations.
OUTCOMES = (RESOLVED, HANDED_OVER, HANDED_OVER_FAILED, GIVEN_UP, ENDED_NOT_UNDERSTOOD, OPEN)
NOT_UNDERSTOOD_TURNS = Measure(
    "not_understood",
    "Not understood",
    "Turns in which nothing recognised the message.",
    MeasureUnit.TURNS,
    _count(_Count.STAGE, NOT_UNDERSTOOD),
    TURNS,
    higher_is_worse=True,
    search={"stage": str(NOT_UNDERSTOOD)},
)
OFFERED = Measure(
    "hand_over_offered",
    "Hand-over offered",
    "Turns in which the bot offered a hand-over: it did not understand several messages, or the user asked for it.",
    MeasureUnit.TURNS,
    _count(_Count.STAGE, HAND_OVER_OFFERED),
    TURNS,
    higher_is_worse=True,
    search={"stage": str(HAND_OVER_OFFERED)},
)
FAILED = Measure(
    "failed",
    "Failed",
    "Turns that ended with an error: the user got no answer from the bot.",
    MeasureUnit.TURNS,
    _count(_Count.TURN, TurnStatus.FAILED.value),
    TURNS,
    higher_is_worse=True,
    search={"status": TurnStatus.FAILED.value},
)
TASK_FAILED = Measure(
    "task_failed",
    "Task or tool failed",
    "Turns in which a task, a tool or the action of a rule failed; the user got an answer.",
    MeasureUnit.TURNS,
    _count(_Count.TASK_FAILED),
    TURNS,
    higher_is_worse=True,
    search={"milestone": Milestone.TASK_FAILED},
)
MEAN_TIME = Measure(
    "mean_ms",
    "Mean time",
    "The mean time of a turn in milliseconds.",
    MeasureUnit.MILLISECONDS,
    lambda totals: totals.read_amount(_Count.TURN) + totals.read_amount(_Count.TIME),
    TURNS,
    higher_is_worse=True,
    search={},
)
MEDIAN_TIME = Measure(
    "median_ms",
    "Median time",
    "Half of them took at most this many milliseconds.",
    MeasureUnit.MILLISECONDS,
    MEAN_TIME.count,
    TIMED,
    higher_is_worse=True,
    value=lambda totals: find_quantile(totals.durations, 0.5),
    search={},
)
P95_TIME = Measure(
    "p95_ms",
    "95th percentile",
    "95 of 100 took at most this many milliseconds.",
    MeasureUnit.MILLISECONDS,
    MEAN_TIME.count,
    TIMED,
    higher_is_worse=True,
    value=lambda totals: find_quantile(totals.durations, 0.95),
    search={},
)
SLOW = Measure(
    "slow",
    "Slow",
    f"Those that took {SLOW_FROM // 1000} seconds or longer.",
    MeasureUnit.TURNS,
    lambda totals: sum(turns for bound, turns in totals.durations.items() if bound >= SLOW_FROM),
    TIMED,
    higher_is_worse=True,
    search={"ms": str(SLOW_FROM)},
)
MODEL_CALLS = Measure(
    "model_calls",
    "Model calls",
    "Calls of models, failed ones included.",
    MeasureUnit.CALLS,
    _count(_Count.MODEL_CALLS),
)
FAILED_CALLS = Measure(
    "failed_calls",
    "Failed model calls",
    "Calls of models that gave no answer. A call that failed and was repeated counts twice.",
    MeasureUnit.CALLS,
    _count(_Count.MODEL_ERROR),
    MODEL_CALLS,
    higher_is_worse=True,
)
COST = Measure(
    "cost",
    "Model cost",
    "The cost of model calls with a price.",
    MeasureUnit.COST,
    lambda totals: totals.read_amount(_Count.MODEL_CALLS),
)
MODEL_FAILURES = Measure(
    "model_failures",
    "Turns with failed models",
    "Turns in which a model gave no usable answer, so that they went on without it.",
    MeasureUnit.TURNS,
    _count(_Count.MODEL_FAILED),
    TURNS,
    higher_is_worse=True,
    search={"milestone": Milestone.MODEL_FAILED},
)
FORMS_STARTED = Measure(
    "forms_started",
    "Forms started",
    "Forms that began to collect fields.",
    MeasureUnit.FORMS,
    lambda totals: sum(map(totals.count, FORM_OUTCOMES.values())),
    search={"milestone": Milestone.FORM_STARTED},
)
FORMS_COMPLETED = Measure(
    "forms_completed",
    "Forms completed",
    "Started forms that were done, and look-ups that were answered. A form whose task failed is not done.",
    MeasureUnit.FORMS,
    _count(FORM_OUTCOMES[FormOutcome.COMPLETED]),
    FORMS_STARTED,
    higher_is_worse=False,
    search={"outcome": f"FORM/{FormOutcome.COMPLETED}"},
)
RATED = Measure(
    "rated", "Rated turns", "Turns that were rated with thumbs up or down.", MeasureUnit.TURNS, _count(_Count.FEEDBACK)
)
POSITIVE = Measure(
    "positive",
    "Positive feedback",
    "Turns that were rated with thumbs up.",
    MeasureUnit.TURNS,
    _count(_Count.FEEDBACK, _Thumb.THUMBS_UP.value),
    RATED,
    higher_is_worse=False,
    search={"feedback": _Thumb.THUMBS_UP.value},
)
NEGATIVE = Measure(
    "negative",
    "Negative feedback",
    "Turns that were rated with thumbs down.",
    MeasureUnit.TURNS,
    _count(_Count.FEEDBACK, _Thumb.THUMBS_DOWN.value),
    RATED,
    higher_is_worse=True,
    search={"feedback": _Thumb.THUMBS_DOWN.value},
)

#: In the order of pages and files.
MEASURES: Mapping[str, Measure] = {
    measure.name: measure
    for measure in (
        *(TURNS, CONVERSATIONS, *OUTCOMES, NOT_UNDERSTOOD_TURNS, OFFERED),
        *(FORMS_STARTED, FORMS_COMPLETED, TASK_FAILED, FAILED),
        *(MEAN_TIME, MODEL_CALLS, COST, MODEL_FAILURES, POSITIVE, NEGATIVE),
        *(MEDIAN_TIME, P95_TIME, SLOW, FAILED_CALLS),
    )
}


def read_values(totals: Totals, known: Set[str] = frozenset()) -> dict[str, int | float | None]:
    """Each measure by name: a share as its count, others as their number, None for a mean or quantile of nothing.

    `known`: the measures that were counted, if not all; the others are None.
    """
    wanted = {name: measure.read_number(totals) for name, measure in MEASURES.items() if not known or name in known}
    numbers = {name: wanted.get(name) for name in MEASURES}
    return {name: float(number) if isinstance(number, Decimal) else number for name, number in numbers.items()}
