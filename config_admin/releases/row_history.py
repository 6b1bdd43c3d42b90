"""Row history of a release: one row of `<table>_history` for each row that differs from the release before (R5)."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from django.contrib.auth.base_user import AbstractBaseUser
from django.db import models
from django.utils import timezone

from config_admin.releases import content
from config_admin.releases.changes import ChangeSet
from config_admin.releases.models import CeRelease
from config_admin.releases.tree import Difference

#: Was there before, is there now -> the library's sign.
_SIGNS = {(False, True): "+", (True, True): "~", (True, False): "-"}
BATCH = 500


def write_history(
    release: CeRelease,
    change: ChangeSet,
    differences: Mapping[str, Sequence[Difference]],
    stored: Mapping[str, Mapping[Any, models.Model]],
) -> None:
    """Store who changed what and why, stamped with the release. A deleted row's entry holds its last content."""
    stamp = {
        "config_version": release.config_version,
        "change_set": release.change_set,
        "history_date": timezone.now(),
        "history_change_reason": change.reason or release.reason or release.get_origin_display(),
        "history_user_id": change.author.pk if isinstance(change.author, AbstractBaseUser) else None,
    }
    for table, rows in differences.items():
        history = _history_model(table)
        entries = (history(**stamp, **values) for values in _entries(table, rows, stored[table], change))
        history._default_manager.bulk_create(entries, batch_size=BATCH)


def _history_model(table: str) -> type[models.Model]:
    model: Any = content.control_plane()[table]
    history: type[models.Model] = model.history.model
    return history


def _entries(
    table: str, rows: Sequence[Difference], stored: Mapping[Any, models.Model], change: ChangeSet
) -> Iterator[dict[str, Any]]:
    model = content.control_plane()[table]
    for row in rows:
        if row.after is None:
            assert row.before is not None
            instance = model(**content.column_values(table, row.before), updated_by=change.author_name)
        else:
            instance = stored[row.pk]
        values = {column.attname: getattr(instance, column.attname) for column in model._meta.concrete_fields}
        yield values | {"history_type": _SIGNS[row.before is not None, row.after is not None]}
