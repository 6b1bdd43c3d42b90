"""Questions about a row's neighbours, answered from indexes so that their number does not matter (P10).

Key functions are module-level: the snapshot keeps one index per table and pair of functions.
"""

import json
from collections.abc import Callable, Hashable, Iterator, Mapping
from functools import cache
from itertools import product
from typing import Any, TypeVar

from convengine.domain import rows
from convengine.domain.rows import Row
from convengine.domain.scope import ANY
from convengine.domain.snapshot import Snapshot
from convengine.domain.text import code

R = TypeVar("R", bound=Row)
#: Columns that say nothing about what a row does.
_SILENT = frozenset({"priority", "enabled", "description", "created_at"})
#: Stands for a text that is no JSON.
UNREADABLE = object()


def scope_key(row: Any) -> tuple[str, str]:
    """Intent and state of a row, as compared."""
    return code(row.intent_code), code(row.state_code)


def intent_key(row: Any) -> str:
    """The intent of a row, as compared."""
    return code(row.intent_code)


def tool_code_key(row: Any) -> str:
    """The tool that a row names, as compared."""
    return (row.tool_code or "").strip().lower()


def rank(row: Any) -> tuple[int, bool, Any]:
    """Order by priority, then primary key; a row that is not stored yet comes last among equals."""
    return getattr(row, "priority", 0), not row.pk, row.pk or 0


def all_by(snapshot: Snapshot, row_type: type[R], key: Callable[[Any], Hashable]) -> Mapping[Any, tuple[R, ...]]:
    """All rows of a type, switched off ones too, by `key`; built once a table."""

    def build() -> dict[Hashable, tuple[R, ...]]:
        groups: dict[Hashable, list[R]] = {}
        for row in snapshot.rows(row_type):
            groups.setdefault(key(row), []).append(row)
        return {group: tuple(members) for group, members in groups.items()}

    return snapshot.table(row_type).memo.get(("all", key), build)


def scope_fits(one: str, other: str) -> bool:
    """True when a session's code can be admitted by both: the codes are equal, or one is ANY."""
    return one == other or ANY in (one, other)


def same_scope(snapshot: Snapshot, row: R) -> tuple[R, ...]:
    """The enabled rows of the same table and scope, in the order in which they are tried."""
    return snapshot.index(type(row), scope_key, rank).get(scope_key(row), ())


def sharing_scope(snapshot: Snapshot, row_type: type[R], intent: str, state: str) -> Iterator[R]:
    """The enabled rows that can meet a session which (intent, state) admits as well."""
    found, wanted = snapshot.index(row_type, scope_key, rank), (code(intent), code(state))
    if ANY not in wanted:
        for key in dict.fromkeys(product((wanted[0], ANY), (wanted[1], ANY))):
            yield from found.get(key, ())
        return
    for (row_intent, row_state), members in found.items():
        if scope_fits(row_intent, wanted[0]) and scope_fits(row_state, wanted[1]):
            yield from members


def of_intent(snapshot: Snapshot, row_type: type[R], intent: str) -> tuple[R, ...]:
    """The enabled rows of exactly this intent code."""
    return snapshot.index(row_type, intent_key, rank).get(code(intent), ())


def as_json(value: Any) -> Any:
    """A JSON column's value. Text, which is what an import brings, is read; UNREADABLE when it is no JSON."""
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value)
    except ValueError:
        return UNREADABLE


def alike(snapshot: Snapshot, row: R) -> tuple[R, ...]:
    """The enabled rows of the same table and scope whose plain columns say what this one's say; few, of any number."""
    return snapshot.index(type(row), _saying, rank).get(_saying(row), ())


def _saying(row: Row) -> tuple[object, ...]:
    plain = (_plain(getattr(row, name)) for name in _telling(row.table))
    return (*scope_key(row), *(value if isinstance(value, (str, int, float)) else "" for value in plain))


def does_the_same(one: Row, other: Row) -> bool:
    """True when two rows of a table differ in nothing that matters but their order."""
    return all(_plain(getattr(one, name)) == _plain(getattr(other, name)) for name in _telling(one.table))


@cache
def _telling(table: str) -> tuple[str, ...]:
    row_type = rows.ROW_TYPE_OF[table]
    return tuple(name for name in rows.columns(row_type) if name not in _SILENT and name != row_type.key)


def _plain(value: Any) -> Any:
    return value.strip() if isinstance(value, str) else "" if value is None else value


def properties(schema: Any) -> dict[str, Any]:
    """The properties of a JSON schema; empty when it has none."""
    document = as_json(schema)
    found = document.get("properties") if isinstance(document, dict) else None
    return found if isinstance(found, dict) else {}


def schema_fields(snapshot: Snapshot, intent: str) -> frozenset[str]:
    """The fields that the schemas of an intent collect; of every intent for ANY."""
    table = snapshot.table(rows.OutputSchema)
    return table.memo.get(("fields", code(intent)), lambda: _fields(snapshot, intent))


def _fields(snapshot: Snapshot, intent: str) -> frozenset[str]:
    everywhere = code(intent) == ANY
    schemas = snapshot.enabled(rows.OutputSchema) if everywhere else of_intent(snapshot, rows.OutputSchema, intent)
    return frozenset(name for schema in schemas for name in properties(schema.json_schema))


def tool(snapshot: Snapshot, tool_code: str | None) -> rows.Tool | None:
    """The tool of a code, also one that is switched off; null when there is none."""
    found = all_by(snapshot, rows.Tool, tool_code_key).get((tool_code or "").strip().lower(), ())
    return found[0] if found else None
