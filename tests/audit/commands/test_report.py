"""The table of `convengine manage report` in a terminal; its numbers are those of tests/audit/reports."""

from typing import Any

import pytest
from django.core.management import call_command

from audit.commands.management.commands.report import lay_out
from audit.reports.measures import MEASURES
from tests.audit.reports.test_page import talk

LABELS = ["Turns", "Conversations begun", "Turns with failed models", "Slow"]
ROWS = [("ORDER_STATUS", ["12345", "2", "0", "-"]), ("Total", ["12345", "2", "0", "-"])]


@pytest.mark.django_db
@pytest.mark.parametrize("columns", [60, 80, 132])
@pytest.mark.parametrize("options", [[], ["--days", "1"], ["--days", "400"], ["--by", "intent"]])
def test_it_fits_the_terminal_and_shows_every_number(
    columns: int, options: list[str], monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    talk("hours", "fees")

    call_command("report", *options)

    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= columns
    assert sum(len(line.split()) - 1 for line in lines if line.startswith("Total")) == len(MEASURES)


@pytest.mark.django_db
def test_days_are_dates_and_hours_have_their_time(capsys: Any) -> None:
    talk("hours")
    call_command("report")
    days = [line.split("  ")[0] for line in capsys.readouterr().out.splitlines() if line.startswith("20")]
    call_command("report", "--days", "1")
    hours = [line.split("  ")[0] for line in capsys.readouterr().out.splitlines() if line.startswith("20")]

    assert {len(day) for day in days} == {len("2026-11-27")}
    assert {len(hour) for hour in hours} == {len("2026-11-27 13:00")}


def test_columns_that_the_width_does_not_hold_follow_below() -> None:
    assert list(lay_out("Intent", LABELS, ROWS, 40)) == [
        "                     Conversations",
        "Intent        Turns          begun",
        "ORDER_STATUS  12345              2",
        "Total         12345              2",
        "",
        "                 Turns with",
        "Intent        failed models  Slow",
        "ORDER_STATUS              0     -",
        "Total                     0     -",
        "",
    ]


def test_a_wide_terminal_has_one_table() -> None:
    assert [line.split()[0] for line in lay_out("Intent", LABELS, ROWS, 200) if line.startswith("T")] == ["Total"]


def test_a_long_name_has_several_lines_and_its_numbers_stand_beside_the_first() -> None:
    lines = list(lay_out("State", ["Turns"], [("WAITING_FOR_THE_DELIVERY_ADDRESS", ["7"])], 48))

    assert lines[:3] == ["State             Turns", "WAITING_FOR_THE_      7", "DELIVERY_ADDRESS"]


@pytest.mark.parametrize("width", [1, 10, 24])
def test_a_narrow_terminal_has_fewer_columns_but_all_of_them(width: int) -> None:
    heads = [line for line in lay_out("A", LABELS, [("a", ["1", "2", "3", "4"])], width) if line.startswith("A")]

    assert len(heads) == (4 if width < 24 else 2)
