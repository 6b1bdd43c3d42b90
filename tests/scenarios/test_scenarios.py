"""The shared worlds (docs/scenarios.md), each played on this run's database and replayed turn by turn."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from convengine.play import database
from convengine.play.loading import files
from convengine.play.report_format import format_line
from convengine.play.runner import Failure, RunOptions, run
from tests.accounts import unfounded_anywhere
from tests.cases import for_each
from tests.stages import untold_anywhere

FOLDER = Path(__file__).resolve().parent
FILES = files([FOLDER])
#: A database is emptied after a test: not after each of them.
SHARES = 4


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("share", range(SHARES))
def test_each_scenario_holds_and_each_of_its_turns_replays_equal_and_is_told_by_its_events(share: int) -> None:
    @for_each("file", FILES[share::SHARES])
    def check(file: Path) -> None:
        with database.allow_emptying():
            report = run(file, RunOptions(replay=True))
            unfounded, untold = list(unfounded_anywhere()), sorted(set(untold_anywhere()))

        assert report.outcome == "passed", format_line(report)
        assert unfounded == []
        assert untold == []

    check()


#: Scenario, turn, path to an expectation in the file, what it is turned into, and how that must fail.
FLIPPED: list[tuple[str, int, list[str], Any, Failure]] = [
    (
        "51-response-scoring", 1, ["response", "equals"], "Sent.",
        Failure(1, "expect.response.equals", "Sent.", "On its way."),
    ),
    (
        "20-rule-passes-chain-states", 1, ["audit_counts", "RULE_APPLIED"], 3,
        Failure(1, "expect.audit_counts.RULE_APPLIED", 3, 2),
    ),
    (
        "54-missing-response-error", 2, ["error", "code"], "LLM_TIMEOUT",
        Failure(2, "expect.error.code", "LLM_TIMEOUT", "RESPONSE_MAPPING_NOT_FOUND"),
    ),
    (
        "56-container-data", 1, ["context", "$.container_data.storeHours.until"], "18:00",
        Failure(1, "expect.context['$.container_data.storeHours.until']", "18:00", "17:00"),
    ),
    (
        "33-best-priority-needs-no-question", 1, ["task_calls"], [],
        Failure(1, "expect.task_calls", [], [{"bean": "hotelTask", "method": "cancel"}]),
    ),
    (
        "44-rule-actions", 1, ["input_params", "claim_amount"], 1201,
        Failure(1, "expect.input_params.claim_amount", 1201, 1200),
    ),
    (
        "08-policy-block-and-recovery", 2, ["persisted", "status"], "RUNNING",
        Failure(2, "expect.persisted.status", "RUNNING", "BLOCKED"),
    ),
]  # fmt: skip


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(("name", "turn", "path", "value", "failure"), FLIPPED, ids=[case[0] for case in FLIPPED])
def test_a_flipped_expectation_fails_with_where_expected_and_got(
    tmp_path: Path, name: str, turn: int, path: list[str], value: Any, failure: Failure
) -> None:
    world = yaml.safe_load((FOLDER / f"{name}.yaml").read_text())
    *way, last = path
    target = world["turns"][turn - 1]["expect"]
    for key in way:
        target = target[key]
    assert target[last] != value
    target[last] = value
    file = tmp_path / f"{name}.yaml"
    file.write_text(yaml.safe_dump(world))

    with database.allow_emptying():
        report = run(file)

    assert report.failures == [failure]
