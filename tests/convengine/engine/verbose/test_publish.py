from dataclasses import replace
from typing import Any

import pytest

from convengine.engine.pipeline.stages import STEP_ENTER, STEP_ERROR, STEP_EXIT
from convengine.engine.turn import rows
from convengine.engine.turn.stage import Stage
from convengine.engine.turn.trail import FOLDED
from convengine.engine.turn.turn import Turn
from convengine.engine.turn.verbose import VerboseLine
from convengine.engine.verbose.publish import listen, publish, publish_text
from convengine.engine.verbose.signals import Signal
from tests.builders import make_config, make_intent, make_session, make_snapshot, make_turn, make_verbose

LOAN = make_intent("LOAN")
ENTER = Signal("RulesStep", "STEP_ENTER")
ERROR = Signal("RulesStep", "STEP_ERROR", error=True)


def publish_signal(
    *all_rows: rows.Row, signal: Signal = ENTER, metadata: Any = None, **fields: Any
) -> VerboseLine | None:
    turn = make_turn(make_snapshot(LOAN, *all_rows))
    session = make_session(**{"intent": "LOAN", "state": "IDLE", **fields})
    publish(session, turn, signal, lambda: metadata or {})
    assert turn.trail.events == []
    return turn.verbose[0] if turn.verbose else None


def text(*all_rows: rows.Row, **world: Any) -> str | None:
    line = publish_signal(*all_rows, **world)
    return line.text if line else None


def test_P2_14_4_V2_no_row_no_line() -> None:
    assert publish_signal() is None


def test_P2_14_4_V3_R121_an_error_without_a_row_is_told_in_general_words() -> None:
    line = publish_signal(signal=ERROR)

    assert line is not None
    assert (line.text, line.level, line.verbose_id) == ("Something went wrong while processing Rules.", "ERROR", None)
    assert text(make_config("Verbose/GENERIC_ERROR", "{{ stepName }}: {{ determinant }}"), signal=ERROR) == (
        "RulesStep: STEP_ERROR"
    )


def test_an_error_that_another_event_tells_as_well_needs_a_row() -> None:
    quiet = Signal("McpToolStep", "MCP_TOOL_CALL", error=True, generic=False)
    row = make_verbose("Call", step_value="ANY", determinant="ANY", error_message="Down.")

    assert publish_signal(signal=quiet) is None
    assert text(row, signal=quiet) == "Down."


def test_P2_14_4_V6_a_message_stands_in_for_an_error_message() -> None:
    line = publish_signal(make_verbose("Only this.", determinant="STEP_ERROR"), signal=ERROR)

    assert line is not None
    assert (line.text, line.level) == ("Only this.", "ERROR")
    assert text(make_verbose(None, error_message="Or this.")) == "Or this."


def test_an_error_has_its_own_words() -> None:
    row = make_verbose("Working.", determinant="ANY", error_message="Failed.")

    assert (text(row), text(row, signal=ERROR)) == ("Working.", "Failed.")


def test_P2_14_4_V8_a_name_that_nothing_set_prints_as_nothing() -> None:
    assert text(make_verbose("Working on {{context.id}}")) == "Working on "


def test_a_text_may_name_the_session_and_the_metadata() -> None:
    row = make_verbose("{{ intent }} {{ inputParams.name }}: {{ durationMs }} {{ metadata.durationMs }} {{ stepName }}")

    assert text(row, metadata={"durationMs": 7}, input_params={"name": "Al"}) == "LOAN Al: 7 7 RulesStep"


def test_a_line_that_renders_blank_is_none() -> None:
    assert publish_signal(make_verbose("{{ context.nothing }}")) is None
    assert publish_signal(make_verbose(None)) is None
    assert publish_signal(make_verbose("{{ 1 / 0 }}")) is None


def test_switched_off_nothing_is_told() -> None:
    off = make_config("Verbose/ENABLED", "false")

    assert publish_signal(make_verbose(), off) is None
    assert publish_signal(off, signal=ERROR) is None


