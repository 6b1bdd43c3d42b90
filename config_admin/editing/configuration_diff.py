"""The differences of two configurations on pages: counted by table, shown by row."""

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any, NamedTuple

from django.http import HttpRequest, QueryDict

from config_admin.editing.links import find_readable_url, row_url
from config_admin.editing.row_diff import changes
from config_admin.releases.diff import RowDifferences
from config_admin.releases.tree import RowDifference
from config_admin.validation.labels import describe_content, row_name, table_title
from convengine.engine.text.difference import Difference

#: Rows per page.
SHOWN = 20
#: Query parameters: the only shown table, and the row before the page, as `table:key`.
TABLE, BEHIND = "table", "behind"
HOW = ("added", "changed", "removed")


class ChangedRow(NamedTuple):
    """A row with its differences."""

    table: str
    name: str
    about: str
    url: str
    #: `added`, `changed` or `removed`.
    how: str
    changes: Sequence[Difference]


class TableCount(NamedTuple):
    """The number of changed rows of a table, and the link to them."""

    title: str
    added: int
    changed: int
    removed: int
    url: str
    is_shown: bool


class Comparison(NamedTuple):
    """One page of differences."""

    tables: Sequence[TableCount]
    rows: Sequence[ChangedRow]
    #: The number of changed rows in all tables.
    total: int
    #: The number of shown rows before this page.
    skipped: int
    #: The number of rows after this page.
    more: int
    #: The addresses of the next page and of the whole; blank if there are none.
    next_url: str
    all_url: str


def build_comparison(request: HttpRequest, differences: RowDifferences) -> Comparison:
    """The requested page; links keep its other query parameters."""
    only, behind = request.GET.get(TABLE, ""), request.GET.get(BEHIND, "")
    wanted = [(table, row) for table, rows in differences.items() if only in ("", table) for row in rows]
    keys = [f"{table}:{row.pk}" for table, row in wanted]
    start = keys.index(behind) + 1 if behind in keys else 0
    page = wanted[start : start + SHOWN]
    more = len(wanted) - start - len(page)
    return Comparison(
        tables=list(_counts(request, differences, only)),
        rows=[changed_row(table, row, request) for table, row in page],
        total=sum(map(len, differences.values())),
        skipped=start,
        more=more,
        next_url=_url(request, **{TABLE: only, BEHIND: keys[start + SHOWN - 1]}) if more else "",
        all_url=_url(request) if only or start else "",
    )


def count_by_table(differences: RowDifferences) -> list[tuple[str, str]]:
    """The tables with the numbers of their rows in words, such as `2 added, 1 removed`."""
    counts = ((table, Counter(row.how for row in rows)) for table, rows in differences.items())
    return [
        (table_title(table), ", ".join(f"{of_table[how]} {how}" for how in HOW if of_table[how]))
        for table, of_table in counts
    ]


def first_rows(differences: RowDifferences, count: int, request: HttpRequest | None = None) -> list[ChangedRow]:
    """The first changed rows in detail; for a request without the addresses that its user may not open."""
    rows = ((table, row) for table, rows in differences.items() for row in rows)
    return [changed_row(table, row, request) for table, row in islice(rows, count)]


def changed_row(table: str, row: RowDifference, request: HttpRequest | None = None) -> ChangedRow:
    """A changed row in detail; for a request without the address if its user may not open it."""
    content = row.after if row.after is not None else row.before
    return ChangedRow(
        table_title(table),
        row_name(table, row.pk),
        describe_content(table, content or {}),
        find_readable_url(request, table, row.pk, "history") if request else row_url(table, row.pk, "history"),
        row.how,
        changes(table, row.before, row.after),
    )


def _counts(request: HttpRequest, differences: RowDifferences, only: str) -> Iterator[TableCount]:
    for table, rows in differences.items():
        counts, url = Counter(row.how for row in rows), _url(request, **{TABLE: table})
        numbers = counts["added"], counts["changed"], counts["removed"]
        yield TableCount(table_title(table), *numbers, url, is_shown=only == table)


def _url(request: HttpRequest, **params: Any) -> str:
    query: QueryDict = request.GET.copy()
    for name in (TABLE, BEHIND):
        query.pop(name, None)
        if value := params.get(name):
            query[name] = value
    return f"?{query.urlencode()}"
