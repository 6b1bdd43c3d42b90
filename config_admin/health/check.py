"""Run the health check, completely or for changed rows, with its progress."""

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from config_admin.health.checks import (
    classifiers,
    collisions,
    completeness,
    dead_rules,
    languages,
    loops,
    single_rows,
    states,
    unchecked,
)
from config_admin.health.diagnosis import Diagnosis, RowKey, make_diagnosis
from config_admin.health.survey import Survey
from config_admin.validation.draft import Severity
from config_admin.validation.world import World
from convengine.engine.turn import rows
from convengine.engine.turn.rows import Row
from convengine.engine.turn.snapshot import Snapshot

#: Time limits of searches in seconds: for everything, and for changed rows.
IN_FULL, OF_TOUCHED = 60.0, 0.4


class Check(NamedTuple):
    name: str
    run: Callable[[Survey], Iterator[Diagnosis]]
    #: The tables that it depends on: edits of others do not change its result.
    about: frozenset[str]


def _list_tables(*row_types: type[Row]) -> frozenset[str]:
    return frozenset(row_type.table for row_type in row_types)


_ALL = _list_tables(*rows.ROW_TYPES)
_MOVING = _list_tables(rows.Intent, rows.Classifier, rows.Rule, rows.StateEdge)
_RULES = _list_tables(rows.Intent, rows.Rule, rows.OutputSchema)
_SPOKEN = _list_tables(*languages.SPOKEN_TYPES)
#: In the order of running; slow checks come last.
CHECKS: tuple[Check, ...] = (
    Check("invalid rows", completeness.find_unusable_rows, _ALL),
    Check("the fallback answer", completeness.check_fallback, _list_tables(rows.Response)),
    Check("rows of disabled intents", completeness.find_rows_of_inactive_intents, _ALL),
    Check("unreachable states", states.find_unreachable_states, _ALL),
    Check("states without an answer", states.find_unanswered_states, _MOVING | _list_tables(rows.Response)),
    Check("answers that are never used", states.find_unused_responses, _list_tables(rows.Response)),
    Check("answers with gaps", single_rows.find_answers_with_gaps, _list_tables(rows.Response)),
    Check("patterns", single_rows.find_patterns_of_empty_text, _list_tables(rows.Rule, rows.Classifier, rows.Policy)),
    Check(
        "confirmations",
        completeness.find_unanswered_confirmations,
        _list_tables(rows.PromptTemplate, rows.PendingAction, rows.Rule),
    ),
    Check("forms", states.find_forms_without_exit, _ALL),
    Check("tools", completeness.find_unused_tools, _list_tables(rows.Tool)),
    Check("missing translations", languages.find_missing_translations, _SPOKEN),
    Check("translations into other languages", languages.find_unlisted_languages, _SPOKEN),
    Check("the language of the locale", languages.check_locale, _list_tables(rows.Config)),
    Check("each row", single_rows.run_save_checks, _ALL),
    Check("rules that never apply", dead_rules.find_dead_rules, _RULES | _MOVING),
    Check("start rules", dead_rules.find_skipped_start_rules, _list_tables(rows.Intent, rows.Classifier, rows.Rule)),
    Check("values written after their rules", unchecked.find_unchecked_values, _list_tables(rows.Intent, rows.Rule)),
    Check("phrases", classifiers.find_classifier_collisions, _list_tables(rows.Classifier)),
    Check("phrases that patterns take", classifiers.find_taken_phrases, _list_tables(rows.Classifier)),
    Check("loops of rules", loops.find_loops, _RULES),
    Check("general rules and forms", collisions.find_rules_that_undo_forms, _RULES | _list_tables(rows.Config)),
    Check("collisions of rules", collisions.find_rule_collisions, _RULES),
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
        return sum(finding.is_error for finding in self.findings)


#: Called before each check: its name, its index, and the number of checks.
Progress = Callable[[str, int, int], None]


def check_all(
    snapshot: Snapshot, world: World, *, progress: Progress | None = None, seconds: float = IN_FULL
) -> Health:
    """All findings of a configuration."""
    return _run_checks(Survey(snapshot, world, None, time.monotonic, time.monotonic() + seconds), progress)


def check_touched(snapshot: Snapshot, world: World, touched: Iterable[Row | RowKey]) -> Health:
    """The findings about some rows in the snapshot, alone and together with related rows."""
    keys = frozenset(item if isinstance(item, RowKey) else RowKey(item.table, item.pk) for item in touched)
    changed = (snapshot.tables[key.table].by_pk.get(key.pk) for key in keys)
    # A form's values, or an intent's switch, make rules active or not.
    deciding = {row.intent_code for row in changed if isinstance(row, (rows.OutputSchema, rows.Intent))}
    rules = snapshot.enabled_rows(rows.Rule) if deciding else ()
    around = keys | {RowKey(rule.table, rule.pk) for rule in rules if rule.intent_code in deciding}
    return _run_checks(Survey(snapshot, world, around, time.monotonic, time.monotonic() + OF_TOUCHED), None)


def _run_checks(survey: Survey, progress: Progress | None) -> Health:
    """Run the checks that read a touched table; of equal findings only the first counts.

    `progress` is called before each check; None reports nothing. The findings are sorted.
    """
    findings_by_key: dict[tuple[object, ...], Diagnosis] = {}
    seconds: dict[str, float] = {}
    tables = None if survey.touched is None else {key.table for key in survey.touched}
    for index, (name, run, about) in enumerate(CHECKS):
        if tables is not None and not tables & about:
            continue
        if progress:
            progress(name, index, len(CHECKS))
        began = time.monotonic()
        for finding in run(survey):
            findings_by_key.setdefault((finding.code, finding.rows, finding.field, finding.message), finding)
        seconds[name] = time.monotonic() - began
    findings = list(findings_by_key.values())
    if survey.left_out and survey.touched is None:
        # Silence must not be taken for health.
        counted = ", ".join(f"{count} {what}" for what, count in sorted(survey.left_out.items()))
        message = f"The health check ran out of time and skipped {counted}."
        consequence = "Problems in the skipped parts are not listed."
        table = rows.Rule.table
        findings.append(make_diagnosis("CHECK_INCOMPLETE", Severity.WARNING, None, message, consequence, table=table))
    findings.sort(key=lambda each: (not each.is_error, each.impact.rank, each.code, each.table, str(each.row)))
    return Health(survey.snapshot.config_version, tuple(findings), survey.left_out, seconds)


def build_report(health: Health, chosen: Sequence[Diagnosis], snapshot: Snapshot) -> dict[str, Any]:
    """{configVersion, errorCount, warningCount, leftOut, findings}; each finding with its fingerprint."""
    errors = sum(finding.is_error for finding in chosen)
    return {
        "configVersion": health.config_version,
        "errorCount": errors,
        "warningCount": len(chosen) - errors,
        "leftOut": dict(health.left_out),
        "findings": [finding.as_dict() | {"fingerprint": finding.fingerprint(snapshot)} for finding in chosen],
    }
