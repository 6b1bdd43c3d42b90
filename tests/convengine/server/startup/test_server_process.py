"""What a process of the server sets for itself."""

import os
import signal
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from convengine.server.startup.server_process import allow_open_files

resource = pytest.importorskip("resource")


def test_a_system_that_refuses_to_set_no_limit_of_files_gets_one(monkeypatch: pytest.MonkeyPatch) -> None:
    limits: list[Any] = []

    def set_limit(kind: int, wanted: tuple[int, int]) -> None:
        if wanted[0] == resource.RLIM_INFINITY:
            raise ValueError("current limit exceeds maximum limit")
        limits.append(wanted)

    monkeypatch.setattr(resource, "getrlimit", lambda kind: (256, resource.RLIM_INFINITY))
    monkeypatch.setattr(resource, "setrlimit", set_limit)

    allow_open_files()

    assert limits == [(10240, resource.RLIM_INFINITY)]


@pytest.mark.long
def test_a_process_speaks_http_1_only_because_other_silent_connections_never_end(tmp_path: Path) -> None:
    (tmp_path / "tiny.py").write_text(
        "async def app(scope, receive, send):\n"
        "    await send({'type': 'http.response.start', 'status': 200, 'headers': []})\n"
        "    await send({'type': 'http.response.body', 'body': b'yes'})\n"
    )
    reader, writer = os.pipe()
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.setblocking(False)
        number = str(listener.fileno())
        module = "convengine.server.startup.server_process"
        process = subprocess.Popen(
            [sys.executable, "-m", module, "--app", "tiny:app", "--socket", number, "--ready", str(writer)],
            env={**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), os.getcwd()])},
            pass_fds=[int(number), writer],
        )
        os.close(writer)
        try:
            assert os.read(reader, 1) == b"1"
            answers = []
            for start in (
                b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
                b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
            ):
                with socket.create_connection(listener.getsockname()) as client:
                    client.settimeout(60)
                    client.sendall(start)
                    answer = b""
                    while part := client.recv(1000):
                        answer += part
                    answers.append(answer)
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(20)
            os.close(reader)

    assert answers[0].endswith(b"yes")
    # No settings of HTTP/2 come back.
    assert answers[1] == b"" or answers[1].startswith(b"HTTP/1.1 400")
