"""Restore rows as they were in a release, for every kind of undo."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.db import DEFAULT_DB_ALIAS, IntegrityError, connection, models

from config_admin.releases import content
from config_admin.releases.blobs import batches
from config_admin.releases.change_set import current, record_write
from config_admin.releases.renamed_intents import list_renames
from config_admin.releases.restore_checks import Wanted, check_restored_rows
from config_admin.releases.tree import Content
from config_admin.validation.findings import Finding
from config_admin.validation.stored_columns import control_plane
from convengine.engine.turn import rows


class RowsBelongTogether(ValueError):
    """A row would lose the row that it belongs to."""


class RestoreRefused(ValueError):
    """Rows of the older release fail the present save checks."""

    def __init__(self, findings: Sequence[Finding]) -> None:
        #: The errors, with row, field, code and remedy.
        self.findings = findings
        super().__init__("; ".join(f"{f.table} {f.row}, {f.field or 'row'}: {f.code}: {f.message}" for f in findings))


def restore_rows(wanted: Wanted, *, checked: bool = True) -> None:
    """Restore the content of rows. Call it in a change set.

    `checked`: run the save checks first. It is false for callers who have checked the rows, and for what takes back a
    release whatever that holds. None in place of a content deletes the row.

    Rows are deleted first and inserted afterwards, so that two rows can swap a unique name; the history still shows a
    change, because it compares contents. Columns that the engine writes stay unchanged.

    Raises RestoreRefused when a row has an error, RowsBelongTogether when that leaves a row without its tool.
    """
    if checked and (errors := [finding for finding in check_restored_rows(wanted) if finding.is_error]):
        raise RestoreRefused(errors)
    with record_write() as change:
        for table in wanted:
            change.touch(control_plane()[table], wanted[table])
        before = write_rows(wanted)
        try:
            # Refused here, with a message, instead of at the commit.
            connection.check_constraints(table_names=list(control_plane()))
        except IntegrityError as error:
            message = "A tool has its own settings that are not part of this change. Change those first."
            raise RowsBelongTogether(message) from error
        if (intents := rows.Intent.table) in before:
            stored = {pk: content.content_of(row) for pk, row in before[intents].items()}
            change.renamed_intents.update(list_renames(stored, wanted[intents]))


def write_rows(wanted: Wanted) -> dict[str, dict[Any, models.Model]]:
    """Write the content of rows, without a check and outside of change sets; returns the rows as they were."""
    tables = [table for table in control_plane() if table in wanted]
    before = {table: content.load_rows(table, list(wanted[table])) for table in tables}
    for table in reversed(tables):
        for pks in batches(before[table]):
            # Without a collector: rows to delete together are in `wanted`, others must stay.
            _query_plain_rows(table).filter(pk__in=pks)._raw_delete(using=DEFAULT_DB_ALIAS)
    for table in tables:
        _insert_rows(table, wanted[table], before[table])
    return before


def _query_plain_rows(table: str) -> "models.QuerySet[Any]":
    return models.QuerySet(control_plane()[table])


def _insert_rows(table: str, contents: Mapping[Any, Content | None], before: Mapping[Any, Any]) -> None:
    """Insert the contents as rows; columns that releases do not store keep their values from `before`."""
    model = control_plane()[table]
    made: list[Any] = []
    for pk, row in contents.items():
        if row is not None:
            instance: Any = before.get(pk) or model()
            for name, value in content.column_values(table, row).items():
                setattr(instance, name, value)
            if change := current():
                instance.updated_by = change.author_name
            made.append(instance)
    _query_plain_rows(table).bulk_create(made)
