"""Run the health check, completely or for changed rows, with its progress (tables 10)."""

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from config_admin.health.checks import classifiers, collisions, loops, never, patterns, saved, states, whole
from config_admin.health.diagnosis import Diagnosis, RowKey, diagnosis
from config_admin.health.survey import Survey
from config_admin.validation.findings import Severity
from config_admin.validation.world import World
from convengine.engine.turn import rows
from convengine.engine.turn.rows import Row
from convengine.engine.turn.snapshot import Snapshot

#: Time limits of searches in seconds: for everything, and for changed rows.
IN_FULL, OF_TOUCHED = 60.0, 0.4


class Check(NamedTuple):
    """One check, with its name for the progress."""

    name: str
    run: Callable[[Survey], Iterator[Diagnosis]]
    #: The tables that it depends on: edits of others do not change its result.
    about: frozenset[str]


def _about(*row_types: type[Row]) -> frozenset[str]:
    return frozenset(row_type.table for row_type in row_types)


_ALL = _about(*rows.ROW_TYPES)
_MOVING = _about(rows.Intent, rows.Classifier, rows.Rule, rows.StateEdge)
_RULES = _about(rows.Intent, rows.Rule, rows.OutputSchema)
#: In the order of running; slow checks come last.
CHECKS: tuple[Check, ...] = (
    Check("invalid rows", whole.find_unusable_rows, _ALL),
    Check("the fallback answer", whole.check_fallback, _about(rows.Response)),
    Check("rows of disabled intents", whole.find_rows_of_inactive_intents, _ALL),
    Check("unreachable states", states.find_unreachable_states, _ALL),
    Check("states without an answer", states.find_unanswered_states, _MOVING | _about(rows.Response)),
    Check("answers that are never used", states.find_unused_responses, _about(rows.Response)),
    Check("patterns", patterns.check, _about(rows.Rule, rows.Classifier, rows.Policy)),
    Check(
        "confirmations", whole.find_unanswered_confirmations, _about(rows.PromptTemplate, rows.PendingAction, rows.Rule)
    ),
    Check("tools", whole.find_unused_tools, _about(rows.Tool)),
    Check("save checks", saved.check, _ALL),
    Check("rules that never apply", never.check, _RULES | _MOVING),
    Check("classifiers", classifiers.check, _about(rows.Classifier)),
    Check("loops of rules", loops.check, _RULES),
    Check("collisions of rules", collisions.check, _RULES),
)


@dataclass(frozen=True)
class Health:
    """The findings, errors first; and what was not checked for lack of time."""

    config_version: int
    findings: Sequence[Diagnosis]
    #: The number of skipped items by kind.
    left_out: dict[str, int] = field(default_factory=dict)
    #: Seconds of each check.
    seconds: dict[str, float] = field(default_factory=dict)

    @property
    def errors(self) -> int:
        """The number of errors."""
        return sum(finding.is_error for finding in self.findings)


#: Called before each check: its name, its index, and the number of checks.
Progress = Callable[[str, int, int], None]


def check_all(
    snapshot: Snapshot, world: World, *, progress: Progress | None = None, seconds: float = IN_FULL
) -> Health:
    """All findings of a configuration."""
    return _run_checks(Survey(snapshot, world, None, time.monotonic, time.monotonic() + seconds), progress)


def check_touched(
    snapshot: Snapshot, world: World, touched: Iterable[Row | RowKey], *, seconds: float = OF_TOUCHED
) -> Health:
    """The findings about some rows in the snapshot, alone and together with related rows."""
    keys = frozenset(one if isinstance(one, RowKey) else RowKey(one.table, one.pk) for one in touched)
    around = keys | frozenset(_around(snapshot, keys))
    return _run_checks(Survey(snapshot, world, around, time.monotonic, time.monotonic() + seconds), None)


def _around(snapshot: Snapshot, keys: Iterable[RowKey]) -> Iterator[RowKey]:
    """Rows that depend on a changed row: those that a form's values, or an intent's switch, make active or not."""
    for key in keys:
        row = snapshot.tables[key.table].by_pk.get(key.pk)
        if isinstance(row, (rows.OutputSchema, rows.Intent)):
            for rule in snapshot.enabled_rows(rows.Rule):
                if rule.intent_code == row.intent_code:
                    yield RowKey(rule.table, rule.pk)


def _run_checks(survey: Survey, progress: Progress | None) -> Health:
    found: dict[tuple[object, ...], Diagnosis] = {}
    seconds: dict[str, float] = {}
    tables = None if survey.touched is None else {key.table for key in survey.touched}
    for place, (name, run, about) in enumerate(CHECKS):
        if tables is not None and not tables & about:
            continue
        if progress:
            progress(name, place, len(CHECKS))
        began = time.monotonic()
        for one in run(survey):
            found.setdefault((one.code, one.rows, one.field, one.message), one)
        seconds[name] = time.monotonic() - began
    findings = [*found.values(), *_report_skipped_checks(survey)]
    findings.sort(key=lambda one: (not one.is_error, one.code, one.table, str(one.row)))
    return Health(survey.snapshot.config_version, tuple(findings), survey.left_out, seconds)


def _report_skipped_checks(survey: Survey) -> Iterator[Diagnosis]:
    """The finding about what was not checked, so that silence is not taken for health."""
    if survey.left_out and survey.touched is None:
        counted = ", ".join(f"{count} {what}" for what, count in sorted(survey.left_out.items()))
        yield diagnosis(
            "CHECK_INCOMPLETE",
            Severity.WARNING,
            None,
            f"The health check ran out of time and skipped {counted}.",
            "Problems in the skipped parts are not listed.",
            table=rows.Rule.table,
        )
