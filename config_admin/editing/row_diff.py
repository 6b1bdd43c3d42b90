"""What differs between two configurations, for people: counted by table, shown by row and by column."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from itertools import islice
from typing import Any, NamedTuple

from django.http import HttpRequest, QueryDict
from django.utils.text import capfirst

from config_admin.editing.links import find_readable_url, row_url
from config_admin.editing.translated_texts import diff_translations
from config_admin.releases.diff import RowDifferences
from config_admin.releases.tree import Content, RowDifference
from config_admin.validation.columns import TEMPLATE, list_column_specs
from config_admin.validation.labels import column_label, describe_content, row_name, table_title
from config_admin.validation.secret_columns import mask_row, mask_value
from config_admin.validation.stored_columns import EXTRA_COLUMNS, kept_columns, key_of
from config_admin.validation.translations import COLUMN
from convengine.engine.prompts import render
from convengine.engine.prompts.compile import TemplateError
from convengine.engine.text.difference import Difference, diff_json, format_json, pair_by_content
from convengine.engine.turn.fault import find_unreadable_columns
from convengine.json_value import Json

#: By table and column, what says a difference of two documents in the words of a page, given the difference and both.
DESCRIBERS: dict[tuple[str, str], Callable[[Difference, Json, Json], Difference]] = {}
#: How many paths of one document are shown.
MAX_PATHS = 100
#: Rows per page.
SHOWN = 20
#: Query parameters: the only shown table, and the row before the page, as `table:key`.
TABLE, BEHIND = "table", "behind"
HOW = ("added", "changed", "removed")


class ChangedRow(NamedTuple):
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


class DifferencePage(NamedTuple):
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


def build_comparison(request: HttpRequest, differences: RowDifferences) -> DifferencePage:
    """The requested page; links keep its other query parameters."""
    only, behind = request.GET.get(TABLE, ""), request.GET.get(BEHIND, "")
    wanted = [(table, row) for table, rows in differences.items() if only in ("", table) for row in rows]
    keys = [f"{table}:{row.pk}" for table, row in wanted]
    start = keys.index(behind) + 1 if behind in keys else 0
    page = wanted[start : start + SHOWN]
    more = len(wanted) - start - len(page)
    counts = {table: Counter(row.how for row in rows) for table, rows in differences.items()}
    return DifferencePage(
        tables=[
            TableCount(
                table_title(table),
                count["added"],
                count["changed"],
                count["removed"],
                _build_url(request, **{TABLE: table}),
                only == table,
            )
            for table, count in counts.items()
        ],
        rows=[changed_row(table, row, request) for table, row in page],
        total=sum(map(len, differences.values())),
        skipped=start,
        more=more,
        next_url=_build_url(request, **{TABLE: only, BEHIND: keys[start + SHOWN - 1]}) if more else "",
        all_url=_build_url(request) if only or start else "",
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


def _build_url(request: HttpRequest, **params: Any) -> str:
    """The address of the page with these parameters; its own other ones are dropped, those of others stay."""
    query: QueryDict = request.GET.copy()
    for name in (TABLE, BEHIND):
        query.pop(name, None)
        if value := params.get(name):
            query[name] = value
    return f"?{query.urlencode()}"


# --- one row --------------------------------------------------------------------------------------------------------


def list_columns(table: str) -> dict[str, str]:
    """The labels of a table's columns for people, by name."""
    return {name: capfirst(column_label(table, name)) for name in kept_columns(table) if name not in EXTRA_COLUMNS}


def changes(table: str, before: Content | None, after: Content | None) -> list[Difference]:
    """The changed columns. `before` or `after` is None if the row does not exist; then only filled columns count."""
    differences = []
    for name, label in list_columns(table).items():
        old, new = text_of(before, name), text_of(after, name)
        if old == new:
            continue
        if before is not None and after is not None:
            differences.append(diff_column(table, name, before[name], after[name]))
        elif name != key_of(table):
            was, now = (text_of(content and mask_row(table, content), name) for content in (before, after))
            differences.append(Difference((name,), was, now, label))
    return differences


def diff_column(table: str, name: str, old: Json, new: Json) -> Difference:
    """The difference of two values of a column, a secret masked; of two documents path by path."""
    label = capfirst(column_label(table, name))
    if name == COLUMN:
        texts = list(diff_translations(table, old, new))
        return Difference((name,), old, new, label, within=texts[:MAX_PATHS], more=len(texts[MAX_PATHS:]))
    old, new = mask_value(table, name, old), mask_value(table, name, new)
    if all(isinstance(value, (dict, list)) and not find_unreadable_columns({name: value}) for value in (old, new)):
        paths = diff_json(old, new, pair_items=pair_by_content, sort_keys=True)
        describe = DESCRIBERS.get((table, name))
        shown = [describe(path, old, new) if describe else path for path in islice(paths, MAX_PATHS)]
        return Difference((name,), old, new, label, within=shown, more=sum(1 for _ in paths))
    was, now = text_of({name: old}, name), text_of({name: new}, name)
    note = ""
    if list_column_specs(table)[name].language == TEMPLATE:
        with suppress(TemplateError):
            render.check_template(was)
            render.check_template(now)
            before, after = render.list_names(was), render.list_names(now)
            parts = (("Now uses", after - before), ("No longer uses", before - after))
            note = " ".join(f"{words}: {', '.join(sorted(names))}." for words, names in parts if names)
    return Difference((name,), was, now, label, note)


def text_of(content: Mapping[str, Any] | None, name: str) -> str:
    """A column's value for people, or blank."""
    value = None if content is None else content.get(name)
    if value is not None and (unreadable := find_unreadable_columns({name: value})):
        return unreadable[name]
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return format_json(value)
