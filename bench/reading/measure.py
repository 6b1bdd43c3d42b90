"""The duration of a page with empty and with warm memory, and its query plans."""

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from statistics import median
from typing import Any

from django.contrib.auth.models import User
from django.db import connection
from django.test import Client

from bench.postgres import Postgres
from bench.reading.cases import Case

ROUNDS = 5
#: Tables whose statements are reported with their plans.
_LARGE = ("ce_conversation", "ce_turn_index", "ce_turn_text")
_UNTOLD = ("INSERT", "SAVEPOINT", "RELEASE", "BEGIN")


@dataclass(frozen=True)
class Measurement:
    """One page."""

    case: Case
    cold: float
    warm: float
    #: Turns on the page; null if it is no search.
    turns: int | None
    paused: bool
    plans: list[str]

    @property
    def holds(self) -> bool:
        """True when it stays below its limit, both times, and shows the expected content."""
        return max(self.cold, self.warm) < self.case.limit and (self.turns is None or self.case.empty or self.turns > 0)

    def to_line(self) -> str:
        """For the table."""
        shown = "" if self.turns is None else f"{self.turns:>3} turns{' …' if self.paused else ''}"
        mark = "" if self.holds else "  NOT MET"
        return f"{self.case.what:<58}{self.cold:>7.0f}{self.warm:>7.0f}{self.case.limit:>7}   {shown}{mark}"


class Reader:
    """A user with all rights at the pages."""

    def __init__(self, server: Postgres) -> None:
        self.server = server
        self.client = Client(SERVER_NAME="127.0.0.1")
        self.client.force_login(User.objects.create_superuser("reader"))

    def measure(self, case: Case) -> Measurement:
        """Once with empty memory, then repeatedly, then once more with the plans."""
        self._forget()
        cold, answer = self._time_request(case.address)
        warm = [self._time_request(case.address)[0] for _ in range(ROUNDS)]
        plans = _plans(lambda: self.client.get(case.address))
        page = answer.context.get("page") if answer.context else None
        turns = len(page.matches) if page is not None else None
        return Measurement(case, cold, median(warm), turns, bool(page and page.paused), plans)

    def _time_request(self, address: str) -> tuple[float, Any]:
        start = time.perf_counter()
        answer = self.client.get(address)
        took = (time.perf_counter() - start) * 1000
        if answer.status_code != 200:
            raise RuntimeError(f"{address}: {answer.status_code}")
        return took, answer

    def _forget(self) -> None:
        """Empty the memory of the server and the machine; then sign in again."""
        with connection.cursor() as cursor:
            cursor.execute("CHECKPOINT")
        connection.close()
        self.server.restart()
        os.sync()
        for file in self.server.data.glob("base/*/*"):
            with file.open("rb") as opened:
                os.posix_fadvise(opened.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
        self.client.get("/admin/ce_jobs/cejob/")


@contextmanager
def _listen_to_plans() -> Iterator[list[tuple[str, Any]]]:
    statements: list[tuple[str, Any]] = []

    def execute(call: Callable[..., Any], sql: str, params: Any, many: bool, context: dict[str, Any]) -> Any:
        statements.append((sql, params))
        return call(sql, params, many, context)

    with connection.execute_wrapper(execute):
        yield statements


def _plans(read: Callable[[], Any]) -> list[str]:
    """The plan of each statement on a large table, and its row counts."""
    with _listen_to_plans() as statements:
        read()
    plans = []
    for sql, params in statements:
        if sql.startswith(_UNTOLD) or not any(f'"{name}"' in sql or f" {name} " in sql for name in _LARGE):
            continue
        with connection.cursor() as cursor:
            cursor.execute(f"EXPLAIN (ANALYZE, COSTS OFF, BUFFERS OFF) {sql}", params)
            plans.append("\n".join(line for (line,) in cursor.fetchall()))
    return plans
