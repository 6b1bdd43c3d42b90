"""The health check: every check, in full or for what was touched, and how far it is (tables 10)."""

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from config_admin.health.checks import classifiers, collisions, loops, never, patterns, saved, states, whole
from config_admin.health.diagnosis import Diagnosis, RowKey, diagnosis
from config_admin.health.survey import Survey
from config_admin.validation.findings import Severity
from config_admin.validation.world import World
from convengine.domain import rows
from convengine.domain.rows import Row
from convengine.domain.snapshot import Snapshot

#: Seconds that searches may take: of everything, and of what was touched.
IN_FULL, OF_TOUCHED = 60.0, 0.4


class Check(NamedTuple):
    """A part of the check, as progress names it."""

    name: str
    run: Callable[[Survey], Iterator[Diagnosis]]
    #: The tables whose rows it is about: an edit of others does not change what it says.
    about: frozenset[str]


def _about(*row_types: type[Row]) -> frozenset[str]:
    return frozenset(row_type.table for row_type in row_types)


_ALL = _about(*rows.ROW_TYPES)
_MOVING = _about(rows.Intent, rows.Classifier, rows.Rule, rows.StateEdge)
_RULES = _about(rows.Intent, rows.Rule, rows.OutputSchema)
#: In the order in which they are run: what takes long comes last.
CHECKS: tuple[Check, ...] = (
    Check("rows that no turn can use", whole.unusable, _ALL),
    Check("the fallback answer", whole.fallback, _about(rows.Response)),
    Check("rows of intents that are off", whole.inactive, _ALL),
    Check("states that nothing leads to", states.unreached, _ALL),
    Check("states without an answer", states.unanswered, _MOVING | _about(rows.Response)),
    Check("answers that are never given", states.unused_responses, _about(rows.Response)),
    Check("patterns", patterns.check, _about(rows.Rule, rows.Classifier, rows.Policy)),
    Check("confirmations", whole.unconfirmed, _about(rows.PromptTemplate, rows.PendingAction, rows.Rule)),
    Check("tools", whole.unused_tools, _about(rows.Tool)),
    Check("save checks", saved.check, _ALL),
    Check("rules that never act", never.check, _RULES | _MOVING),
    Check("classifiers", classifiers.check, _about(rows.Classifier)),
    Check("loops of rules", loops.check, _RULES),
    Check("collisions of rules", collisions.check, _RULES),
)


@dataclass(frozen=True)
class Health:
    """What was found, errors first; and what was not looked at for want of time."""

    config_version: int
    findings: Sequence[Diagnosis]
    #: How many of what were left out.
    left_out: dict[str, int] = field(default_factory=dict)
    #: Seconds that each check took.
    seconds: dict[str, float] = field(default_factory=dict)

    @property
    def errors(self) -> int:
        """How many findings are errors."""
        return sum(finding.is_error for finding in self.findings)


#: Told before each check: its name, its place, and how many there are.
Progress = Callable[[str, int, int], None]


def check_all(
    snapshot: Snapshot, world: World, *, progress: Progress | None = None, seconds: float = IN_FULL
) -> Health:
    """Everything that is wrong, or may be, with a configuration."""
    return _checked(Survey(snapshot, world, None, time.monotonic, time.monotonic() + seconds), progress)


def check_touched(
    snapshot: Snapshot, world: World, touched: Iterable[Row | RowKey], *, seconds: float = OF_TOUCHED
) -> Health:
    """What concerns some rows, as they stand in the snapshot: themselves, and what they do with those around them."""
    keys = frozenset(one if isinstance(one, RowKey) else RowKey(one.table, one.pk) for one in touched)
    around = keys | frozenset(_around(snapshot, keys))
    return _checked(Survey(snapshot, world, around, time.monotonic, time.monotonic() + seconds), None)


def _around(snapshot: Snapshot, keys: Iterable[RowKey]) -> Iterator[RowKey]:
    """Rows that a touched row decides over: those that a schema's values, or an intent's switch, make act or not."""
    for key in keys:
        row = snapshot.tables[key.table].by_pk.get(key.pk)
        if isinstance(row, (rows.OutputSchema, rows.Intent)):
            for rule in snapshot.enabled(rows.Rule):
                if rule.intent_code == row.intent_code:
                    yield RowKey(rule.table, rule.pk)


def _checked(survey: Survey, progress: Progress | None) -> Health:
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
    findings = [*found.values(), *_left_out(survey)]
    findings.sort(key=lambda one: (not one.is_error, one.code, one.table, str(one.row)))
    return Health(survey.snapshot.config_version, tuple(findings), survey.left_out, seconds)


def _left_out(survey: Survey) -> Iterator[Diagnosis]:
    """What was not looked at: said, so that nobody takes silence for health."""
    if survey.left_out and survey.touched is None:
        counted = ", ".join(f"{count} {what}" for what, count in sorted(survey.left_out.items()))
        yield diagnosis(
            "CHECK_INCOMPLETE",
            Severity.WARNING,
            None,
            f"The check ran out of time and did not look at {counted}.",
            "What is wrong there is not told here.",
            table=rows.Rule.table,
        )
