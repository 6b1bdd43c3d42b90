"""A configuration of some rows, looked at by one check."""

from collections.abc import Callable, Iterator
from typing import Any

from config_admin.health.diagnosis import Diagnosis, RowKey
from config_admin.health.survey import Survey
from config_admin.validation.world import World
from convengine.engine.turn import rows
from tests import builders

Check = Callable[[Survey], Iterator[Diagnosis]]


def run_check(check: Check, *of: rows.Row, touched: rows.Row | None = None, **world: Any) -> list[Diagnosis]:
    """What a check says of these rows; keywords change the installation."""
    keys = None if touched is None else frozenset({RowKey(touched.table, touched.pk)})
    return list(check(Survey(builders.make_snapshot(*of), World(**world), keys)))


def list_codes(check: Check, *of: rows.Row, **options: Any) -> list[tuple[str, Any]]:
    """The codes of what it says, each with the key of the row."""
    return [(diagnosis.code, diagnosis.row) for diagnosis in run_check(check, *of, **options)]
