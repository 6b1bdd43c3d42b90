"""Rows of real MCP servers, and the processes behind them."""

import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from convengine.engine.turn.rows import McpServer

SCRIPT = str(Path(__file__).with_name("mcp_server.py"))


def stdio_row(name: str = "shop", **values: Any) -> McpServer:
    """The server as a process of its own."""
    given = {"command": sys.executable, "args_json": [SCRIPT], "timeout_ms": 20_000, **values}
    return McpServer(server_id=1, name=name, transport="STDIO", **given)


def http_row(port: int, name: str = "shop", **values: Any) -> McpServer:
    """The server that listens on a port of this machine."""
    given = {"url": f"http://127.0.0.1:{port}/mcp", "timeout_ms": 20_000, **values}
    return McpServer(server_id=1, name=name, transport="HTTP", **given)


@contextmanager
def listening(port: int, *command: str, env: Mapping[str, str] | None = None) -> Iterator[subprocess.Popen[bytes]]:
    """A process that listens on the port, from then on until the end of the block."""
    process = subprocess.Popen(command or (sys.executable, SCRIPT, str(port)), stderr=subprocess.DEVNULL, env=env)
    try:
        _wait(port, process)
        yield process
    finally:
        process.kill()
        process.wait()


def _wait(port: int, process: subprocess.Popen[bytes]) -> None:
    until = time.monotonic() + 60
    while True:
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
        except OSError:
            assert process.poll() is None, "The server ended."
            assert time.monotonic() < until, "Nothing listens."
            time.sleep(0.05)
        else:
            return
