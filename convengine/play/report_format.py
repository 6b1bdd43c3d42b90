"""Reports of scenarios, as lines for people and as JSON for programs."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any
from xml.etree import ElementTree as Xml

from convengine.evaluation.report import format_junit
from convengine.play.expectations import Miss
from convengine.play.runner import FAILED, PASSED, SKIPPED, Failure, ScenarioReport
from convengine.play.schema import shorten_json

OUTCOMES = (PASSED, FAILED, SKIPPED)


def format_line(report: ScenarioReport) -> str:
    """One line: the outcome, and the first failure with the number of the others, or why the scenario was skipped."""
    start = f"{report.outcome:<8}{report.id}"
    if report.failures:
        others = f" (and {len(report.failures) - 1} more)" if len(report.failures) > 1 else ""
        return f"{start}: {_format_failure(report.failures[0])}{others}"
    return f"{start}: {report.reason}" if report.reason else start


def format_explanations(report: ScenarioReport) -> Iterator[str]:
    """The failures after the first one, then what happened in each turn that failed, and why; as indented lines."""
    for failure in report.failures[1:]:
        yield f"        also {_format_failure(failure)}"
    for turn, lines in report.explanations.items():
        yield f"        turn {turn}:"
        yield from (f"          {line}" for line in lines)


def format_totals(reports: Iterable[ScenarioReport]) -> str:
    """`N passed, N failed, N skipped`."""
    return ", ".join(f"{number} {outcome}" for outcome, number in count_outcomes(reports).items())


def count_outcomes(reports: Iterable[ScenarioReport]) -> dict[str, int]:
    """The number of scenarios by outcome."""
    outcomes = [report.outcome for report in reports]
    return {outcome: outcomes.count(outcome) for outcome in OUTCOMES}


def as_json(reports: Sequence[ScenarioReport]) -> dict[str, Any]:
    """Everything, with every failure of every scenario."""
    scenarios = [
        {
            "id": report.id,
            "file": str(report.file),
            "title": report.title,
            "outcome": report.outcome,
            "reason": report.reason or None,
            "seconds": round(report.seconds, 3),
            "explanations": {str(turn): lines for turn, lines in report.explanations.items()},
            "failures": [
                {"turn": failure.turn, "where": failure.where, "expected": failure.expected, "got": failure.actual}
                for failure in report.failures
            ],
        }
        for report in reports
    ]
    return {**count_outcomes(reports), "scenarios": scenarios}


def as_junit(reports: Sequence[ScenarioReport]) -> str:
    """The reports in the format of JUnit: a test case for each scenario, with its explanation when it fails."""
    cases = []
    for report in reports:
        where, seconds = str(report.file.parent), f"{report.seconds:.3f}"
        cases.append(Xml.Element("testcase", classname=where, name=report.id, time=seconds))
        if report.outcome == SKIPPED:
            Xml.SubElement(cases[-1], "skipped", message=report.reason)
        elif report.failures:
            failure = Xml.SubElement(cases[-1], "failure", message=_format_failure(report.failures[0]))
            failure.text = "\n".join([report.title, *format_explanations(report)])
    return format_junit("scenarios", cases, sum(report.seconds for report in reports))


def format_miss(miss: Miss | Failure) -> str:
    """An expectation that does not hold: its path, expected and actual value."""
    return f"{miss.where}: expected {shorten_json(miss.expected)}, got {shorten_json(miss.actual)}"


def _format_failure(failure: Failure) -> str:
    return f"turn {failure.turn}, {format_miss(failure)}" if failure.turn else format_miss(failure)
