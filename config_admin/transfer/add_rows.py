"""Load rows that the product ships: all of them, checked, as one release, or nothing."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from config_admin.releases.change_set import change_set
from config_admin.releases.models import Origin
from config_admin.transfer.apply_import import ImportRefused as Refused
from config_admin.transfer.apply_import import import_document
from config_admin.transfer.document import Document as Given
from config_admin.transfer.document import FileRow, Mode
from config_admin.transfer.import_plan import Plan
from config_admin.validation.findings import Finding, Severity
from convengine.engine.older_templates.rows import Change

Document = Mapping[str, Sequence[Mapping[str, Any]]]


class ImportRefused(Exception):
    """The document has rows that may not be saved."""

    def __init__(self, findings: Sequence[Finding]) -> None:
        self.findings = findings
        super().__init__("; ".join(f"{f.table} {f.row}: {f.field}: {f.message}" for f in findings))


@dataclass(frozen=True)
class AddedRows:
    """The result of an import."""

    rows: int
    #: By table and key: converted expressions of older template forms.
    conversions: Mapping[tuple[str, Any], Sequence[Change]]


def add_rows(document: Document, *, author: str, reason: str) -> AddedRows:
    """Add the rows of a document. No row of these names may exist.

    Raises ImportRefused, and changes nothing, when one has an error or exists.
    """
    tables = {
        table: [FileRow(row, f"{table} row {number}") for number, row in enumerate(rows, 1)]
        for table, rows in document.items()
    }
    given = Given(tables, Mode.ADD)
    try:
        with change_set(Origin.IMPORT, author, reason):
            done = import_document(given, author=author, reason=reason)
            if there := [*_find_existing_rows(done.plan)]:
                raise ImportRefused(there)
    except Refused as error:
        raise ImportRefused([told.finding for told in error.plan.errors]) from None
    return AddedRows(given.count, done.plan.placed.conversions)


def _find_existing_rows(found: Plan) -> Iterator[Finding]:
    """An error for each row that would change an existing one."""
    for table, rows in found.differences.items():
        for row in rows:
            if row.before is not None:
                message = f"Row {row.pk} already has this name. Choose another name."
                yield Finding("DUPLICATE", Severity.ERROR, table, row.pk, None, message)
