"""Which names rules set: input params, and fields of the context."""

from collections.abc import Iterator
from typing import Any

from convengine.engine.rules import vocabulary
from convengine.engine.rules.actions import set_json
from convengine.engine.rules.actions.contract import ActionValueError
from convengine.engine.text.compare import code
from convengine.engine.turn import rows
from convengine.engine.turn.snapshot import Snapshot


def list_params(rule: rows.Rule) -> tuple[str, ...]:
    """The input params that a rule sets; none for an unreadable value."""
    match code(rule.action):
        case "SET_INPUT_PARAM":
            return tuple(_parse_action_value(rule) or ())
        case "SET_JSON":
            # Not parsed, because compiling the path of every rule would take long, and its name comes before the colon.
            return ((rule.action_value or "").partition(":")[0].strip() or set_json.DEFAULT_KEY,)
        case "GET_CONTEXT" | "GET_SCHEMA_JSON" | "GET_SESSION":
            name = _parse_action_value(rule)
            return (name,) if name else ()
        case _:
            return ()


def list_written_names(snapshot: Snapshot) -> frozenset[str]:
    """Every name that enabled rules set, so that templates may use it."""
    return snapshot.table(rows.Rule).memo.get("written_names", lambda: frozenset(_iterate_written_names(snapshot)))


def _iterate_written_names(snapshot: Snapshot) -> Iterator[str]:
    for rule in snapshot.enabled_rows(rows.Rule):
        yield from list_params(rule)
        if code(rule.action) == "SET_CONTEXT":
            yield from (path.split(".")[0] for path in _parse_action_value(rule) or ())


def _parse_action_value(rule: rows.Rule) -> Any:
    action = vocabulary.get_action(rule.action)
    try:
        return action.parse(rule.action_value) if action else None
    except ActionValueError:
        return None
