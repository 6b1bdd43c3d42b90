import uuid
from functools import partial
from typing import Any

import pytest

from convengine.play.integrator import DEFAULT_WORKSPACE, Integrator
from convengine.play.scenario import ScenarioTurn
from convengine.play.seen_turn import SeenTurn
from tests.worlds import create_help_desk

pytestmark = pytest.mark.django_db


@pytest.fixture
def integrator() -> Integrator:
    create_help_desk()
    return Integrator.for_workspace(DEFAULT_WORKSPACE, may_approve=True)


def test_a_turn_is_a_request_with_message_params_and_reset(integrator: Integrator) -> None:
    key = uuid.uuid4()

    status, body = integrator.send_message(key, ScenarioTurn("hours", input_params={"vip": True}))
    _, again = integrator.send_message(key, ScenarioTurn("fees", reset=True))

    assert (status, body["conversationId"], body["state"]) == (200, str(key), "VIP")
    assert "CONVERSATION_RESET" in [row.stage for row in integrator.audit(key, again["turnNo"])]


def test_events_are_those_of_the_turn(integrator: Integrator) -> None:
    key = uuid.uuid4()
    integrator.send_message(key, ScenarioTurn("hours"))
    integrator.send_message(key, ScenarioTurn("my cvv"))
    first, blocked = (SeenTurn(read_events=partial(integrator.audit, key, number)) for number in (1, 2))

    assert "USER_INPUT" in blocked.stages
    assert ("RulesStep" in first.steps, "RulesStep" in blocked.steps) == (True, False)


def test_a_conversation_that_is_not_there_has_no_events(integrator: Integrator) -> None:
    assert integrator.audit(uuid.uuid4(), 1) == []


def test_a_server_that_crashes_answers_in_the_envelope(integrator: Integrator, monkeypatch: Any) -> None:
    def crashes(*args: Any) -> None:
        raise RuntimeError("boom")

    monkeypatch.setattr("convengine.server.api.views.take_turn", crashes)

    status, body = integrator.send_message(uuid.uuid4(), ScenarioTurn("hours"))

    assert (status, body["errorCode"]) == (500, "INTERNAL_ERROR")
