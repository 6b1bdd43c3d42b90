"""What a deletion would delete too, and what prevents it (tables 1.8, IN_USE and LAST_FALLBACK)."""

from collections.abc import Iterator
from itertools import chain
from typing import Any

from django.contrib.admin.utils import get_deleted_objects
from django.http import HttpRequest

from config_admin.editing.context import get_editor_context
from config_admin.form_save.confirmation import Refusal, link_rows, list_refusals
from config_admin.validation.references import find_references
from config_admin.validation.run import check_delete
from convengine.engine.turn.rows import ROW_TYPE_OF, Row
from convengine.engine.turn.snapshot import Snapshot

#: How many rows a page lists.
SHOWN = 20


def collect_deletions(
    model_admin: Any, objs: Any, request: HttpRequest
) -> tuple[list[Any], dict[str, int], set[str], list[Any]]:
    """As in Django: what is deleted, counts, missing rights, and protected rows, which come from our checks."""
    found, snapshot = list(objs), get_editor_context(request).snapshot
    going, counts, missing, _ = get_deleted_objects(found, request, model_admin.admin_site)
    stored = snapshot.table(ROW_TYPE_OF[model_admin.opts.db_table]).by_pk
    rows = [stored[obj.pk] for obj in found if obj.pk in stored]
    refusals = [
        *list_refusals(model_admin, request, rows),
        *chain.from_iterable(_refusals(snapshot, row) for row in rows),
    ]
    refusals += [
        Refusal(finding.message) for finding in model_admin.check_together(snapshot, {obj.pk for obj in found})
    ]
    shown = going if len(going) <= SHOWN else [*going[:SHOWN], f"… and {len(going) - SHOWN} more"]
    return shown, counts, missing, list(dict.fromkeys(refusals))


def _refusals(snapshot: Snapshot, row: Row) -> Iterator[Refusal]:
    for finding in check_delete(row, snapshot):
        in_the_way = find_references(snapshot, row) if finding.code == "IN_USE" else ()
        yield Refusal(finding.message, tuple(link_rows(in_the_way[:SHOWN])))