def test_nothing_but_looks_counts_and_durations_leaves_the_server() -> None:
    metadata = {
        "system_prompt": "secret", "sql": "select 1", "rows": [1], "severity": "LOUD", "icon": "bell", "durationMs": 5,
        "row_count": 2, "terms": 3, "ok_count": True,
    }  # fmt: skip
    signal = Signal("McpDbExecutor", "MCP_DB_SQL_EXECUTION", rule_id=4, tool_code="a")

    line = publish_signal(make_verbose(step_value="ANY", determinant="ANY"), signal=signal, metadata=metadata)

    assert line is not None
    assert line.as_json()["metadata"] == {
        "severity": "LOUD", "theme": "progress", "icon": "bell", "durationMs": 5, "row_count": 2,
        "conversationId": make_session().conversation_id, "stepName": "McpDbExecutor",
        "determinant": "MCP_DB_SQL_EXECUTION",
    }  # fmt: skip
    assert (line.as_json()["ruleId"], line.as_json()["toolCode"]) == (4, "a")


def test_a_line_has_the_shape_that_clients_know() -> None:
    line = publish_signal(signal=ERROR)

    assert line is not None
    document = line.as_json()
    assert (document["eventType"], document["message"], document["errorMessage"]) == (
        "VERBOSE_PROGRESS",
        None,
        line.text,
    )
    assert (document["metadata"]["severity"], document["metadata"]["theme"], document["metadata"]["icon"]) == (
        "ERROR",
        "danger",
        "warning",
    )


def test_a_text_of_codes_own_is_rendered_and_looks_for_no_row() -> None:
    heard: list[VerboseLine] = []
    turn = make_turn(make_snapshot(LOAN, make_verbose("row", step_value="ANY", determinant="ANY")))
    turn = replace(turn, verbose_listeners=(lambda turn, line: heard.append(line),))

    publish_text(make_session(intent="LOAN", state="IDLE"), turn, Signal("OwnStep", "OWN"), "Own {{ state }}")

    assert [line.text for line in heard] == ["Own IDLE"]
    assert turn.verbose == heard
    assert heard[0].verbose_id is None


IDLE = make_session(intent="X", state="IDLE")


def run_listening(*all_rows: rows.Row, on_fault: Any = None, listeners: Any = ()) -> Turn:
    def fails(fault: Exception) -> None:
        raise AssertionError(fault)

    turn = replace(make_turn(make_snapshot(*all_rows)), verbose_listeners=listeners)
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

    assert [(line.level, line.text) for line in turn.verbose] == [
        ("ERROR", "Something went wrong while processing Rules.")
    ]


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
    ("path", "stage", "payload", "is_said"),
    [
        ("$.stepInfo.error", STEP_ERROR, {"errorMessage": "down"}, True),
        ("$.stepInfo.error", STEP_EXIT, {}, False),
        ("$[?(@.stepInfo.status == 'SUCCESS' && @.result == 'Stop')]", STEP_EXIT, {"outcome": "Stop"}, True),
        ("$[?(@.durationMs > 100)]", STEP_EXIT, {"durationMs": 250}, True),
        ("$[?(@.intent == 'X')]", STEP_ENTER, {"context": FOLDED}, True),
    ],
)
def test_paths_look_at_the_payload_and_the_record_of_the_step(
    path: str, stage: Stage, payload: dict[str, Any], is_said: bool
) -> None:
    turn = run_listening(make_verbose("Said.", step_match="JSON_PATH", step_value=path, determinant="ANY"))

    turn.audit(IDLE, stage, step="RulesStep", **payload)

    assert ("Said." in [line.text for line in turn.verbose]) is is_said


def test_a_fault_never_reaches_the_turn() -> None:
    faults: list[Exception] = []

    def fail(turn: Turn, line: Any) -> None:
        raise OSError("gone")

    turn = run_listening(make_verbose(step_value="ANY"), on_fault=faults.append, listeners=(fail,))
    turn.audit(IDLE, STEP_ENTER, step="RulesStep")

    assert [str(fault) for fault in faults] == ["gone"]
    assert len(turn.trail.events) == 1
