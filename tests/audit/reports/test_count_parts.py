"""Parts of a recount are counted in processes of their own."""

from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import connection

from audit.models import CeCountProgress
from audit.reports import count_parts as module
from audit.reports.count_job import count_again

pytestmark = pytest.mark.django_db


class PoolOfThisProcess:
    """Counts in this process: another one does not see the open transaction of a test."""

    def __init__(self, processes: int, **options: Any) -> None:
        self.processes = processes

    def __enter__(self) -> "PoolOfThisProcess":
        return self

    def __exit__(self, *error: object) -> None: ...

    def submit(self, work: Any, number: int) -> Any:
        return work(number)


def test_each_part_is_counted_up_to_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "ProcessPoolExecutor", PoolOfThisProcess)
    monkeypatch.setattr(module, "as_completed", lambda counts: [_Done(count) for count in counts])
    CeCountProgress.objects.create(pk=CeCountProgress.TURNS, counted=101)
    assert [counts["records"] for counts in count_again(3)] == [33, 34, 34]
    progress = CeCountProgress.objects.order_by("pk").values_list("pk", "counted", "recount_until")
    assert list(progress) == [(CeCountProgress.TURNS, 101, None), (CeCountProgress.FEEDBACK, 0, None)]


class _Done:
    def __init__(self, count: int) -> None:
        self.count = count

    def result(self) -> int:
        return self.count


def test_a_database_with_one_writer_counts_in_one_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "vendor", "sqlite")
    with pytest.raises(CommandError, match="needs PostgreSQL"):
        call_command("report", count_again=True, processes=2)
