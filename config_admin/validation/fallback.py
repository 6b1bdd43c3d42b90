"""The last enabled answer for UNKNOWN / UNKNOWN; without it, turns with unknown messages fail (R9)."""

from collections.abc import Sequence

from config_admin.validation import relations
from config_admin.validation.draft import Draft
from config_admin.validation.findings import Finding
from convengine.engine.turn import rows
from convengine.engine.turn.scope import UNKNOWN
from convengine.engine.turn.snapshot import Snapshot


def is_last_fallback(snapshot: Snapshot, row: rows.Response) -> bool:
    """True when the stored row is the only enabled answer for UNKNOWN / UNKNOWN."""
    stored = snapshot.row(rows.Response, row.pk)
    return stored is not None and [other.pk for other in find_fallbacks(snapshot)] == [row.pk]


def find_fallbacks(snapshot: Snapshot) -> Sequence[rows.Response]:
    """The enabled answers for UNKNOWN / UNKNOWN."""
    return snapshot.index(rows.Response, relations.scope_key, relations.rank).get((UNKNOWN, UNKNOWN), ())


def report_last_fallback(draft: Draft[rows.Response]) -> Finding:
    """The message when that row is deleted, disabled or moved."""
    return draft.error(
        "LAST_FALLBACK",
        "enabled",
        "This is the only answer for messages that are not recognised. Add another one first.",
    )
