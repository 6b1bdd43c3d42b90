"""The page *Rows* of the reports: how often rules, answers and other rows decided, and which of them never did."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from django.db.models import Q
from django.http import HttpRequest, HttpResponse
from django.utils.text import capfirst

from audit.reports.report import Selection, sum_values
from audit.reports.report_request import CSV, ReportNumber, ReportRequest, link_turns
from convengine.engine.rules.row_names import name_row
from convengine.engine.turn.rows import DECIDERS, ROW_TYPE_OF
from convengine.engine.turn.scope import ANY
from convengine.engine.turn.snapshot import Snapshot
from convengine.server.admin_site.pages import page
from convengine.server.admin_site.record_columns import get_options, name_intent, row_url
from convengine.server.interfaces.configuration import configuration

TITLE = "Reports: rows"
#: How many rows of a table the page lists; the file has all.
MOST = 50


class RowUse(NamedTuple):
    """A row, and in how many turns it decided something."""

    pk: str
    #: Blank for a row that live no longer has.
    name: str
    turns: int
    #: The code of its intent; blank if it is for all.
    intent: str = ""


class RowLine(NamedTuple):
    """A row as the page shows it."""

    name: str
    #: Its form; blank for a row that live no longer has.
    url: str
    number: ReportNumber
    #: The name of its intent: rows of flows are called alike.
    intent: str = ""


class TableUse(NamedTuple):
    """The rows of a table, on the page."""

    table: str
    #: What a row of it is called, and what several are.
    label: str
    plural: str
    used: Sequence[RowLine]
    used_count: int
    never_used: Sequence[RowLine]
    never_used_count: int


@page("reports/rows/", of="audit.CeAudit", name="rows", from_replica=True)
def rows_page(request: HttpRequest) -> HttpResponse:
    """How often each row decided, as a page or as CSV."""
    wanted = ReportRequest(request)
    uses = read_uses(wanted.selection, configuration().current())
    if wanted.format == CSV:
        rows = ((table, row.pk, row.name, row.turns) for table, of_table in uses.items() for row in of_table)
        return wanted.answer_csv("rows", ("table", "row", "name", "turns"), rows)
    tables = [_build_table(wanted.selection, table, rows) for table, rows in uses.items() if rows]
    return wanted.render("audit/report_rows.html", TITLE, {"tables": tables, "most": MOST})


def read_uses(selection: Selection, snapshot: Snapshot) -> dict[str, list[RowUse]]:
    """The rows that decided in the selected turns, the most used first, then those of the snapshot that did not."""
    turns = sum_values(selection, Q(kind__in=DECIDERS), "kind", "value")
    return {table: list(_list_uses(table, turns, snapshot)) for table in DECIDERS}


def _list_uses(table: str, turns: Mapping[tuple[Any, ...], int], snapshot: Snapshot) -> Iterator[RowUse]:
    live = {str(row.pk): row for row in snapshot.enabled_rows(ROW_TYPE_OF[table])}
    used = [(pk, count) for (kind, pk), count in turns.items() if kind == table]
    for pk, count in sorted(used, key=lambda item: (-item[1], item[0])):
        yield RowUse(pk, _name(table, live.get(pk)), count, _find_intent(live.get(pk)))
    for pk in live.keys() - dict(used).keys():
        yield RowUse(pk, _name(table, live[pk]), 0, _find_intent(live[pk]))


def _name(table: str, row: Any) -> str:
    return (name_row(table, row) or f"{_label(table)[0]} {row.pk}") if row else ""


def _find_intent(row: Any) -> str:
    intent = getattr(row, "intent_code", None) or ANY
    return "" if intent == ANY else str(intent)


def _label(table: str) -> tuple[str, str]:
    options = get_options(table)
    return capfirst(str(options.verbose_name)), capfirst(str(options.verbose_name_plural))


def _build_table(selection: Selection, table: str, rows: Sequence[RowUse]) -> TableUse:
    used = [row for row in rows if row.turns]
    never_used = sorted((row for row in rows if not row.turns), key=lambda row: row.name)
    return TableUse(
        table,
        *_label(table),
        list(_build_lines(selection, table, used)),
        len(used),
        list(_build_lines(selection, table, never_used)),
        len(never_used),
    )


def _build_lines(selection: Selection, table: str, rows: Iterable[RowUse]) -> Iterator[RowLine]:
    for row in list(rows)[:MOST]:
        name = row.name or f"{_label(table)[0]} {row.pk} (not live any more)"
        url, number = row_url(table, row.pk), link_turns(selection, row.turns, table=table, row=row.pk)
        yield RowLine(name, url if row.name else "", number, name_intent(row.intent) if row.intent else "")
