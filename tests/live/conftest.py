"""Servers that end before the test's database is emptied."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.live.processes import Server, start_doomed_server, start_granian


@pytest.fixture
def servers(transactional_db: None) -> Iterator[Callable[..., list[Server]]]:
    """Give `servers(2, threads=8)`: real servers of one process each, ready to answer."""
    running: list[Server] = []

    def start(count: int = 1, **options: object) -> list[Server]:
        # All are starting before the first is waited for.
        new = [start_granian(**options) for _ in range(count)]  # type: ignore[arg-type]
        running.extend(new)
        for server in new:
            server.wait_until_ready()
        return new

    yield start
    for server in running:
        server.end()


@pytest.fixture
def doomed(transactional_db: None, tmp_path: Path) -> Iterator[Callable[..., Server]]:
    """Give `doomed()`: a server that dies where a request says. Who struck is noted in `tmp_path`."""
    running: list[Server] = []

    def start(**environment: str) -> Server:
        server = start_doomed_server(tmp_path, **environment)
        running.append(server)
        server.wait_until_ready()
        return server

    yield start
    for server in running:
        server.end()
