"""Configuration from a JSON document: all of it, checked, as one release, or nothing."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.apps import apps
from django.db import models

from config_admin.releases.change_set import change_set
from config_admin.releases.models import Origin
from config_admin.snapshot.active import snapshots
from config_admin.snapshot.compile import row_of
from config_admin.validation.findings import Finding
from config_admin.validation.installation import installed
from config_admin.validation.older_forms import Change, in_jinja
from config_admin.validation.run import check_row
from convengine.domain.rows import ROW_TYPES

Document = Mapping[str, Sequence[Mapping[str, Any]]]


class ImportRefused(Exception):
    """The document has rows that may not be saved."""

    def __init__(self, findings: Sequence[Finding]) -> None:
        self.findings = findings
        super().__init__("; ".join(f"{f.table} {f.row}: {f.field}: {f.message}" for f in findings))


def model_of(table: str) -> type[models.Model]:
    """The model of a control-plane table."""
    return next(model for model in apps.get_app_config("config_admin").get_models() if model._meta.db_table == table)


@dataclass(frozen=True)
class Imported:
    """What an import did."""

    rows: int
    #: By table and key: the expressions of older template forms that were stored as Jinja2.
    conversions: Mapping[tuple[str, Any], Sequence[Change]]


def load(document: Document, *, author: str, reason: str) -> Imported:
    """Insert the rows of a document. Raises ImportRefused, and changes nothing, when one has an error."""
    conversions: dict[tuple[str, Any], Sequence[Change]] = {}
    with change_set(Origin.IMPORT, author, reason):
        made: list[Any] = []
        for row_type in ROW_TYPES:
            for values in document.get(row_type.table, ()):
                row = model_of(row_type.table)(**values)
                changes = _convert(row)
                row.save(force_insert=True)
                made.append(row)
                if changes:
                    conversions[row_type.table, row.pk] = changes
        # Rows may name one another, so they are judged together, against the configuration that they make.
        snapshot, world = snapshots.current(), installed()
        findings = [finding for row in made for finding in check_row(row_of(row), snapshot, world) if finding.is_error]
        if findings:
            raise ImportRefused(findings)
    return Imported(len(made), conversions)


def _convert(row: Any) -> Sequence[Change]:
    """Put older template forms of a row into Jinja2; what was changed (pipeline-2 9.5)."""
    values, changes = in_jinja(row._meta.db_table, row)
    for field, value in values.items():
        setattr(row, field, value)
    return changes
