"""The page of reports: every number of turns leads to a list of as many."""

import re
from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.timezone import localdate

from audit.record.days import choose_days
from audit.reports.counting import count_new_turns
from audit.reports.page import ReportTable
from audit.reports.report import ReportSelection, build_report
from audit.reports.report_request import ReportNumber
from convengine.engine.turn.codec import loads
from convengine.engine.turn.turn import TurnRequest
from convengine.server.api.models import CeApiKey
from convengine.server.sessions.models import CeConversation
from convengine.server.turns.take_turn import take_turn
from tests.audit.reports.counts import count, count_listed_turns
from tests.sign_in import sign_in
from tests.worlds import create_help_desk

pytestmark = pytest.mark.django_db


@pytest.fixture
def address() -> str:
    return reverse("admin:audit_ceaudit_reports")


@pytest.fixture
def reader() -> Client:
    return sign_in("quinn", "qa")


def talk(*conversations: str) -> None:
    create_help_desk()
    for messages in conversations:
        key = str(CeConversation().conversation_id)
        for message in messages.split("|"):
            take_turn(TurnRequest(key, message))
    list(count_new_turns(timedelta()))


def list_numbers(value: Any) -> list[ReportNumber]:
    if isinstance(value, ReportNumber):
        return [value] if value.measure.search is not None else []
    if isinstance(value, ReportTable):
        return list_numbers(value.rows)
    if isinstance(value, dict):
        return [number for item in value.values() for number in list_numbers(item)]
    if isinstance(value, list | tuple):
        return [number for item in value for number in list_numbers(item)]
    return []


@pytest.mark.dialects
def test_every_number_leads_to_as_many_turns(reader: Client, address: str) -> None:
    talk("hours|what?|fees", "fees|my cvv", "nothing|hours fees")
    listed: dict[str, int] = {}
    for query in ({}, {"intent": "hours"}, {"days": "1"}, {"channel": "api"}):
        context = reader.get(address, query).context
        parts = [context[name] for name in ("whole", "periods", "tables")]
        numbers = list_numbers(parts)
        assert sum(bool(number.value) for number in numbers) > 5
        for number in numbers:
            assert bool(number.url) == bool(number.value)
            if number.url and number.measure.unit != "ms":
                if number.url not in listed:
                    listed[number.url] = count_listed_turns(reader, number.url)
                assert listed[number.url] == number.value, number.url


def test_a_workspace_has_its_own_numbers_and_lists(reader: Client, address: str) -> None:
    talk("hours|what?")
    assert "workspace" not in reader.get(address).context["form"].fields
    CeApiKey.objects.create_key(name="shop", scopes=["turn"], workspace_id="shop")
    take_turn(TurnRequest(str(CeConversation().conversation_id), "fees", workspace_id="shop"))
    list(count_new_turns(timedelta()))
    for workspace, turns in (("shop", 1), ("default", 2), ("", 3)):
        number = reader.get(address, {"workspace": workspace}).context["whole"].numbers["turns"]
        found = reader.get(number.url, follow=True).context
        assert (number.value, len(found["lines"])) == (turns, turns)
        shown = [value for label, value, _ in found["active_filters"] if label == "Workspace"]
        assert shown == [workspace] * bool(workspace)


def test_the_whole_is_counted(reader: Client, address: str) -> None:
    talk("hours|what?|fees", "fees")
    whole = reader.get(address).context["whole"].numbers
    assert (whole["turns"].value, whole["conversations"].value, whole["failed"].value) == (4, 2, 0)
    assert whole["mean_ms"].value is not None


def test_without_turns_the_page_says_so(reader: Client, address: str) -> None:
    text = reader.get(address).content.decode()
    assert "No turns in this period." in text
    assert "No turn was counted yet." in text
    assert reader.get(address, {"release": "x"}).context["form"].errors


def test_a_range_without_an_end_goes_to_today(reader: Client, address: str) -> None:
    today = localdate()
    answer = reader.get(address, {"first": str(today - timedelta(days=3))})
    assert len(answer.context["periods"]) == 4


def test_a_range_that_has_not_begun_or_is_too_long_says_so(reader: Client, address: str) -> None:
    for first in ("9999-12-31", "0001-01-01", str(localdate() + timedelta(days=2))):
        answer = reader.get(address, {"first": first})
        assert answer.status_code == 200
        assert "first" in answer.context["form"].errors


def test_an_error_says_when_it_was_first_and_last_seen(reader: Client, address: str) -> None:
    for days in (40, 3, 1):
        count("ERROR", "MODEL_FAILED", 2, days=days, release=1)
    count("TURN", "FAILED", 4, days=1, release=1)
    answer = reader.get(address)
    (row,) = next(table for table in answer.context["tables"] if table.name == "error").rows
    days = [date_format(localdate() - timedelta(days=ago), "D j M Y") for ago in (40, 1)]
    assert (row.name, row.numbers["turns"].value, row.days) == ("MODEL_FAILED", 4, days)
    assert "First seen" in answer.content.decode()


def test_the_table_is_a_file_too(reader: Client, address: str) -> None:
    talk("hours|fees")
    lines = reader.get(address, {"format": "csv"}).content.decode().splitlines()
    assert lines[0].startswith("period,turns,")
    assert len(lines) == 8
    assert re.search(r",2,1,1,0,0,0,0,0,0,0,0,0,0,0,\d+,0,0.*,0,0,0$", lines[-1])


def test_the_number_of_queries_is_fixed(reader: Client, address: str) -> None:
    reader.get(address)
    with CaptureQueriesContext(connection) as empty:
        reader.get(address)
    talk("hours|what?|fees", "fees", "nothing")
    with CaptureQueriesContext(connection) as full:
        reader.get(address, {"days": "90"})
    assert len(full) <= len(empty)


def test_users_without_the_right_are_told(address: str) -> None:
    client = Client()
    client.force_login(User.objects.create(username="someone", is_staff=True))
    assert client.get(address).status_code == 403


@pytest.mark.parametrize("zone", ["UTC", "Europe/Berlin", "Asia/Kolkata", "America/New_York"])
@pytest.mark.parametrize("now", [datetime(2026, 3, 30, 12, 30, tzinfo=UTC), datetime(2026, 11, 2, 3, tzinfo=UTC)])
def test_days_are_those_of_the_calendar(zone: str, now: datetime) -> None:
    local = ZoneInfo(zone)
    with timezone.override(local):
        since, until = choose_days(7, now)
        periods = build_report(ReportSelection(since, until)).periods
    starts = [(period.since + timedelta(minutes=59)).astimezone(local) for period in periods]
    first = now.astimezone(local).date() - timedelta(days=6)
    assert [start.date() for start in starts] == [first + timedelta(days=number) for number in range(7)]
    assert all(start.hour == 0 for start in starts)
    assert [period.until for period in periods[:-1]] == [period.since for period in periods[1:]]
    assert until > now


def test_the_command_prints_the_same(capsys: pytest.CaptureFixture[str]) -> None:
    talk("hours|what?|fees", "fees")
    call_command("report", "--json")
    document = loads(capsys.readouterr().out)
    assert [period["turns"] for period in document["periods"]] == [0, 0, 0, 0, 0, 0, 4]
    assert document["total"]["conversations"] == 2
    call_command("report", "--days", "1", "--count-again", "--intent", "fees")
    totals = [line.split() for line in capsys.readouterr().out.splitlines() if line.startswith("Total")]
    assert totals[0][:4] == ["Total", "2", "1", "1"]
    with pytest.raises(CommandError, match="--days is 0"):
        call_command("report", "--days", "0")
