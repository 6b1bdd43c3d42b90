"""Days of a recount are counted in processes of their own."""

from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import connection

from audit.reports import count_parts as module

pytestmark = pytest.mark.django_db


class PoolOfThisProcess:
    """Counts in this process: another one does not see the open transaction of a test."""

    def __init__(self, processes: int, **options: Any) -> None:
        self.processes = processes

    def __enter__(self) -> "PoolOfThisProcess":
        return self

    def __exit__(self, *error: object) -> None: ...

    def submit(self, work: Any, day: Any) -> Any:
        return work(day)


def test_each_day_is_counted_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "ProcessPoolExecutor", PoolOfThisProcess)
    monkeypatch.setattr(module, "as_completed", lambda days: [_Done(day) for day in days])
    monkeypatch.setattr(module, "_count_day", lambda day: day)
    assert list(module.count_days(["Monday", "Tuesday"], 3)) == ["Monday", "Tuesday"]


class _Done:
    def __init__(self, day: Any) -> None:
        self.day = day

    def result(self) -> Any:
        return self.day


def test_a_database_with_one_writer_counts_in_one_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "vendor", "sqlite")
    with pytest.raises(CommandError, match="needs PostgreSQL"):
        call_command("report", count_again=True, processes=2)
