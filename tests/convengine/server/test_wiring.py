from typing import Any

import pytest

from convengine.engine.llm.scripted import ScriptedModel, ScriptLine
from convengine.engine.steps.tools.scripted import ScriptedTools, Stub
from convengine.engine.turn.ports import LlmRequest, Ports
from convengine.engine.turn.recording import Recording
from convengine.server import wiring
from convengine.server.extensions.registry import Registry, TaskEntry
from convengine.server.model_clients.connections import read_connections
from convengine.server.model_clients.offline import EchoModel, NoModel
from convengine.server.model_clients.openai_model import OpenAiModel
from convengine.server.wiring import OutsideWorld
from tests.builders import make_session, make_snapshot
from tests.fakes.clock import FrozenClock
from tests.fakes.ports import StoredConversation


def ports() -> Ports:
    return wiring.ports(FrozenClock(), StoredConversation(None), Recording(), make_snapshot())  # type: ignore[arg-type]


def test_a_deployment_without_anything_has_no_model_and_no_tools() -> None:
    plain = ports()

    assert not plain.model.configured
    assert plain.tools.run("stock", "DB", {}, make_session()).error_type == "NO_SQL"
    assert plain.tools.run("stock", "MAGIC", {}, make_session()).error_type == "NO_EXECUTOR"


def test_another_outside_world_is_met_for_a_while() -> None:
    registry = Registry(tasks={"send": TaskEntry({"now": lambda call: 1})})
    script = ScriptedModel([ScriptLine({"POLICY"}, "yes")])

    with wiring.replace_outside_world(OutsideWorld(registry, script, ScriptedTools([Stub("stock", result=1)]))):
        inside = ports()
        assert inside.tasks.methods("send") == ("now",)
        assert inside.model.complete(LlmRequest("POLICY", "", "")).text == "yes"
        assert inside.tools.run("stock", "DB", {}, make_session()).result == 1

    assert ports().tasks.methods("send") is None


@pytest.mark.parametrize(
    ("connections", "kind"),
    [
        ({}, NoModel),
        ({"stub": {"provider": "stub"}}, EchoModel),
        ({"desk": {"base_url": "http://desk/v1", "models": ["small"]}}, OpenAiModel),
    ],
)
def test_the_model_is_what_the_deployment_names(connections: Any, kind: type, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wiring, "models", lambda: read_connections(connections))

    assert type(wiring.model.__wrapped__()) is kind


def test_a_stub_says_what_it_was_asked() -> None:
    answers = [EchoModel().complete(LlmRequest("POLICY", "", "Hello?", json_schema=schema)) for schema in (None, {})]

    assert [answer.text for answer in answers] == ["Hello?", "{}"]
    assert EchoModel().sum_cost("c") == 0
