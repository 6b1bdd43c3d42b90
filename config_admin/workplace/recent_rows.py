"""Recently opened rows of a user."""

from typing import Any

from django.utils import timezone

from config_admin.editing.usages import Link, link_of
from config_admin.releases.working_copy import write_outside
from config_admin.workplace.editor_row import CeDeskRow
from convengine.engine.turn.snapshot import Snapshot

#: How many rows are remembered for a user.
REMEMBERED = 50


def note_opened_row(user: Any, table: str, pk: Any) -> None:
    """Note that a user opened a row. Two statements, and a third when old ones are removed."""
    opened = CeDeskRow(user=user, table_name=table, row_pk=str(pk), opened_at=timezone.now())
    unique = ["user", "table_name", "row_pk"]
    write_outside(
        lambda: CeDeskRow.objects.bulk_create(
            [opened], update_conflicts=True, unique_fields=unique, update_fields=["opened_at"]
        )
    )
    old = list(CeDeskRow.objects.filter(user=user).order_by("-opened_at").values_list("pk", flat=True)[REMEMBERED:])
    if old:
        CeDeskRow.objects.filter(pk__in=old).delete()


def find_recent_rows(user: Any, snapshot: Snapshot, count: int) -> list[Link]:
    """The rows that a user opened, latest first, without deleted ones. One query."""
    stored = CeDeskRow.objects.filter(user=user).order_by("-opened_at")
    rows = (snapshot.find_row(opened.table_name, opened.row_pk) for opened in stored)
    return [link_of(row) for row in rows if row][:count]
