"""Run the save checks: for one row, for its deletion, or for an edit conflict."""

from typing import Any

from config_admin.validation.columns import check_columns, check_recommended, check_references, check_types
from config_admin.validation.common import is_last_fallback, report_last_fallback
from config_admin.validation.draft import Draft, Finding, SaveChecks
from config_admin.validation.stored_columns import control_plane
from config_admin.validation.translations import check_translations
from config_admin.validation.uses import find_references, format_references
from config_admin.validation.world import World
from convengine.engine.turn import rows
from convengine.engine.turn.rows import Row
from convengine.engine.turn.snapshot import Snapshot


def check_row(
    row: Row, snapshot: Snapshot, world: World, *, replaces: Row | None = None, with_slow_checks: bool = True
) -> list[Finding]:
    """All findings of a row to save; errors prevent saving.

    `snapshot` is the configuration in force. A new row has a null key. `replaces` is the stored row when its key
    changes. Each kind of check runs only if the one before found no error: values of the right types, a well-formed
    row, a row that fits the others.
    """
    model: Any = control_plane()[row.table]
    own: SaveChecks = model.save_checks
    draft = Draft(row, snapshot, world, replaces)
    findings: list[Finding] = []
    fit = (check_references, check_recommended, *own.fit, *(own.slow if with_slow_checks else ()))
    for checks in ((check_types,), (check_columns, check_translations, *own.form, *own.change), fit):
        findings += [finding for check in checks for finding in check(draft)]
        if any(finding.is_error for finding in findings):
            break
    return list({(each.code, each.field, each.message): each for each in findings}.values())


def check_delete(row: Row, snapshot: Snapshot) -> list[Finding]:
    """Why a stored row must not be deleted: others name it, or it is the last fallback answer."""
    draft = Draft(row, snapshot, World())
    findings: list[Finding] = []
    if naming := find_references(snapshot, row):
        name = (
            row.tool_code if isinstance(row, rows.Tool) else f"rule {row.pk}" if isinstance(row, rows.Rule) else row.pk
        )
        count = f"{len(naming)} {'row refers' if len(naming) == 1 else 'rows refer'}"
        remedy = "Disable it instead, or change those rows first."
        findings.append(draft.error("IN_USE", None, f"{count} to {name}: {format_references(naming)}. {remedy}"))
    if isinstance(row, rows.Response) and is_last_fallback(snapshot, row):
        findings.append(report_last_fallback(Draft(row, snapshot, World())))
    return findings


def stale_edit(row: Row, snapshot: Snapshot, *, who: str, when: str) -> Finding:
    """The finding when the row was changed meanwhile; the form keeps the text."""
    return Draft(row, snapshot, World()).error(
        "STALE_EDIT",
        None,
        f"{who} changed this row ({when}) while you were editing. Your text is kept in the form.",
    )
