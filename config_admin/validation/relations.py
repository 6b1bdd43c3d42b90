"""Queries about a row's neighbours, answered from indexes.

Key functions are module-level: the snapshot keeps one index per table and pair of functions.
"""

from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping
from functools import cache
from itertools import product
from operator import itemgetter
from typing import Any, TypeVar

from config_admin.validation.stored_columns import list_prose_columns
from convengine.engine.steps.tools.scope import build_tool_code
from convengine.engine.text.compare import code
from convengine.engine.turn import rows
from convengine.engine.turn.rows import Row
from convengine.engine.turn.scope import ANY, intent_key, scope_key
from convengine.engine.turn.snapshot import Snapshot
from convengine.files import Unreadable
from convengine.files.json_text import read_json

R = TypeVar("R", bound=Row)
#: Columns that, like those for people, do not matter for what a row does.
_ORDER_COLUMNS = frozenset({"priority", "enabled", "created_at"})
#: Stands for a text that is not JSON.
UNREADABLE = object()


def tool_code_key(row: Any) -> str:
    """The tool that a row names, normalised."""
    return (row.tool_code or "").strip().lower()


def rank(row: Any) -> tuple[int, bool, Any]:
    """Order by priority, then primary key; a new row comes last among equals."""
    return getattr(row, "priority", 0), not row.pk, row.pk or 0


def index_rows(snapshot: Snapshot, row_type: type[R], key: Callable[[Any], Hashable]) -> Mapping[Any, tuple[R, ...]]:
    """All rows of a type, including disabled ones, by `key`; built once per table."""

    def build() -> dict[Hashable, tuple[R, ...]]:
        groups: dict[Hashable, list[R]] = {}
        for row in snapshot.rows(row_type):
            groups.setdefault(key(row), []).append(row)
        return {group: tuple(members) for group, members in groups.items()}

    return snapshot.table(row_type).memo.get(("all", key), build)


def scope_fits(value: str, other: str) -> bool:
    """True when a session's code can match both: the codes are equal, or one is ANY."""
    return value == other or ANY in (value, other)


def find_rows_of_scope(snapshot: Snapshot, row: R) -> tuple[R, ...]:
    """The enabled rows of the same table and scope, in the order of testing."""
    return snapshot.index(type(row), scope_key, rank).get(scope_key(row), ())


def find_rows_sharing_scope(snapshot: Snapshot, row_type: type[R], intent: str, state: str) -> Iterator[R]:
    """The enabled rows that can match a session that (intent, state) matches too."""
    by_scope, wanted = snapshot.index(row_type, scope_key, rank), (code(intent), code(state))
    if ANY not in wanted:
        for key in dict.fromkeys(product((wanted[0], ANY), (wanted[1], ANY))):
            yield from by_scope.get(key, ())
        return
    for (row_intent, row_state), members in by_scope.items():
        if scope_fits(row_intent, wanted[0]) and scope_fits(row_state, wanted[1]):
            yield from members


def find_rows_of_intent(snapshot: Snapshot, row_type: type[R], intent: str) -> tuple[R, ...]:
    """The enabled rows of exactly this intent code."""
    return snapshot.index(row_type, intent_key, rank).get(code(intent), ())


def as_json(value: Any) -> Any:
    """A JSON column's value. Text, as from an import, is parsed; UNREADABLE when it is not JSON."""
    if not isinstance(value, str):
        return value
    try:
        return read_json(value)
    except Unreadable:
        return UNREADABLE


def find_similar_rows(snapshot: Snapshot, row: R) -> tuple[R, ...]:
    """The enabled rows of the same table and scope with equal plain columns."""
    return snapshot.index(type(row), _get_content_key, rank).get(_get_content_key(row), ())


def _get_content_key(row: Row) -> tuple[object, ...]:
    plain = (_normalise_value(getattr(row, name)) for name in _list_content_columns(row.table))
    return (*scope_key(row), *(value if isinstance(value, (str, int, float)) else "" for value in plain))


def has_same_effect(row: Row, other: Row) -> bool:
    """True when two rows of a table are equal except their order."""
    return all(
        _normalise_value(getattr(row, name)) == _normalise_value(getattr(other, name))
        for name in _list_content_columns(row.table)
    )


@cache
def _list_content_columns(table: str) -> tuple[str, ...]:
    row_type = rows.ROW_TYPE_OF[table]
    skipped = {row_type.key, *_ORDER_COLUMNS, *list_prose_columns(table)}
    return tuple(name for name in rows.columns(row_type) if name not in skipped)


def _normalise_value(value: Any) -> Any:
    return value.strip() if isinstance(value, str) else "" if value is None else value


def get_properties(schema: Any) -> dict[str, Any]:
    """The properties of a JSON schema, or empty."""
    document = as_json(schema)
    properties = document.get("properties") if isinstance(document, dict) else None
    return properties if isinstance(properties, dict) else {}


def sort_properties(schema: Any) -> list[str]:
    """The names of the properties in the order of the form: `x-order`, else their order in the schema."""
    properties = get_properties(schema)
    orders = [part.get("x-order") if isinstance(part, dict) else None for part in properties.values()]
    ranks = [order if type(order) in (int, float) else number for number, order in enumerate(orders)]
    return [name for _, name in sorted(zip(ranks, properties, strict=True), key=itemgetter(0))]


def list_form_fields(snapshot: Snapshot, intent: str) -> frozenset[str]:
    """The fields that the forms of an intent collect; of every intent for ANY."""
    wanted, schemas = code(intent), snapshot.enabled_rows(rows.OutputSchema)
    chosen = schemas if wanted == ANY else find_rows_of_intent(snapshot, rows.OutputSchema, wanted)
    names = (name for schema in chosen for name in get_properties(schema.json_schema))
    return snapshot.table(rows.OutputSchema).memo.get(("fields", wanted), lambda: frozenset(names))


def list_server_tools(snapshot: Snapshot) -> list[str]:
    """The codes of the tools that rows of MCP servers allow by name: `mcp.server.tool`."""
    servers = snapshot.enabled_rows(rows.McpServer)
    return [
        build_tool_code(server, name)
        for server in servers
        for name in server.allowed_tools_json or ()
        if isinstance(server.allowed_tools_json, (list, tuple)) and isinstance(name, str)
    ]


def find_tool(snapshot: Snapshot, tool_code: str | None) -> rows.Tool | None:
    """The tool of a code, even if disabled. Returns None if there is none."""
    tools = index_rows(snapshot, rows.Tool, tool_code_key).get((tool_code or "").strip().lower(), ())
    return tools[0] if tools else None


def list_edges(snapshot: Snapshot, intent: str) -> tuple[rows.StateEdge, ...]:
    """The edges for an intent: its own, and those of ANY."""
    own = find_rows_of_intent(snapshot, rows.StateEdge, intent) if code(intent) != ANY else ()
    return (*own, *find_rows_of_intent(snapshot, rows.StateEdge, ANY))


def allows_move(graph: Iterable[rows.StateEdge], from_state: str, to_state: str) -> bool:
    """True when the states are equal or an edge allows the move; from ANY means: from somewhere."""
    start, end = code(from_state), code(to_state)
    return start == end or any(
        scope_fits(code(edge.from_state), start) and code(edge.to_state) in (end, ANY) for edge in graph
    )


def leads_to(graph: Collection[rows.StateEdge], state: str) -> bool:
    """True when some edge ends in the state, coming from another."""
    wanted = code(state)
    return any(code(edge.to_state) in (wanted, ANY) and code(edge.from_state) != wanted for edge in graph)
