"""Attacks on a server of two processes: guessed passwords and keys, many calls, two credentials."""

import json
import socket
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from http.client import HTTPConnection
from typing import Any
from urllib.parse import urlencode

import pytest
from django.contrib.auth.models import User

from tests.api import make_key
from tests.live.processes import Server
from tests.worlds import create_help_desk

pytestmark = [pytest.mark.transactional, pytest.mark.long]
Servers = Callable[..., list[Server]]


def call(port: int, method: str, path: str, body: Any = None, **headers: str) -> tuple[int, dict[str, str], bytes]:
    http = HTTPConnection("127.0.0.1", port, timeout=30)
    try:
        http.request(method, path, body, headers)
        response = http.getresponse()
        return response.status, {name.lower(): value for name, value in response.getheaders()}, response.read()
    finally:
        http.close()


def say(port: int, authorization: str) -> int:
    body = json.dumps({"message": "hours"})
    headers = {"Authorization": authorization, "Content-Type": "application/json"}
    return call(port, "POST", "/api/v1/conversation/message", body, **headers)[0]


def guess(port: int, password: str) -> str:
    """Sign in as a browser would: the page's token, then name and password."""
    _, headers, _ = call(port, "GET", "/admin/login/")
    token = headers["set-cookie"].partition(";")[0].partition("=")[2]
    form = urlencode({"username": "ada", "password": password, "csrfmiddlewaretoken": token})
    sent = {"Cookie": f"csrftoken={token}", "Content-Type": "application/x-www-form-urlencoded"}
    status, _, page = call(port, "POST", "/admin/login/", form, **sent)
    return "in" if status == 302 else "slow" if b"Too many attempts" in page else "wrong"


def test_passwords_are_guessed_slowly_whichever_process_answers(servers: Servers) -> None:
    User.objects.create_superuser("ada", password="right")
    [server] = servers(workers=2)

    with ThreadPoolExecutor(4) as callers:
        outcomes = list(callers.map(lambda number: guess(server.port, f"wrong {number}"), range(60)))

    assert outcomes.count("wrong") <= 12
    assert outcomes.count("slow") >= 48


def test_the_rate_of_a_key_counts_for_all_processes_together(servers: Servers) -> None:
    create_help_desk()
    secret = make_key()
    [server] = servers(workers=2, CE_THROTTLE_RATE="20/hour")

    with ThreadPoolExecutor(4) as callers:
        statuses = list(callers.map(lambda _: say(server.port, f"Api-Key {secret}"), range(60)))

    assert (statuses.count(200), statuses.count(429)) == (20, 40)


def test_guessed_keys_are_refused_and_the_right_one_goes_on(servers: Servers) -> None:
    create_help_desk()
    secret = make_key()
    [server] = servers(workers=2)

    statuses = [say(server.port, f"Api-Key guess.{number}") for number in range(60)]

    assert statuses.count(401) <= 24
    assert statuses.count(429) >= 36
    assert say(server.port, f"Api-Key {secret}") == 200


@pytest.mark.parametrize("asgi", [False, True])
def test_two_credentials_are_refused(servers: Servers, asgi: bool) -> None:
    create_help_desk()
    secret = make_key()
    [server] = servers(asgi=asgi)
    body = b'{"message": "hours"}'

    def send(*credentials: str) -> bytes:
        lines = [
            "POST /api/v1/conversation/message HTTP/1.1", "Host: localhost", "Content-Type: application/json",
            f"Content-Length: {len(body)}", "Connection: close", *(f"Authorization: {value}" for value in credentials),
        ]  # fmt: skip
        with socket.create_connection(("127.0.0.1", server.port), timeout=30) as connection:
            connection.sendall("\r\n".join(lines).encode() + b"\r\n\r\n" + body)
            return b"".join(iter(lambda: connection.recv(65536), b""))

    assert b" 200 " in send(f"Api-Key {secret}").splitlines()[0]
    for credentials in ((f"Api-Key {secret}", "Api-Key x.y"), ("Api-Key x.y", f"Api-Key {secret}")):
        answer = send(*credentials)
        assert b" 400 " in answer.splitlines()[0]
        assert b"DUPLICATE_CREDENTIALS" in answer
