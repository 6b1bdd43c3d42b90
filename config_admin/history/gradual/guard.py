"""The guard: stops a gradual release when a rate gets worse than that of the others."""

from collections.abc import Iterator

from config_admin.history.gradual.sides import Sides, count_sides
from config_admin.releases.audience import NotGradual, find_gradual_release
from config_admin.releases.models import CeGradualRelease, GuardMetric
from config_admin.releases.undo import stop_gradual_release
from convengine.engine.turn.job import Counts, Every, Job
from convengine.engine.turn.labels import format_percent

GUARD = "guard"
_COLUMNS = {
    GuardMetric.NOT_UNDERSTOOD: "not_understood",
    GuardMetric.ERRORS: "failed",
    GuardMetric.HANDED_OVER: "handed_over",
    GuardMetric.NEGATIVE: "negative",
}


def find_guard_reason(row: CeGradualRelease, sides: Sides) -> str:
    """Why the guard stops the release; blank while it does not."""
    if not row.guard_metric or min(side.turns for side in sides) < max(row.guard_turns, 1):
        return ""
    metric = GuardMetric(row.guard_metric)
    newer, older = (100 * getattr(side, _COLUMNS[metric]) / side.turns for side in sides)
    if newer - older <= row.guard_bound:
        return ""
    return (
        f"{metric.label}: {format_percent(newer)} of {sides.newer.turns} turns, against {format_percent(older)} of "
        f"{sides.older.turns} turns of the others. The bound is {row.guard_bound} points."
    )


def run_guard() -> Iterator[Counts]:
    """Look at the running release once."""
    row = find_gradual_release()
    if row is None or not row.guard_metric:
        return
    if reason := find_guard_reason(row, count_sides(row)):
        try:
            stop_gradual_release(GUARD, reason, row.pk)
        except NotGradual:
            return  # Somebody was faster.
        yield {"stopped": 1}


JOB = Job(
    "guard_release",
    "Guard the gradual release",
    "Stops a gradual release when its chosen rate is worse than that of the other conversations.",
    Every(60),
    run_guard,
)
