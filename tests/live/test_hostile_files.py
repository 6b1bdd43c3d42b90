"""Files that would stop a process, uploaded to the pages of an analyst, beside somebody who says hello."""

import gzip
import io
import json
import statistics
import time
import zipfile
from collections.abc import Callable
from threading import Event, Thread

import httpx2
import pytest
from django.contrib.auth import get_user_model

from tests.api import make_key
from tests.config_admin.transfer import bombs
from tests.live.client import post
from tests.live.processes import Server
from tests.worlds import create_help_desk

pytestmark = pytest.mark.nightly
Servers = Callable[..., list[Server]]
UNDERSTANDING, TESTS = "cetestcase/understanding/", "cetestcase/import/"
TRANSFER, FAQ = "cerelease/transfer/", "ceintent/faq/"
FIELDS = {TESTS: "files"}
#: Seconds for a file, and milliseconds of a hello beside it, on a machine that does nothing else.
BOUND, HELLO = 30, 300
ALIASES = "\n".join([f"a0: &a0 [{'x,' * 9}]", *(f"a{n}: &a{n} [{f'*a{n - 1},' * 9}]" for n in range(1, 9))]).encode()
DEEP = 100_000
RASA = b"nlu:\n- intent: a\n  examples: |\n    - "


def pack(name: str, content: bytes, count: int = 1) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for number in range(count):
            archive.writestr(name.format(number), content)
    return packed.getvalue()


def entity_workbook() -> bytes:
    small, packed = zipfile.ZipFile(io.BytesIO(bombs.wide_rows())), io.BytesIO()
    with zipfile.ZipFile(packed, "w") as out:
        for name in small.namelist():
            text = b'<!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd">]><x>&e;</x>'
            out.writestr(name, text if name.endswith("sheet1.xml") else small.read(name))
    return packed.getvalue()


#: Page, name and content, by what is hostile about it.
FILES: dict[str, tuple[str, str, Callable[[], bytes]]] = {
    "quotes in the first line": (UNDERSTANDING, "a.csv", lambda: b'"a"' * 14_000 + b"\nx,y\n"),
    "quotes and delimiters": (UNDERSTANDING, "a.csv", lambda: b'",";' * 10_000),
    "quotes in turn": (UNDERSTANDING, "a.csv", lambda: b"message,intent\n" + b"'\"" * 500_000),
    "aliases": (UNDERSTANDING, "a.yaml", lambda: ALIASES),
    "aliases of a configuration": (TRANSFER, "a.yaml", lambda: ALIASES),
    "aliases of a test": (TESTS, "a.yaml", lambda: ALIASES),
    "an alias of itself": (TESTS, "a.yaml", lambda: b"id: &a [*a]"),
    "deep YAML": (UNDERSTANDING, "a.yaml", lambda: b"[" * DEEP),
    "deep YAML of a test": (TESTS, "a.yaml", lambda: b"a: " + b"[" * DEEP + b"]" * DEEP),
    "deep YAML of a configuration": (TRANSFER, "a.yaml", lambda: b"{a: " * DEEP),
    "deep JSON lines": (UNDERSTANDING, "a.jsonl", lambda: b"[" * DEEP),
    "deep JSON of a configuration": (TRANSFER, "a.json", lambda: b'{"a":' * DEEP),
    "deep marks of Rasa": (
        UNDERSTANDING,
        "nlu.yml",
        lambda: RASA + b'[x]{"a": ' + b"[" * DEEP + b"}\n",
    ),
    "marks of Rasa": (
        UNDERSTANDING,
        "nlu.yml",
        lambda: RASA + b"".join(b"[%d](b) " % n for n in range(300_000)),
    ),
    "brackets of Rasa": (UNDERSTANDING, "nlu.yml", lambda: RASA + b"[a](" * 400_000),
    "a huge number": (UNDERSTANDING, "a.jsonl", lambda: b'{"message": "x", "asked": ' + b"9" * 1_000_000 + b"}"),
    "a huge number of a configuration": (TRANSFER, "a.json", lambda: b'{"version": ' + b"9" * 1_000_000 + b"}"),
    "a huge number of a test": (TESTS, "a.yaml", lambda: b"id: " + b"9" * 1_000_000),
    "a line of 10 MB": (TRANSFER, "ce_intent.csv", lambda: b"x" * 10_000_000),
    "a line of many cells": (TRANSFER, "ce_intent.csv", lambda: b"x;" * 900_000),
    "NULs": (UNDERSTANDING, "a.csv", lambda: b"message,intent\n\0,\0\n"),
    "NULs of questions": (FAQ, "faq.csv", lambda: b"\0" * 100_000),
    "two byte order marks": (UNDERSTANDING, "a.csv", lambda: b"\xef\xbb\xbf" * 2 + b"message,intent"),
    "UTF-16": (UNDERSTANDING, "a.yaml", lambda: "- {}".encode("utf-16")),
    "half of UTF-16": (FAQ, "faq.csv", lambda: b"\xff\xfe\x00"),
    "an unclosed quote": (FAQ, "faq.csv", lambda: b'"' + b"x;" * 400_000),
    "a zip bomb": (TRANSFER, "a.xlsx", bombs.zip_bomb),
    "a zip bomb of questions": (FAQ, "a.xlsx", bombs.zip_bomb),
    "many rows": (TRANSFER, "ce_intent.xlsx", bombs.many_rows),
    "wide rows": (FAQ, "a.xlsx", bombs.wide_rows),
    "many styles": (TRANSFER, "ce_intent.xlsx", bombs.many_styles),
    "an external entity": (TRANSFER, "ce_intent.xlsx", entity_workbook),
    "a broken workbook": (TRANSFER, "ce_intent.xlsx", lambda: bombs.wide_rows()[:5000]),
    "an archive of many files": (TESTS, "a.zip", lambda: pack("{}.yaml", b"a: 1", 12_000)),
    "an archive of a large file": (TESTS, "a.zip", lambda: pack("a.yaml", b"x" * 100_000_000)),
    "a long key": (TESTS, "a.yaml", lambda: b"? " + b"k" * 1_500_000 + b"\n: 1\n"),
    "a packed text": (UNDERSTANDING, "a.csv", lambda: gzip.compress(b"message,intent\n" * 100_000)),
    "statements": (TRANSFER, "a.sql", lambda: b"INSERT INTO ce_config VALUES (" + b"('" * 400_000),
}  # fmt: skip


