"""Making rows be what they were in a release: the one way in which a roll-back or a revert writes."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.db import DEFAULT_DB_ALIAS, IntegrityError, connection

from config_admin.releases import content
from config_admin.releases.blobs import batches
from config_admin.releases.change_set import recorded
from config_admin.releases.tree import Content
from config_admin.validation.findings import Finding
from config_admin.validation.restoring import Wanted, would_restore


class RowsBelongTogether(ValueError):
    """A row would be left without the row that it belongs to."""


class RestoreRefused(ValueError):
    """Rows of the older release do not pass the save checks of today."""

    def __init__(self, findings: Sequence[Finding]) -> None:
        #: The errors, with row, field, code and what to do.
        self.findings = findings
        super().__init__("; ".join(f"{f.table} {f.row}, {f.field or 'row'}: {f.code}: {f.message}" for f in findings))


def put_back(wanted: Wanted, *, checked: bool = True) -> None:
    """Give the rows the content that they had. Call it in a change set.

    `checked`: the save checks are run over them first, as over any edit; without, a script takes what there was.

    Rows are taken out first and put in again afterwards, so that two rows can swap a unique name; the history still
    tells of a change, because it compares contents. Columns that the engine writes stay as they are.

    Raises RestoreRefused when a row has an error, RowsBelongTogether when that leaves a row without its tool.
    """
    if checked and (errors := [finding for finding in would_restore(wanted) if finding.is_error]):
        raise RestoreRefused(errors)
    tables = [table for table in content.control_plane() if table in wanted]
    with recorded() as change:
        before = {table: content.stored(table, list(wanted[table])) for table in tables}
        for table in reversed(tables):
            model = content.control_plane()[table]
            change.touch(model, wanted[table])
            for pks in batches(before[table]):
                # No collector: what goes along with a row is in `wanted` itself, or must stay.
                model._base_manager.filter(pk__in=pks)._raw_delete(using=DEFAULT_DB_ALIAS)
        for table in tables:
            _put_in(table, wanted[table], before[table])
        _check_references()


def _put_in(table: str, rows: Mapping[Any, Content | None], before: Mapping[Any, Any]) -> None:
    model = content.control_plane()[table]
    made = []
    for pk, row in rows.items():
        if row is not None:
            instance = before.get(pk) or model()
            for name, value in content.column_values(table, row).items():
                setattr(instance, name, value)
            made.append(instance)
    model._base_manager.bulk_create(made)


def _check_references() -> None:
    """What the database would refuse at the commit is refused here, where it can be told."""
    try:
        connection.check_constraints(table_names=list(content.control_plane()))
    except IntegrityError as error:
        raise RowsBelongTogether(
            "A tool has settings of its own that are not part of this; change these first."
        ) from error
