"""Build documents from single values, and test simple claims on them with the engine's evaluation."""

from collections.abc import Mapping, Sequence
from typing import Any

from config_admin.health.rules.claims import NOTHING, FactClaim, FactPath, Keys

Json = Any


class Conflict(ValueError):
    """Two values need the same position."""


def build_document(values: Mapping[FactPath, Json], bases: Sequence[FactPath] = ()) -> dict[str, Json]:
    """The document with each value at its path, and an object at each of `bases`. Raises Conflict."""
    document: dict[str, Json] = {}
    for path in sorted(values, key=len):
        if values[path] is not NOTHING:
            _set_value(document, path, values[path])
    for base in bases:
        if get_value(document, base) is NOTHING:
            _set_value(document, base, {})
    return document


def _set_value(document: dict[str, Json], path: FactPath, value: Json) -> None:
    node: Any = document
    for key, following in zip(path, (*path[1:], None), strict=True):
        last = following is None
        fresh: Json = _copy(value) if last else [] if isinstance(following, int) else {}
        if isinstance(key, int):
            if not isinstance(node, list):
                raise Conflict(f"{path}: not a list")
            node.extend(None for _ in range(key + 1 - len(node)))
            node[key] = fresh if last or node[key] is None else node[key]
        else:
            if not isinstance(node, dict):
                raise Conflict(f"{path}: not an object")
            node[key] = fresh if last or node.get(key) is None else node[key]
        node = node[key]


def _copy(value: Json) -> Json:
    if isinstance(value, dict):
        return {key: _copy(inner) for key, inner in value.items()}
    return [_copy(inner) for inner in value] if isinstance(value, list) else value


def get_value(node: Json, keys: Keys) -> Json:
    """The value at a path, or NOTHING."""
    for key in keys:
        in_list = isinstance(node, (list, tuple)) and isinstance(key, int) and -len(node) <= key < len(node)
        if not in_list and not (isinstance(node, Mapping) and key in node):
            return NOTHING
        node = node[key]
    return node


def holds_in(claim: FactClaim, values: Mapping[FactPath, Json]) -> bool:
    """Whether the claim holds for a document with only these values."""
    try:
        document = build_document(values, (claim.base_path,) if claim.base_path else ())
    except Conflict:
        return False
    node = get_value(document, claim.base_path)
    context = document.get("context")
    root = context if claim.in_context else _as_facts(document, context if isinstance(context, dict) else {})
    return claim.holds_for(root if not claim.base_path else node, root) is claim.holds


def _as_facts(made: Mapping[str, Json], context: Mapping[str, Json]) -> dict[str, Json]:
    """The document as rules see it: values of the context are at the top and among the collected values too."""
    return {**context, "schemaJson": context, **made}
