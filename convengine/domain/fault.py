"""What makes a configuration row unusable: the field, its value, why, and what to do about it (R50, R64)."""

from dataclasses import dataclass
from typing import Any, get_type_hints

from convengine.domain import rows
from convengine.domain.snapshot import Snapshot
from convengine.domain.text import excerpt

Json = Any
_VALUE_SHOWN = 200
_KINDS: tuple[tuple[type, str], ...] = (
    (bool, "true or false"),
    (int, "a whole number"),
    (float, "a number"),
    (str, "a text"),
)


@dataclass(frozen=True)
class Fault:
    """Said of a row in CONFIG_ROW_INVALID. Without a field it is the row as a whole."""

    reason: str
    field: str | None = None
    value: Json = None
    remedy: str | None = None

    def stored(self) -> dict[str, Json]:
        """As the event of an unusable row holds it."""
        return {"reason": self.reason, **self.named()}

    def named(self) -> dict[str, Json]:
        """Field, value and remedy, for an event that tells the reason in its own way; what is not known is left out."""
        shown = self.value if self.value is None else excerpt(str(self.value), _VALUE_SHOWN)
        about = {"field": self.field, "value": shown} if self.field else {}
        return {**about, **({"remedy": self.remedy} if self.remedy else {})}


def unreadable_faults(snapshot: Snapshot) -> tuple[tuple[rows.Row, Fault], ...]:
    """The rows of a release that hold a value which its column cannot, each with the first such value."""
    return snapshot.memo.get(
        "unreadable",
        lambda: tuple((row, _unreadable(row, snapshot.tables[row.table].unreadable)) for row in snapshot.unreadable),
    )


def _unreadable(row: rows.Row, table: Any) -> Fault:
    found = table[row.pk]
    name, value = next(iter(found.items()))
    wanted = _wanted(row.table, name)
    also = f" The same goes for {', '.join(list(found)[1:])}." if len(found) > 1 else ""
    return Fault(
        f"{name} holds {excerpt(value, 80)!r}, which is not {wanted}",
        name,
        value,
        f"Write {wanted} into {row.table}.{name} of row {row.pk}; the row is used again from the next turn on.{also}",
    )


def _wanted(table: str, column: str) -> str:
    hint = get_type_hints(rows.ROW_TYPE_OF[table]).get(column)
    if column == "created_at":
        return "a time"
    return next((words for kind, words in _KINDS if hint in (kind, kind | None)), "valid JSON")
