"""The page of rows: what decided how often, and what never did."""

import csv
import io
from datetime import timedelta

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from audit.record.days import floor_hour
from audit.reports.page import ReportTable
from config_admin.models import CeResponse
from tests.audit.reports.test_page import reader, talk

__all__ = ["reader"]
pytestmark = pytest.mark.django_db


@pytest.fixture
def address() -> str:
    return reverse("admin:audit_ceaudit_rows")


def read_answers(reader: Client, address: str) -> dict[str, int]:
    """The turns of each answer."""
    tables: list[ReportTable] = reader.get(address).context["tables"]
    rows = next(table for table in tables if table.name == "ce_response").rows
    return {row.name: int(row.numbers["turns"].value or 0) for row in rows}


def test_enabled_rows_that_decided_nothing_come_last(reader: Client, address: str) -> None:
    talk("hours|hours")
    unused = CeResponse.objects.create(intent_code="FEES", state_code="ANY", exact_text="Never said.")
    CeResponse.objects.create(intent_code="FEES", state_code="ANY", exact_text="Off.", enabled=False)

    answers = read_answers(reader, address)

    assert next(iter(answers.values())) == 2
    assert answers["Never said. · FEES"] == 0
    assert not any(name.startswith("Off.") for name in answers)
    unused.delete()
    assert "Never said. · FEES" not in read_answers(reader, address)


def test_an_hour_that_begins_while_the_page_is_made_changes_no_number(
    reader: Client, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The clock of the server may also be ahead of the clock of the database, which chooses the period."""
    talk("hours")
    end = floor_hour(timezone.now()) + timedelta(hours=1, seconds=1)
    monkeypatch.setattr(timezone, "now", lambda: end)

    assert list(filter(None, read_answers(reader, address).values())) == [1]


def test_a_row_that_was_deleted_keeps_its_turns(reader: Client, address: str) -> None:
    talk("hours")
    CeResponse.objects.filter(intent_code="HOURS").delete()

    name, turns = next(iter(read_answers(reader, address).items()))

    assert turns == 1
    assert "not live any more" in name


def test_the_file_has_all_rows(reader: Client, address: str) -> None:
    talk("hours")
    CeResponse.objects.create(intent_code="FEES", state_code="ANY", exact_text="=1+1")

    answer = reader.get(address, {"format": "csv", "part": "ce_response"})
    rows = list(csv.DictReader(io.StringIO(answer.content.decode())))

    assert {row["turns"] for row in rows} == {"0", "1"}
    assert "'=1+1 · FEES" in {row["name"] for row in rows}


def test_it_is_read_by_those_who_may_read_turns(client: Client, address: str) -> None:
    assert client.get(address).status_code == 302
