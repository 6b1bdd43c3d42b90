"""Vectors of texts from a real HTTP server that speaks the protocol, well and badly."""

import json
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from convengine.engine.understanding.phrases.encoders import EncoderUnavailable
from convengine.server.model_clients import openai_model
from convengine.server.model_clients.connections import read_connections
from convengine.server.model_clients.openai_model import OpenAiModel
from convengine.server.resilience.time_left import limit_waits
from convengine.server.resilience.waiting import Overloaded
from tests.fakes.openai_server import ModelServer, Says, model_server, say_vectors
from tests.live.processes import free_port

TEXTS = ["one", "three", "fives"]


@contextmanager
def connect(url: str, **more: Any) -> Iterator[OpenAiModel]:
    desk = {"base_url": url, "api_key": "sk-secret-key", "models": ["small", "vectors"], **more}
    model = OpenAiModel(read_connections({"desk": desk}))
    yield model
    model.close()


@contextmanager
def serve(*says: Says, by: Callable[[dict[str, Any]], Says] | None = None) -> Iterator[tuple[OpenAiModel, ModelServer]]:
    with model_server(*says, by=by) as server, connect(server.url) as model:
        yield model, server


def make_answer(*vectors: Any, indexes: Any = None) -> Says:
    indexes = range(len(vectors)) if indexes is None else indexes
    data = [{"index": index, "embedding": vector} for index, vector in zip(indexes, vectors, strict=True)]
    return Says(raw=json.dumps({"data": data, "model": "vectors"}).encode())


def find_fault(model: OpenAiModel, name: str = "desk:vectors") -> tuple[str, str]:
    with pytest.raises(EncoderUnavailable) as refused:
        model.embed(name, TEXTS)
    return refused.value.code, str(refused.value)


def test_each_text_gets_its_own_vector_in_whatever_order_the_service_answers() -> None:
    with serve(by=say_vectors(lambda text: [len(text), 1.5])) as (model, server):
        vectors = model.embed("desk:vectors", TEXTS)

    assert [vector.tolist() for vector in vectors] == [[3, 1.5], [5, 1.5], [5, 1.5]]
    assert server.requests == [{"model": "vectors", "input": TEXTS, "encoding_format": "float"}]
    assert server.headers[0]["authorization"] == "Bearer sk-secret-key"


def test_without_the_library_the_fault_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(openai_model, "describe_missing", lambda name: f"Install {name}.")
    with connect("http://127.0.0.1:9/v1") as model:
        assert find_fault(model) == ("LLM_CALL_FAILED", "Install openai.")


def test_further_fields_of_the_connection_are_sent() -> None:
    with (
        model_server(by=say_vectors(lambda text: [1.0])) as server,
        connect(server.url, body={"dimensions": 256}) as model,
    ):
        model.embed("vectors", TEXTS)

    assert server.requests[0]["dimensions"] == 256


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (make_answer([1], [2]), "was asked for 3 vectors, and gave 2"),
        (make_answer([1], [2], [3], [4]), "gave 4"),
        (make_answer([1], [2], [3], indexes=(0, 1, 1)), "with the indexes [0, 1, 1]"),
        (make_answer([1], [2], [3], indexes=(1, 2, 3)), "with the indexes [1, 2, 3]"),
        (make_answer([1], [2, 2], [3]), "no vectors of one length"),
        (make_answer([1], ["2"], [3]), "no vectors of one length"),
        (make_answer([1], [float("nan")], [3]), "no vectors of one length"),
        (make_answer([1], [1e39], [3]), "no vectors of one length"),
        (make_answer([1], [0], [3]), "no vectors of one length"),
        (make_answer([1], None, [3]), "no vectors of one length"),
        (make_answer([1], [], [3]), "no vectors of one length"),
        (Says(raw=b"{}"), "and gave 0"),
        (Says(raw=b'{"data": 3}'), "and gave 0"),
        (Says(raw=b"<html>"), ""),
    ],
)
def test_an_answer_of_another_shape_is_refused_with_what_is_wrong(answer: Says, reason: str) -> None:
    with serve(answer) as (model, _):
        code, message = find_fault(model)

    assert code == "LLM_INVALID_RESPONSE"
    assert reason in message


def test_a_refused_call_says_what_the_service_says_without_the_key() -> None:
    with serve(Says("no such key sk-secret-key", 401)) as (model, _):
        code, message = find_fault(model)

    assert code == "LLM_CALL_FAILED"
    assert "no such key ***" in message


def test_a_model_that_the_deployment_does_not_allow_is_not_called() -> None:
    with serve() as (model, server):
        code, message = find_fault(model, "desk:huge")

    assert (code, server.requests) == ("LLM_NOT_CONFIGURED", [])
    assert message.startswith(
        "Phrases/EMBEDDING_MODEL is 'desk:huge', which this deployment does not allow. Allowed: desk:small"
    )


def test_a_slow_service_takes_no_more_than_the_time_that_the_turn_has_left() -> None:
    with serve(Says(seconds=5)) as (model, _), limit_waits(0.4):
        code, message = find_fault(model)

    assert (code, message) == ("LLM_TIMEOUT", "No complete answer within 0.3 s.")


def test_a_service_that_fails_again_and_again_is_not_called_for_some_time() -> None:
    with connect(f"http://127.0.0.1:{free_port()}/v1", circuit_failures=2) as model:
        codes = [find_fault(model)[0] for _ in range(3)]

    assert codes == ["LLM_CALL_FAILED", "LLM_CALL_FAILED", "LLM_CIRCUIT_OPEN"]


def test_the_connection_of_the_manual_is_one() -> None:
    (example,) = re.findall(r"(?s)## Vectors of phrases.*?```json\n(.*?)```", Path("docs/models.md").read_text())
    (name,) = re.findall(r"`Phrases/EMBEDDING_MODEL` = `(.*?)`", Path("docs/models.md").read_text())

    connection, model = read_connections(json.loads(example)).find(name)

    assert (connection.name, model, connection.body) == ("vectors", "bge-m3", {"dimensions": 512})


def test_a_process_with_too_many_waiting_turns_asks_nothing() -> None:
    def refuse() -> Any:
        raise Overloaded

    with serve() as (model, server):
        model.wait = refuse
        assert find_fault(model)[0] == "LLM_OVERLOADED"

    assert server.requests == []
