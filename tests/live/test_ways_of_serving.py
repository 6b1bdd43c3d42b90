"""The shipped clients watch a conversation, whichever way the product is served."""

import asyncio
import json
import os
import re
import sys
from collections.abc import Callable, Iterator, Sequence

import pytest

from convengine.client import ApiError, AsyncClient, Client
from convengine.commands.management.commands.serve import become_server
from tests.api import make_key
from tests.live.processes import ROOT, Server, database_url, free_port, start
from tests.test_helm_chart import get_pod, render
from tests.worlds import create_help_desk

pytestmark = [pytest.mark.long, pytest.mark.slow]
#: As `convengine demo` serves.
_ONE_PORT = (
    f"import sys; from {become_server.__module__} import become_server; "
    "become_server('127.0.0.1', int(sys.argv[1]), 1, 2, asgi=True)"
)


#: The ways that an installation uses.
DEPLOYED = ("as in the image", "as in the chart")


def list_ways() -> dict[str, tuple[Sequence[str], Sequence[int]]]:
    """By name, the arguments of the interpreter, where 8000 is the port, and the ports that are asked, from there.

    The second port is that of streams, to which the path of the chart's ingress leads.
    """
    docker = json.loads(re.findall(r"^CMD (\[.*\])", (ROOT / "Dockerfile").read_text(), re.MULTILINE)[-1])
    helm = get_pod(render())[1]["args"]
    return {
        "one port": (["-c", _ONE_PORT, "8000"], [0]),
        "two ports": (["manage.py", "serve", "--port", "8000"], [0, 1]),
        "as in the image": (["manage.py", *docker], [0]),
        "as in the chart": (["manage.py", *helm], [0, 1]),
    }


@pytest.fixture
def serve(transactional_db: None) -> Iterator[Callable[[Sequence[str]], Server]]:
    """Give `serve(arguments)`: a server that runs with the database of the test."""
    running: list[Server] = []

    def start_server(arguments: Sequence[str]) -> Server:
        port = free_port()
        command = [sys.executable, *(str(port) if word == "8000" else word for word in arguments)]
        server = start(command, port, {**os.environ, "DATABASE_URL": database_url(), "CE_STREAM_POLL_MS": "100"})
        running.append(server)
        server.wait_until_ready()
        return server

    yield start_server
    for server in running:
        server.end()


def watch(url: str, secret: str, conversation_id: str) -> list[str]:
    with Client(url, secret, timeout=20) as client:
        return [event.name for event in client.stream_events(conversation_id, after="0.0", verbose=False)]


def watch_async(url: str, secret: str, conversation_id: str) -> list[str]:
    async def read() -> list[str]:
        async with AsyncClient(url, secret, timeout=20) as client:
            stream = client.stream_events(conversation_id, after="0.0", verbose=False)
            return [event.name async for event in stream]

    return asyncio.run(read())


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[] if name in DEPLOYED else pytest.mark.nightly) for name in list_ways()]
)
def test_both_clients_watch_a_conversation(serve: Callable[[Sequence[str]], Server], name: str) -> None:
    create_help_desk()
    secret = make_key()
    arguments, ports = list_ways()[name]
    server = serve(arguments)
    with Client(f"http://127.0.0.1:{server.port}", secret) as client:
        session = client.send_session_message("default", "shop", "anna", "hours").session
        client.close_session(session.session_id)

    for further in ports:
        url = f"http://127.0.0.1:{server.port + further}"
        names = watch(url, secret, session.session_id)
        assert (names.count("USER_INPUT"), names[-1]) == (1, "STREAM_CLOSED"), server.text()
        assert watch_async(url, secret, session.session_id) == names


def test_both_clients_say_that_no_streams_are_served(serve: Callable[[Sequence[str]], Server]) -> None:
    create_help_desk()
    server, secret = serve(["manage.py", "serve", "--port", "8000", "--streams-port", "0"]), make_key()

    for watching in (watch, watch_async):
        with pytest.raises(ApiError, match="Set CE_STREAMS_URL") as refused:
            watching(f"http://127.0.0.1:{server.port}", secret, "c")
        assert (refused.value.status, refused.value.code) == (404, "STREAMS_NOT_SERVED")
