"""The loop of outgoing calls belongs to one process. `test_strangers.py` and `test_guarded_calls.py` test its calls."""

import os
from collections.abc import Callable

import pytest

from convengine.engine.turn.ports import LlmRequest
from convengine.server.model_clients.connections import read_connections
from convengine.server.model_clients.openai_model import OpenAiModel
from convengine.server.outgoing import loop
from convengine.server.outgoing.loop import OutgoingLoop
from tests.fakes.openai_server import model_server


def run_in_fork(work: Callable[[], str]) -> str:
    """What it gives in a process that is a copy of this one."""
    reading, writing = os.pipe()
    if (pid := os.fork()) == 0:
        try:
            os.write(writing, work().encode())
        finally:
            os._exit(0)
    os.close(writing)
    with open(reading, "rb") as pipe:
        text = pipe.read().decode()
    os.waitpid(pid, 0)
    return text


def test_a_fork_calls_by_connections_of_its_own() -> None:
    with model_server() as service:
        model = OpenAiModel(read_connections({"desk": {"base_url": service.url, "models": ["small"]}}))

        def ask() -> str:
            answer = model.complete(LlmRequest("RESPONSE_TEXT", "Be kind.", "Hello?"))
            return f"{answer.text} {answer.error_message}"

        assert [ask(), run_in_fork(ask), ask()] == ["fine None"] * 3
        model.close()


def test_a_fork_closes_nothing_of_its_parent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loop.atexit, "register", lambda work: None)
    closed: list[int] = []
    own = OutgoingLoop()

    async def close() -> None:
        closed.append(os.getpid())

    own.at_end(close)
    own.loop()

    def end() -> str:
        own.loop()
        own._end()
        return repr(closed)

    assert run_in_fork(end) == "[]"
    own._end()
    assert closed == [os.getpid()]
