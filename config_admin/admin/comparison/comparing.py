"""What differs between two configurations, as pages show it: counted by table, spelt out by row, a page at a time."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from django.http import HttpRequest, QueryDict
from django.utils.text import capfirst

from config_admin.admin.comparison.differences import FieldChange, changes
from config_admin.admin.links import row_name, row_url
from config_admin.admin.places.where_used import about
from config_admin.releases.content import control_plane
from config_admin.releases.tree import Difference

#: How many rows a page spells out.
SHOWN = 50
#: Query parameters: the one table that is shown, and the row behind which the page begins, as `table:key`.
TABLE, BEHIND = "table", "behind"
Differences = Mapping[str, Sequence[Difference]]


class ChangedRow(NamedTuple):
    """A row that differs, with what differs in it."""

    table: str
    name: str
    about: str
    url: str
    #: `added`, `changed` or `removed`.
    how: str
    changes: Sequence[FieldChange]


class TableCount(NamedTuple):
    """How many rows of a table differ, and where they are shown alone."""

    title: str
    added: int
    changed: int
    removed: int
    url: str
    is_shown: bool


class Comparison(NamedTuple):
    """One page of what differs."""

    tables: Sequence[TableCount]
    rows: Sequence[ChangedRow]
    #: How many rows differ in all tables.
    total: int
    #: How many rows stand on the pages before this one, of those that are shown.
    skipped: int
    #: How many there are behind them.
    more: int
    #: Where the next page, and the whole of it, are; blank when this is it.
    next_url: str
    all_url: str


def compared(request: HttpRequest, found: Differences) -> Comparison:
    """The page that a request asks for; its other query parameters stay in the links."""
    only, behind = request.GET.get(TABLE, ""), request.GET.get(BEHIND, "")
    wanted = [(table, row) for table, rows in found.items() if only in ("", table) for row in rows]
    keys = [f"{table}:{row.pk}" for table, row in wanted]
    start = keys.index(behind) + 1 if behind in keys else 0
    page = wanted[start : start + SHOWN]
    more = len(wanted) - start - len(page)
    return Comparison(
        tables=list(_counts(request, found, only)),
        rows=[_open_to(request, table, changed_row(table, row)) for table, row in page],
        total=sum(map(len, found.values())),
        skipped=start,
        more=more,
        next_url=_url(request, **{TABLE: only, BEHIND: keys[start + SHOWN - 1]}) if more else "",
        all_url=_url(request) if only or start else "",
    )


def first_rows(found: Differences, count: int) -> list[ChangedRow]:
    """The first rows that differ, spelt out."""
    rows = ((table, row) for table, rows in found.items() for row in rows)
    return [changed_row(table, row) for (table, row), _ in zip(rows, range(count), strict=False)]


def changed_row(table: str, row: Difference) -> ChangedRow:
    """A row that differs, spelt out."""
    how = "added" if row.before is None else "removed" if row.after is None else "changed"
    told = row.after if row.after is not None else row.before
    url = row_url(table, row.pk, "history")
    return ChangedRow(
        table_title(table), row_name(table, row.pk), about(told or {}), url, how, changes(table, row.before, row.after)
    )


def _open_to(request: HttpRequest, table: str, row: ChangedRow) -> ChangedRow:
    """The row, without its address for who may not open it."""
    opts = control_plane()[table]._meta
    may = request.user.has_perm(f"{opts.app_label}.view_{opts.model_name}")
    return row if may else row._replace(url="")


def table_title(table: str) -> str:
    """What the rows of a table are called together."""
    return capfirst(str(control_plane()[table]._meta.verbose_name_plural))


def _counts(request: HttpRequest, found: Differences, only: str) -> Iterator[TableCount]:
    for table, rows in found.items():
        added = sum(1 for row in rows if row.before is None)
        removed = sum(1 for row in rows if row.after is None)
        yield TableCount(
            table_title(table),
            added,
            len(rows) - added - removed,
            removed,
            _url(request, **{TABLE: table}),
            is_shown=only == table,
        )


def _url(request: HttpRequest, **place: Any) -> str:
    query: QueryDict = request.GET.copy()
    for name in (TABLE, BEHIND):
        query.pop(name, None)
        if value := place.get(name):
            query[name] = value
    return f"?{query.urlencode()}"
