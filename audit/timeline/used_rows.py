"""The rows of a turn's narration: who made the version that the turn used, when, why, and what the row says today."""

from collections.abc import Iterable
from typing import Any, NamedTuple

from django.http import HttpRequest

from audit.narration import RowRef, Sentence
from audit.narration.wording import row_name
from audit.timeline import addresses
from convengine.engine.rules.row_names import name_row
from convengine.engine.turn.rows import ROW_TYPE_OF
from convengine.engine.turn.snapshot import Snapshot
from convengine.server.interfaces.release_history import RowOrigin, release_history


class UsedRow(NamedTuple):
    """A row of the narration."""

    ref: RowRef
    #: Its description, or its kind and number.
    title: str
    #: The row as it was in the turn.
    url: str
    origin: RowOrigin


def list_used_rows(
    request: HttpRequest, record: Any, sentences: Iterable[Sentence], snapshot: Snapshot | None
) -> list[UsedRow]:
    """The rows of the narration that the user may read, in order, each once."""
    if snapshot is None or record.config_version is None:
        return []
    history, user = release_history(), request.user
    refs = dict.fromkeys(RowRef(row.table, str(row.pk)) for sentence in sentences for row in sentence.rows)
    readable = [ref for ref in refs if ref.table in ROW_TYPE_OF and user.has_perm(history.right_to_read(ref.table))]
    origins = history.find_row_origins(readable, record.config_version)
    return [_build_row(record, ref, origins[ref], snapshot) for ref in readable if ref in origins]


def _build_row(record: Any, ref: RowRef, origin: RowOrigin, snapshot: Snapshot) -> UsedRow:
    row = snapshot.find_row(ref.table, ref.pk)
    url = addresses.row_url(record.conversation_id, record.turn_no, ref.table, ref.pk)
    return UsedRow(ref, (name_row(ref.table, row) if row else "") or row_name(ref.table, ref.pk), url, origin)
