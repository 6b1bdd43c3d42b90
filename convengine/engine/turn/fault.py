"""Why a configuration row is unusable: the field, its value, the reason, and the remedy."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, get_type_hints

from convengine.engine.text.compare import shorten
from convengine.engine.turn import rows
from convengine.engine.turn.snapshot import Snapshot
from convengine.json_value import Json

_VALUE_SHOWN = 200
_KINDS: tuple[tuple[type, str], ...] = (
    (bool, "true or false"),
    (int, "a whole number"),
    (float, "a number"),
    (str, "a text"),
)

#: The only key of the object that replaces such a value in a release.
MARK = "$unreadable"


@dataclass(frozen=True)
class Fault:
    """The fault of a row in CONFIG_ROW_INVALID. Without a field it concerns the whole row."""

    reason: str
    field: str | None = None
    value: Json = None
    remedy: str | None = None

    def to_json(self) -> dict[str, Json]:
        return {"reason": self.reason, **self.to_details()}

    def to_details(self) -> dict[str, Json]:
        """Field, value and remedy, for an event with its own reason; unknown parts are left out."""
        shown = self.value if self.value is None else shorten(str(self.value), _VALUE_SHOWN)
        about = {"field": self.field, "value": shown} if self.field else {}
        return {**about, **({"remedy": self.remedy} if self.remedy else {})}


def unreadable_faults(snapshot: Snapshot) -> tuple[tuple[rows.Row, Fault], ...]:
    """The rows of a release with a value that its column cannot hold, each with the first such value."""
    return snapshot.memo.get(
        "unreadable",
        lambda: tuple((row, _build_fault(row, snapshot.tables[row.table].unreadable)) for row in snapshot.unreadable),
    )


def _build_fault(row: rows.Row, table: Any) -> Fault:
    """The fault of a row; `table` has the unreadable values by primary key and column."""
    problem = table[row.pk]
    name, value = next(iter(problem.items()))
    hint = get_type_hints(rows.ROW_TYPE_OF[row.table]).get(name)
    wanted = next((words for kind, words in _KINDS if hint in (kind, kind | None)), "valid JSON")
    wanted = "a time" if name == "created_at" else wanted
    also = f" The same goes for {', '.join(list(problem)[1:])}." if len(problem) > 1 else ""
    return Fault(
        f"{name} holds {shorten(value, 80)!r}, which is not {wanted}",
        name,
        value,
        f"Write {wanted} into {row.table}.{name} of row {row.pk}; the row is used again from the next turn on.{also}",
    )


def mark_unreadable(value: Any) -> dict[str, str]:
    """The replacement of an unreadable value: enough to find it again, and to see that it changed."""
    return {MARK: value.decode("utf-8", "backslashreplace") if isinstance(value, bytes) else str(value)}


def find_unreadable_columns(content: Mapping[str, Json]) -> dict[str, str]:
    """The columns of a row's content whose values are marked as unreadable, with the text of the value."""
    return {
        name: str(value[MARK])
        for name, value in content.items()
        if isinstance(value, dict) and len(value) == 1 and MARK in value
    }
