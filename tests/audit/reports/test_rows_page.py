"""The page of rows: what decided how often, and what never did."""

import csv
import io
from datetime import timedelta

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from audit.reports.days import floor_hour
from audit.reports.rows_page import TableUse
from config_admin.models import CeResponse
from tests.audit.reports.counts import count_listed_turns
from tests.audit.reports.test_page import reader, talk

__all__ = ["reader"]
pytestmark = pytest.mark.django_db


@pytest.fixture
def address() -> str:
    return reverse("admin:audit_ceaudit_rows")


def read_answers(reader: Client, address: str) -> TableUse:
    tables: list[TableUse] = reader.get(address).context["tables"]
    return next(use for use in tables if use.table == "ce_response")


@pytest.mark.dialects
def test_every_number_leads_to_as_many_turns(reader: Client, address: str) -> None:
    talk("hours|fees", "hours")
    tables: list[TableUse] = reader.get(address).context["tables"]
    lines = [line for use in tables for line in use.used]
    assert {2, 1} <= {line.number.value for line in lines}
    for line in lines:
        assert count_listed_turns(reader, line.number.url) == line.number.value, line.number.url


def test_enabled_rows_that_decided_nothing_are_named(reader: Client, address: str) -> None:
    talk("hours")
    unused = CeResponse.objects.create(intent_code="FEES", state_code="ANY", exact_text="Never said.")
    CeResponse.objects.create(intent_code="FEES", state_code="ANY", exact_text="Off.", enabled=False)

    names = [line.name for line in read_answers(reader, address).never_used]

    assert "Never said." in names
    assert "Off." not in names
    unused.delete()
    assert "Never said." not in [line.name for line in read_answers(reader, address).never_used]


def test_an_hour_that_begins_while_the_page_is_made_changes_no_number(
    reader: Client, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The clock of the server may also be ahead of the clock of the database, which chooses the period."""
    talk("hours")
    end = floor_hour(timezone.now()) + timedelta(hours=1, seconds=1)
    monkeypatch.setattr(timezone, "now", lambda: end)

    assert [line.number.value for line in read_answers(reader, address).used] == [1]


def test_a_row_that_was_deleted_keeps_its_turns(reader: Client, address: str) -> None:
    talk("hours")
    used = read_answers(reader, address).used
    CeResponse.objects.filter(intent_code="HOURS").delete()

    line = read_answers(reader, address).used[0]

    assert (line.number, line.url) == (used[0].number, "")
    assert "not live any more" in line.name


def test_the_file_has_all_rows(reader: Client, address: str) -> None:
    talk("hours")
    CeResponse.objects.create(intent_code="FEES", state_code="ANY", exact_text="=1+1")

    rows = list(csv.DictReader(io.StringIO(reader.get(address, {"format": "csv"}).content.decode())))

    assert {row["turns"] for row in rows if row["table"] == "ce_response"} == {"0", "1"}
    assert "'=1+1" in {row["name"] for row in rows}


def test_it_is_read_by_those_who_may_read_turns(client: Client, address: str) -> None:
    assert client.get(address).status_code == 302
