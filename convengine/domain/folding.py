"""What changed between two events of a turn, and the state that folding those changes gives back (R16, R33).

Stored: `_meta.changed = {set: {pointer: value}, unset: [pointer]}`. Pointers are JSON pointers into one document:
`/context/…`, `/inputParams/…`, and the session facts at the top. Every reader folds; no reader stores.
"""

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from convengine.domain.facts import session_scalars
from convengine.domain.params import NESTING, REPEATED, without
from convengine.domain.session import Session

Json = Any
Change = dict[str, Json]

#: Facts that never differ inside a turn or can be had from elsewhere, and so are not part of the document.
_LEFT_OUT = frozenset({"conversationId", "turnNo", "previousTurn", "resolvedUserInput", "contextSummary"})
_NOT_TOLD = NESTING | REPEATED


def document(session: Session) -> dict[str, Json]:
    """The foldable state of a session: facts at the top, `context`, `inputParams`, `schemaFields`, `epoch`."""
    schema = session.resolved_schema
    properties = schema.json_schema.get("properties") if schema and isinstance(schema.json_schema, Mapping) else None
    return {
        **without(session_scalars(session), _LEFT_OUT),
        "context": session.context,
        "inputParams": without(session.input_params, _NOT_TOLD),
        "userInputParams": session.user_input_params,
        "schemaFields": list(properties) if isinstance(properties, dict) else None,
        "epoch": session.epoch,
    }


@cache
def empty() -> Mapping[str, Json]:
    """The document before the first event of a turn."""
    return document(Session(""))


def difference(old: Mapping[str, Json], new: Mapping[str, Json]) -> Change:
    """The change that turns one document into the other; empty when they are equal."""
    sets: dict[str, Json] = {}
    unsets: list[str] = []
    for pointer, value, gone in _walk(old, new, ""):
        if gone:
            unsets.append(pointer)
        else:
            sets[pointer] = value
    return {**({"set": sets} if sets else {}), **({"unset": unsets} if unsets else {})}


def apply(state: Mapping[str, Json], change: Mapping[str, Json]) -> Mapping[str, Json]:
    """The document after a change; the one given is not touched."""
    for pointer, value in (change.get("set") or {}).items():
        state = _put(state, _parts(pointer), value)
    for pointer in change.get("unset") or ():
        state = _drop(state, _parts(pointer))
    return state


def folded(state: Mapping[str, Json], key: str) -> Json:
    """What a payload key that was stored as a reference stands for, in this state."""
    context = state.get("context") or {}
    if key == "context":
        return context
    if key in ("inputParams", "sessionInputParams"):
        return state.get("inputParams") or {}
    values = schema_part(state)
    if key == "schemaJson":
        return values
    facts = {name: value for name, value in state.items() if name not in _INTERNAL}
    facts["resolvedUserInput"] = facts.get("standaloneQuery") or facts.get("userText")
    return {**facts, "context": context, "schemaJson": values}


def schema_part(state: Mapping[str, Json]) -> Json:
    """The context reduced to the fields of the resolved schema, the whole context without one."""
    context, names = state.get("context") or {}, state.get("schemaFields")
    return context if names is None else {key: value for key, value in context.items() if key in names}


_INTERNAL = frozenset({"context", "inputParams", "userInputParams", "schemaFields", "epoch"})


_ABSENT = object()


def _walk(old: Mapping[str, Json], new: Mapping[str, Json], at: str) -> Iterator[tuple[str, Json, bool]]:
    for key, value in new.items():
        before = old.get(key, _ABSENT)
        if before is value:
            continue
        here = f"{at}/{_escaped(key)}"
        if isinstance(before, dict) and isinstance(value, dict) and before and value:
            yield from _walk(before, value, here)
        elif type(before) is not type(value) or before != value:
            yield here, value, False
    for key in old:
        if key not in new:
            yield f"{at}/{_escaped(key)}", None, True


def _escaped(key: str) -> str:
    return str(key).replace("~", "~0").replace("/", "~1")


def _parts(pointer: str) -> list[str]:
    return [part.replace("~1", "/").replace("~0", "~") for part in pointer.split("/")[1:]]


def _put(state: Mapping[str, Json], parts: list[str], value: Json) -> dict[str, Json]:
    first, *rest = parts
    if not rest:
        return {**state, first: value}
    inner = state.get(first)
    return {**state, first: _put(inner if isinstance(inner, Mapping) else {}, rest, value)}


def _drop(state: Mapping[str, Json], parts: list[str]) -> dict[str, Json]:
    first, *rest = parts
    if not rest:
        return {key: value for key, value in state.items() if key != first}
    inner = state.get(first)
    return {**state, first: _drop(inner, rest)} if isinstance(inner, Mapping) else dict(state)
