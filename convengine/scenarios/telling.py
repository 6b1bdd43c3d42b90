"""Reports of scenarios, as lines for people and as JSON for programs."""

from collections.abc import Iterable, Sequence
from typing import Any

from convengine.scenarios.runner import FAILED, PASSED, SKIPPED, Failure, Report
from convengine.scenarios.wording import told

OUTCOMES = (PASSED, FAILED, SKIPPED)


def line(report: Report) -> str:
    """One line: how it went, and the first thing that failed with what was expected, what was there, and where."""
    start = f"{report.outcome:<8}{report.id}"
    if report.failures:
        return f"{start}: {_failure(report.failures[0])}{_more(len(report.failures) - 1)}"
    return f"{start}: {report.reason}" if report.reason else start


def totals(reports: Iterable[Report]) -> str:
    """`N passed, N failed, N skipped`."""
    return ", ".join(f"{number} {outcome}" for outcome, number in counted(reports).items())


def counted(reports: Iterable[Report]) -> dict[str, int]:
    """How many had each outcome."""
    found = [report.outcome for report in reports]
    return {outcome: found.count(outcome) for outcome in OUTCOMES}


def as_json(reports: Sequence[Report]) -> dict[str, Any]:
    """Everything, with every failure of every scenario."""
    return {**counted(reports), "scenarios": [_report(report) for report in reports]}


def _failure(failure: Failure) -> str:
    turn = f"turn {failure.turn}, " if failure.turn else ""
    return f"{turn}{failure.where}: expected {told(failure.expected)}, got {told(failure.got)}"


def _more(number: int) -> str:
    return f" (and {number} more)" if number else ""


def _report(report: Report) -> dict[str, Any]:
    return {
        "id": report.id,
        "file": str(report.file),
        "title": report.title,
        "outcome": report.outcome,
        "reason": report.reason or None,
        "failures": [
            {"turn": failure.turn, "where": failure.where, "expected": failure.expected, "got": failure.got}
            for failure in report.failures
        ],
    }
