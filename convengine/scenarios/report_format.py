"""Reports of scenarios, as lines for people and as JSON for programs."""

from collections.abc import Iterable, Sequence
from typing import Any

from convengine.scenarios.runner import FAILED, PASSED, SKIPPED, Failure, Report
from convengine.scenarios.schema import shorten_json

OUTCOMES = (PASSED, FAILED, SKIPPED)


def format_line(report: Report) -> str:
    """One line: the outcome, and the first failure with expected and actual value, and its path."""
    start = f"{report.outcome:<8}{report.id}"
    if report.failures:
        return f"{start}: {_format_failure(report.failures[0])}{_format_rest(len(report.failures) - 1)}"
    return f"{start}: {report.reason}" if report.reason else start


def format_totals(reports: Iterable[Report]) -> str:
    """`N passed, N failed, N skipped`."""
    return ", ".join(f"{number} {outcome}" for outcome, number in count_outcomes(reports).items())


def count_outcomes(reports: Iterable[Report]) -> dict[str, int]:
    """The number of scenarios by outcome."""
    outcomes = [report.outcome for report in reports]
    return {outcome: outcomes.count(outcome) for outcome in OUTCOMES}


def as_json(reports: Sequence[Report]) -> dict[str, Any]:
    """Everything, with every failure of every scenario."""
    return {**count_outcomes(reports), "scenarios": [_report_as_json(report) for report in reports]}


def _format_failure(failure: Failure) -> str:
    turn = f"turn {failure.turn}, " if failure.turn else ""
    return f"{turn}{failure.where}: expected {shorten_json(failure.expected)}, got {shorten_json(failure.actual)}"


def _format_rest(number: int) -> str:
    return f" (and {number} more)" if number else ""


def _report_as_json(report: Report) -> dict[str, Any]:
    return {
        "id": report.id,
        "file": str(report.file),
        "title": report.title,
        "outcome": report.outcome,
        "reason": report.reason or None,
        "failures": [
            {"turn": failure.turn, "where": failure.where, "expected": failure.expected, "got": failure.actual}
            for failure in report.failures
        ],
    }
