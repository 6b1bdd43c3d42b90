"""Import a document as one release, or not at all."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from django.db import DatabaseError, transaction

from config_admin.releases.change_set import change_set, lock_content
from config_admin.releases.changes import Author
from config_admin.releases.models import CeRelease, Origin
from config_admin.releases.restore_rows import RowsBelongTogether, restore_rows
from config_admin.transfer.ancestry import store_source
from config_admin.transfer.document import Document, ImportMode, locate_rows
from config_admin.transfer.import_plan import ImportPlan, LocatedFinding, Progress, ignore_progress, plan_import
from config_admin.validation.draft import Finding, Severity
from config_admin.validation.labels import row_name


class ImportRefused(ValueError):
    """Nothing was imported: rows of the file have errors, or its user did not see today's changes."""

    def __init__(self, plan: ImportPlan) -> None:
        #: The checked import.
        self.plan = plan
        super().__init__("; ".join(map(str, plan.errors)))


class ImportFailed(ValueError):
    """Nothing was imported: the database refused a row that passed all checks."""


@dataclass(frozen=True)
class ImportResult:
    plan: ImportPlan
    #: None when nothing changed.
    release: CeRelease | None = None
    #: False when it was only planned, or rows are refused.
    is_applied: bool = False


def run_import(
    document: Document,
    *,
    apply: bool,
    author: Author,
    reason: str,
    rest: bool = False,
    progress: Progress = ignore_progress,
) -> ImportResult:
    """The plan of an import; with `apply`, and if no row is refused, the import itself. Raises ImportFailed."""
    if not apply:
        return ImportResult(plan_import(document, rest=rest, progress=progress))
    try:
        return import_document(document, author=author, reason=reason, rest=rest, progress=progress)
    except ImportRefused as error:
        return ImportResult(error.plan)


def import_document(
    document: Document, *, author: Author, reason: str, rest: bool = False, progress: Progress = ignore_progress
) -> ImportResult:
    """Import a document as one release. `rest`: without the rows that have errors, which the plan lists.

    Raises ImportRefused, and ImportFailed; then nothing is changed.
    """
    plan = plan_import(document, rest=rest, progress=progress)
    if plan.is_refused or not plan.is_seen:
        raise ImportRefused(plan)
    try:
        with transaction.atomic():
            # What is judged as the forms of the rows do it counts as their change, which editors may undo.
            with change_set(Origin.ADMIN if document.judge else Origin.IMPORT, author, reason) as change:
                # From here on nobody else can make a release. If somebody made one since the check, check again.
                if lock_content() != plan.content_hash:
                    plan = plan_import(document, rest=rest, progress=progress)
                    if plan.is_refused or not plan.is_seen:
                        raise ImportRefused(plan)
                count = sum(map(len, plan.placed.wanted.values()))
                progress("written", 0, count)
                restore_rows(plan.placed.wanted, checked=False)
            progress("written", count, count)
            if document.base and plan.brings_all:
                store_source(document.base, plan.theirs, plan.placed.renumbered)
    except (DatabaseError, RowsBelongTogether) as error:
        raise ImportFailed(f"The database refused the rows; nothing was imported: {error}") from error
    return ImportResult(plan, change.release, is_applied=True)


def add_rows(tables: Mapping[str, Sequence[Mapping[str, Any]]], *, author: Author, reason: str) -> ImportResult:
    """Import rows that the product ships, as new rows. Raises ImportRefused when one exists already."""
    return add_document(Document(locate_rows(tables), ImportMode.ADD), author=author, reason=reason)


def add_document(document: Document, *, author: Author, reason: str) -> ImportResult:
    """Import the rows of a document as new rows. Raises ImportRefused when one exists already."""
    with change_set(Origin.IMPORT, author, reason) as change:
        result = import_document(document, author=author, reason=reason)
        for table, pk in (
            (table, row.pk) for table, rows in result.plan.differences.items() for row in rows if row.before
        ):
            if pk not in document.deleted.get(table, ()):
                message = f"Row {pk} already has this name. Choose another name."
                finding = Finding("DUPLICATE", Severity.ERROR, table, pk, None, message)
                result.plan.findings.append(LocatedFinding(row_name(table, pk), finding))
        if result.plan.is_refused:
            raise ImportRefused(result.plan)
    return replace(result, release=change.release)