def sign_in(port: int) -> httpx2.Client:
    get_user_model().objects.create_superuser("ada", "ada@example.org", "long-enough-4711")
    visitor = httpx2.Client(base_url=f"http://127.0.0.1:{port}", timeout=300, follow_redirects=True)
    visitor.get("/admin/login/")
    sent = {"username": "ada", "password": "long-enough-4711", "csrfmiddlewaretoken": visitor.cookies["csrftoken"]}
    visitor.post("/admin/login/?next=/admin/", data=sent, headers={"Referer": f"http://127.0.0.1:{port}/"})
    return visitor


def upload(visitor: httpx2.Client, page: str, name: str, content: bytes) -> tuple[httpx2.Response, float]:
    began = time.monotonic()
    answer = visitor.post(
        f"/admin/config_admin/{page}",
        data={"csrfmiddlewaretoken": visitor.cookies["csrftoken"], "configuration": "live", "reason": "a test"},
        files={FIELDS.get(page, "file"): (name, content)},
        headers={"Referer": str(visitor.base_url)},
    )
    return answer, time.monotonic() - began


class Greeter(Thread):
    """Says hello again and again, and notes how long each answer took, in milliseconds."""

    def __init__(self, port: int, secret: str) -> None:
        super().__init__(daemon=True)
        self._port, self._secret, self._ended = port, secret, Event()
        self.waits: list[float] = []

    def run(self) -> None:
        while not self._ended.is_set():
            began = time.monotonic()
            reply = post(self._port, self._secret, {"message": "hello"})
            assert reply
            assert reply.status == 200
            self.waits.append((time.monotonic() - began) * 1000)

    def end(self) -> list[float]:
        self._ended.set()
        self.join(60)
        return self.waits


@pytest.fixture
def greeter_of(servers: Servers) -> tuple[Server, str]:
    create_help_desk()
    (server,) = servers(1)
    return server, make_key(scopes=["turns"])


def test_a_hostile_file_is_refused_in_time_while_others_are_answered(
    greeter_of: tuple[Server, str], capsys: pytest.CaptureFixture[str]
) -> None:
    server, secret = greeter_of
    visitor = sign_in(server.port)
    alone = Greeter(server.port, secret)
    alone.start()
    time.sleep(5)
    usual = statistics.median(alone.end())
    failures = {}
    for what, (page, name, make) in FILES.items():
        content = make()
        beside = Greeter(server.port, secret)
        beside.start()
        answer, seconds = upload(visitor, page, name, content)
        waits = beside.end()
        slow = usual / 100 if usual > 100 else 1
        with capsys.disabled():
            hello = f"hello {statistics.median(waits):.0f} ms of {len(waits)}"
            print(f"{what}: {answer.status_code}, {seconds:.1f} s, {hello}")
        is_told = any(mark in answer.text for mark in ('role="alert"', f"{name}: "))
        if (
            answer.status_code >= 500
            or not is_told
            or seconds > BOUND * slow
            or statistics.median(waits) > max(HELLO, 3 * usual)
        ):
            failures[what] = (answer.status_code, seconds, statistics.median(waits))

    assert json.dumps(failures, indent=1) == "{}"
