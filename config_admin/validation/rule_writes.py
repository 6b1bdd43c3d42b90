"""Which names rules write: input params, and fields of the context."""

from collections.abc import Iterator
from typing import Any

from convengine.domain import rows
from convengine.domain.snapshot import Snapshot
from convengine.domain.text import code
from convengine.rules import vocabulary
from convengine.rules.actions import set_json
from convengine.rules.actions.contract import ActionValueError


def params(rule: rows.Rule) -> tuple[str, ...]:
    """The input params that a rule sets; none for a value that cannot be read."""
    match code(rule.action):
        case "SET_INPUT_PARAM":
            return tuple(_parsed(rule) or ())
        case "SET_JSON":
            # Not parsed: compiling the path of every rule would take long, and its name stands before the colon.
            return ((rule.action_value or "").partition(":")[0].strip() or set_json.DEFAULT_KEY,)
        case "GET_CONTEXT" | "GET_SCHEMA_JSON" | "GET_SESSION":
            name = _parsed(rule)
            return (name,) if name else ()
        case _:
            return ()


def names(snapshot: Snapshot) -> frozenset[str]:
    """Every name that enabled rules give something to, so that templates may use it."""
    return snapshot.table(rows.Rule).memo.get("written_names", lambda: frozenset(_names(snapshot)))


def _names(snapshot: Snapshot) -> Iterator[str]:
    for rule in snapshot.enabled(rows.Rule):
        yield from params(rule)
        if code(rule.action) == "SET_CONTEXT":
            yield from (path.split(".")[0] for path in _parsed(rule) or ())


def _parsed(rule: rows.Rule) -> Any:
    action = vocabulary.action(rule.action)
    try:
        return action.parse(rule.action_value) if action else None
    except ActionValueError:
        return None
