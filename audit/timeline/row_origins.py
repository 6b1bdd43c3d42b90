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
    #: Its kind and number, and its description.
    name: str
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
    refs = dict.fromkeys(RowRef(row.table, str(row.pk)) for sentence in sentences for row in sentence.rows)
    readable = [ref for ref in refs if ref.table in ROW_TYPE_OF and _may_read(request, ref.table)]
    origins = release_history().find_row_origins(readable, record.config_version)
    return [_build_row(record, ref, origins[ref], snapshot) for ref in readable if ref in origins]


def _may_read(request: HttpRequest, table: str) -> bool:
    user: Any = request.user
    return bool(user.has_perm(release_history().right_to_read(table)))


def _build_row(record: Any, ref: RowRef, origin: RowOrigin, snapshot: Snapshot) -> UsedRow:
    key = int(ref.pk) if ref.pk.isdecimal() else ref.pk
    row = snapshot.row(ROW_TYPE_OF[ref.table], key) or snapshot.row(ROW_TYPE_OF[ref.table], ref.pk)
    url = addresses.row_url(record.conversation_id, record.turn_no, ref.table, ref.pk)
    return UsedRow(ref, row_name(ref.table, ref.pk), name_row(ref.table, row) if row else "", url, origin)
