from typing import Any

import pytest

from convengine.engine.pipeline.stages import STEP_ENTER, STEP_ERROR, STEP_EXIT
from convengine.engine.turn import rows
from convengine.engine.turn.stage import Stage
from convengine.engine.turn.trail import FOLDED
from convengine.engine.turn.turn import Turn
from convengine.engine.verbose.listen import listen
from tests.builders import make_config, make_session, make_snapshot, make_turn, make_verbose

IDLE = make_session(intent="X", state="IDLE")


def run_listening(*all_rows: rows.Row, on_fault: Any = None) -> Turn:
    def fails(fault: Exception) -> None:
        raise AssertionError(fault)

    turn = make_turn(make_snapshot(*all_rows))
    listen(turn, on_fault or fails)
    return turn


def test_what_happens_is_told_as_it_happens() -> None:
    turn = run_listening(make_verbose("In {{ stepName }}", step_value="ANY"))

    turn.audit(IDLE, STEP_ENTER, step="RulesStep")
    turn.audit(IDLE, STEP_EXIT, step="RulesStep")

    assert [line.text for line in turn.verbose] == ["In RulesStep"]


def test_without_rows_only_errors_are_told() -> None:
    turn = run_listening()

    turn.audit(IDLE, STEP_ENTER, step="RulesStep")
    turn.audit(IDLE, STEP_ERROR, step="RulesStep", errorMessage="secret detail")

    assert [(line.level, line.text) for line in turn.verbose] == [("ERROR", "Something went wrong in RulesStep.")]


def test_switched_off_nobody_listens() -> None:
    turn = run_listening(make_config("Verbose/ENABLED", "false"))

    assert turn.trail.listeners == ()


def test_those_who_listened_before_still_do() -> None:
    turn = make_turn()
    seen: list[Any] = []
    turn.trail.listeners = (seen.append,)
    listen(turn, lambda fault: None)

    turn.audit(IDLE, STEP_ENTER, step="RulesStep")

    assert len(seen) == 1


@pytest.mark.parametrize(
    ("path", "stage", "payload", "said"),
    [
        ("$.stepInfo.error", STEP_ERROR, {"errorMessage": "down"}, True),
        ("$.stepInfo.error", STEP_EXIT, {}, False),
        ("$[?(@.stepInfo.status == 'SUCCESS' && @.result == 'Stop')]", STEP_EXIT, {"outcome": "Stop"}, True),
        ("$[?(@.durationMs > 100)]", STEP_EXIT, {"durationMs": 250}, True),
        ("$[?(@.intent == 'X')]", STEP_ENTER, {"context": FOLDED}, True),
    ],
)
def test_paths_look_at_the_payload_and_the_record_of_the_step(
    path: str, stage: Stage, payload: dict[str, Any], said: bool
) -> None:
    turn = run_listening(make_verbose("Said.", step_match="JSON_PATH", step_value=path, determinant="ANY"))

    turn.audit(IDLE, stage, step="RulesStep", **payload)

    assert ("Said." in [line.text for line in turn.verbose]) is said


def test_a_fault_never_reaches_the_turn() -> None:
    faults: list[Exception] = []
    turn = run_listening(make_verbose(step_value="ANY"), on_fault=faults.append)

    def fail(line: Any) -> None:
        raise OSError("gone")

    turn.verbose_listeners = (fail,)
    turn.audit(IDLE, STEP_ENTER, step="RulesStep")

    assert [str(fault) for fault in faults] == ["gone"]
    assert len(turn.trail.events) == 1
