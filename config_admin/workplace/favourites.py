"""Recently opened rows and favourites of a user."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from django.utils import timezone

from config_admin.editing.usages import Link, link_of
from config_admin.releases.working_copy import write_outside
from config_admin.workplace.editor_row import CeDeskRow
from convengine.engine.turn.rows import ROW_TYPE_OF, Row
from convengine.engine.turn.snapshot import Snapshot

#: How many recently opened rows are kept, besides the favourites.
KEPT = 50


class SavedRows(NamedTuple):
    """The existing rows: favourites by name, the others by the time of opening, latest first."""

    favourites: Sequence[Link]
    recent: Sequence[Link]


def note_opened_row(user: Any, table: str, pk: Any) -> bool:
    """Note that a user opened a row; true when it is a favourite. Two statements, and a third when old ones are
    removed.
    """
    opened = CeDeskRow(user=user, table_name=table, row_pk=str(pk), opened_at=timezone.now())
    unique = ["user", "table_name", "row_pk"]
    write_outside(
        lambda: CeDeskRow.objects.bulk_create(
            [opened], update_conflicts=True, unique_fields=unique, update_fields=["opened_at"]
        )
    )
    mine = list(CeDeskRow.objects.filter(user=user).order_by("-opened_at"))
    if old := [row.pk for row in mine if not row.is_favourite][KEPT:]:
        CeDeskRow.objects.filter(pk__in=old).delete()
    return any(row.is_favourite for row in mine if (row.table_name, row.row_pk) == (table, str(pk)))


def set_favourite(user: Any, table: str, pk: Any, favourite: bool) -> None:
    """Add or remove a favourite."""
    values = {"is_favourite": favourite}
    write_outside(
        lambda: CeDeskRow.objects.update_or_create(user=user, table_name=table, row_pk=str(pk), defaults=values)
    )


def find_saved_rows(user: Any, snapshot: Snapshot, recent: int) -> SavedRows:
    """The favourites and recent rows of a user, without deleted ones. One query."""
    stored = list(CeDeskRow.objects.filter(user=user).order_by("-opened_at"))
    marked = sorted(
        (row for row in _select_rows(snapshot, stored, favourite=True)), key=lambda row: (row.table, str(row.pk))
    )
    others = list(_select_rows(snapshot, stored, favourite=False))[:recent]
    return SavedRows([link_of(row) for row in marked], [link_of(row) for row in others])


def _select_rows(snapshot: Snapshot, stored: Sequence[CeDeskRow], *, favourite: bool) -> Iterator[Row]:
    for saved in stored:
        if saved.is_favourite is favourite and (row := find_row(snapshot, saved.table_name, saved.row_pk)):
            yield row


def find_row(snapshot: Snapshot, table: str, pk: str) -> Row | None:
    """The row of a table by the text of its key, or null."""
    row_type = ROW_TYPE_OF.get(table)
    if row_type is None:
        return None
    by_text = snapshot.table(row_type).memo.get(
        "by_text", lambda: {str(row.pk): row for row in snapshot.rows(row_type)}
    )
    row: Row | None = by_text.get(pk)
    return row
