"""Build documents from single values, and test simple claims on them with the engine's evaluation."""

from collections.abc import Mapping, Sequence
from typing import Any

from config_admin.health.rules.claims import NOTHING, FactClaim, Keys, Place

Json = Any


class Conflict(ValueError):
    """Two values need the same position."""


def document(values: Mapping[Place, Json], bases: Sequence[Place] = ()) -> dict[str, Json]:
    """The document with each value at its path, and an object at each of `bases`. Raises Conflict."""
    made: dict[str, Json] = {}
    for place in sorted(values, key=len):
        if values[place] is not NOTHING:
            _set_value(made, place, values[place])
    for base in bases:
        if at(made, base) is NOTHING:
            _set_value(made, base, {})
    return made


def _set_value(made: dict[str, Json], place: Place, value: Json) -> None:
    here: Any = made
    for key, following in zip(place, (*place[1:], None), strict=True):
        last = following is None
        fresh: Json = _copy(value) if last else [] if isinstance(following, int) else {}
        if isinstance(key, int):
            if not isinstance(here, list):
                raise Conflict(f"{place}: not a list")
            here.extend(None for _ in range(key + 1 - len(here)))
            here[key] = fresh if last or here[key] is None else here[key]
        else:
            if not isinstance(here, dict):
                raise Conflict(f"{place}: not an object")
            here[key] = fresh if last or here.get(key) is None else here[key]
        here = here[key]


def _copy(value: Json) -> Json:
    if isinstance(value, dict):
        return {key: _copy(inner) for key, inner in value.items()}
    return [_copy(inner) for inner in value] if isinstance(value, list) else value


def at(made: Json, keys: Keys) -> Json:
    """The value at a path, or NOTHING."""
    for key in keys:
        in_list = isinstance(made, (list, tuple)) and isinstance(key, int) and -len(made) <= key < len(made)
        if not in_list and not (isinstance(made, Mapping) and key in made):
            return NOTHING
        made = made[key]
    return made


def says(claim: FactClaim, values: Mapping[Place, Json]) -> bool:
    """Whether the claim holds for a document with only these values."""
    try:
        made = document(values, (claim.base_place,) if claim.base_place else ())
    except Conflict:
        return False
    node = at(made, claim.base_place)
    context = made.get("context")
    root = context if claim.in_context else _as_facts(made, context if isinstance(context, dict) else {})
    return claim.holds_for(root if not claim.base_place else node, root) is claim.holds


def _as_facts(made: Mapping[str, Json], context: Mapping[str, Json]) -> dict[str, Json]:
    """The document as rules see it: values of the context are at the top and among the collected values too."""
    return {**context, "schemaJson": context, **made}
