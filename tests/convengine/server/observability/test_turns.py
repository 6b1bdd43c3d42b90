import uuid
from typing import Any

import pytest
import structlog

from convengine.engine.errors import TurnInProgress
from convengine.server.observability import metrics
from convengine.server.observability.turns import observe_turn
from tests.api import Caller
from tests.convengine.server.observability.readings import read
from tests.worlds import create_help_desk

pytestmark = pytest.mark.django_db


def turn_lines(logs: list[Any]) -> list[Any]:
    return [line for line in logs if line["event"] == "turn"]


def test_a_turn_is_one_line_without_a_word_of_the_user() -> None:
    create_help_desk()
    caller = Caller()
    before = read(metrics.TURN_SECONDS, "ok", suffix="_count")

    with structlog.testing.capture_logs([structlog.contextvars.merge_contextvars]) as logs:
        caller.say("hours, said Swordfish", {"X-Request-ID": "shop-17"})

    (line,) = turn_lines(logs)
    assert (line["outcome"], line["turn_no"], line["request_id"]) == ("ok", 1, "shop-17")
    assert line["conversation_id"] == caller.conversation_id
    assert {"ms", "intent", "state", "release", "model_calls", "model_failures", "model_ms"} <= line.keys()
    assert "swordfish" not in str(logs).lower()
    assert read(metrics.TURN_SECONDS, "ok", suffix="_count") == before + 1


def test_a_call_that_gets_no_turn_is_refused_with_its_code() -> None:
    before = read(metrics.TURN_ERRORS, "TURN_IN_PROGRESS", suffix="_total")

    with structlog.testing.capture_logs() as logs, pytest.raises(TurnInProgress), observe_turn("c"):
        raise TurnInProgress()

    (line,) = turn_lines(logs)
    assert (line["outcome"], line["error"], line["conversation_id"]) == ("refused", "TURN_IN_PROGRESS", "c")
    assert "turn_no" not in line
    assert read(metrics.TURN_ERRORS, "TURN_IN_PROGRESS", suffix="_total") == before + 1


def test_a_repeated_call_is_a_replay() -> None:
    create_help_desk()
    caller = Caller()
    key = {"Idempotency-Key": str(uuid.uuid4())}
    caller.say("hours", key)

    with structlog.testing.capture_logs() as logs:
        caller.say("hours", key)

    assert [line["outcome"] for line in turn_lines(logs)] == ["replayed"]


def test_the_seconds_of_steps_are_recorded() -> None:
    create_help_desk()
    before = read(metrics.STEP_SECONDS, "RulesStep", suffix="_total")
    Caller().say("hours")

    assert read(metrics.STEP_SECONDS, "RulesStep", suffix="_total") > before
