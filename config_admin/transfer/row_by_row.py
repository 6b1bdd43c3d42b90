"""Imports of users without the right to import: a file changes what they may change row by row, as the forms would."""

from collections.abc import Iterator, Mapping, Set
from dataclasses import replace
from functools import partial
from typing import Any

from django.contrib import admin
from django.db.models import JSONField
from django.http import HttpRequest

from config_admin.editing.confirmation import find_forbidden_rows
from config_admin.releases.active import snapshots
from config_admin.releases.restore_rows import compile_rows, lay_rows_over
from config_admin.transfer.document import Document, FileRow, ImportMode
from config_admin.transfer.import_plan import ImportPlan, load_current_contents
from config_admin.transfer.natural_keys import get_key, list_file_columns
from config_admin.validation.common import list_fallbacks, report_last_fallback
from config_admin.validation.draft import Draft, Finding, Severity
from config_admin.validation.installation import describe_installation
from config_admin.validation.stored_columns import control_plane, key_of
from convengine.engine.turn import rows
from convengine.json_value import Json

_REMOVED = "The import would remove this row. Only configuration administrators can import files that remove rows."
_OWN_NUMBER = "There is no row with this number. Leave the number of a new row empty: the row gets the next one."


def may_change_rows(request: HttpRequest) -> bool:
    """True for users who may add or change rows of some table."""
    pages = map(admin.site.get_model_admin, control_plane().values())
    return any(each.has_add_permission(request) or each.has_change_permission(request) for each in pages)


def limit_document(document: Document, request: HttpRequest) -> Document:
    """The document as it does no more than the forms: it removes no rows, sets no creation times, and is judged."""
    tables: dict[str, list[FileRow]] = {}
    stored = load_current_contents()
    for table, given in document.tables.items():
        columns = {name for name, column in list_file_columns(table).items() if not isinstance(column, JSONField)}
        # A text that is stored like this is no change.
        unchanged = {row[name] for row in stored[table].values() for name in columns & row.keys()}
        tables[table] = [replace(row, values=_trim_texts(row.values, columns, unchanged)) for row in given]
    judge, seen = partial(_find_refused_changes, request), request.POST.get("seen", "")
    return replace(document, tables=tables, mode=ImportMode.UPDATE, judge=judge, seen=seen)


def _trim_texts(values: Mapping[str, Json], columns: Set[str], unchanged: Set[Json]) -> dict[str, Json]:
    """The values without the time of creation; texts of these columns as a form sends them."""
    return {
        name: value.strip().replace("\r\n", "\n")
        if name in columns and isinstance(value, str) and value not in unchanged
        else value
        for name, value in values.items()
        if name != "created_at"
    }


def _find_refused_changes(request: HttpRequest, plan: ImportPlan) -> Iterator[Finding]:
    """An error for each change of a plan that the user could not make in the form of the row."""
    differences, numbered = plan.differences, plan.placed.numbered
    for table, pk, message in dict.fromkeys(find_forbidden_rows(request, differences)):
        yield Finding("FORBIDDEN", Severity.ERROR, table, pk, None, message)
    for table, changed in differences.items():
        for row in changed:
            if row.after is None:
                yield Finding("FORBIDDEN", Severity.ERROR, table, row.pk, None, _REMOVED)
            elif row.before is None and not get_key(table).is_unique and (table, row.pk) not in numbered:
                yield Finding("FORBIDDEN", Severity.ERROR, table, row.pk, key_of(table), _OWN_NUMBER)
    yield from _find_refused_steps(plan)


def _find_refused_steps(plan: ImportPlan) -> Iterator[Finding]:
    """What is refused because of the stored row: the save checks of a plan only see the rows that it leads to."""
    now, world = snapshots.current(), describe_installation()
    for table, wanted in plan.placed.wanted.items():
        model: Any = control_plane()[table]
        for row in compile_rows(table, wanted).rows if model.save_checks.change else ():
            findings = (finding for check in model.save_checks.change for finding in check(Draft(row, now, world)))
            yield from (finding for finding in findings if finding.is_error)
    if rows.Response.table in plan.placed.wanted and not list_fallbacks(lay_rows_over(now, plan.placed.wanted)):
        yield from (report_last_fallback(Draft(row, now, world)) for row in list_fallbacks(now))
