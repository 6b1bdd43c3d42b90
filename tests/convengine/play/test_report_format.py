from pathlib import Path

from convengine.play.report_format import as_json, format_line, format_totals
from convengine.play.runner import FAILED, SKIPPED, Failure, ScenarioReport

FILE = Path("worlds/a.yaml")
FAILURES = [Failure(2, "expect.state", "DONE", None), Failure(2, "expect.intent", "A", "B")]
REPORTS = [
    ScenarioReport("a", FILE, title="A world"),
    ScenarioReport("b", FILE, FAILED, failures=FAILURES),
    ScenarioReport("c", FILE, SKIPPED, reason="requires time_travel"),
]


def test_a_line_says_what_happened_to_a_scenario() -> None:
    assert [format_line(report) for report in REPORTS] == [
        "passed  a",
        'failed  b: turn 2, expect.state: expected "DONE", got null (and 1 more)',
        "skipped c: requires time_travel",
    ]


def test_a_failure_of_the_file_has_no_turn() -> None:
    report = ScenarioReport("a", FILE, FAILED, failures=[Failure(None, "file", "a scenario", "id: must be a text.")])

    assert format_line(report) == 'failed  a: file: expected "a scenario", got "id: must be a text."'


def test_the_totals_come_last() -> None:
    assert format_totals(REPORTS) == "1 passed, 1 failed, 1 skipped"


def test_the_json_has_everything() -> None:
    document = as_json(REPORTS)

    assert {key: document[key] for key in ("passed", "failed", "skipped")} == {"passed": 1, "failed": 1, "skipped": 1}
    assert document["scenarios"][0] == {
        "id": "a", "file": "worlds/a.yaml", "title": "A world", "outcome": "passed", "reason": None, "failures": [],
        "seconds": 0.0, "explanations": {},
    }  # fmt: skip
    assert document["scenarios"][1]["failures"][0] == {
        "turn": 2, "where": "expect.state", "expected": "DONE", "got": None,
    }  # fmt: skip
    assert document["scenarios"][2]["reason"] == "requires time_travel"
