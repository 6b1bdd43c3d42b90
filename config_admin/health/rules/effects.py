"""What a rule does to the things that it writes, as values and in words, and the names of rules and scopes."""

from collections.abc import Mapping
from functools import lru_cache
from itertools import product
from typing import NamedTuple

from config_admin.health.rules.mentions import FactPath
from config_admin.health.rules.values import NOTHING
from convengine.engine.rules import vocabulary
from convengine.engine.rules.actions.contract import COMPUTED, REMOVED, ActionValueError
from convengine.engine.text.compare import code, shorten
from convengine.engine.turn import rows
from convengine.engine.turn.scope import ANY
from convengine.engine.turn.session import Session
from convengine.json_value import Json


class RuleEffect(NamedTuple):
    """One thing that a rule sets: its path and the value, NOTHING if it is removed."""

    path: FactPath
    value: Json


def list_effects(rule: rows.Rule) -> tuple[RuleEffect, ...]:
    """What a rule sets; none for a task or a hint, or an unreadable value."""
    return _list_effects(code(rule.action), rule.action_value)


@lru_cache(maxsize=16384)
def _list_effects(action: str, value: str | None) -> tuple[RuleEffect, ...]:
    """What an action writes; nothing for an unknown action or an invalid value."""
    known = vocabulary.get_action(action)
    if known is None:
        return ()
    try:
        writes = known.writes(known.parse(value))
    except ActionValueError:
        return ()
    return tuple(RuleEffect(write.path, NOTHING if write.value is REMOVED else write.value) for write in writes)


def find_contested(row: rows.Rule, other: rows.Rule) -> tuple[FactPath, ...]:
    """What both rules set, unless they plainly agree; of two nested things, the inner one."""
    contested: list[FactPath] = []
    for first, second in product(list_effects(row), list_effects(other)):
        longer, shorter = sorted((first.path, second.path), key=len, reverse=True)
        same_kind = isinstance(first.value, bool) == isinstance(second.value, bool)
        equal = first.value is second.value or (same_kind and bool(first.value == second.value))
        agree = first.path == second.path and COMPUTED not in (first.value, second.value) and equal
        if longer[: len(shorter)] == shorter and not agree:
            contested.append(longer)
    return tuple(dict.fromkeys(contested))


def read_value(session: Session, path: FactPath) -> Json:
    match path[0]:
        case "state":
            return session.state
        case "intent":
            return session.intent
        case "standaloneQuery":
            return session.standalone_query
        case "preference":
            return session.preferences.get(str(path[1]), NOTHING)
        case "context":
            return _get_value(session.context, path[1:])
        case _:
            return _get_value(session.input_params, path[1:])


def _get_value(node: Json, keys: FactPath) -> Json:
    """The value at the keys; NOTHING if there is none."""
    for key in keys:
        if not isinstance(node, Mapping) or key not in node:
            return NOTHING
        node = node[key]
    return node


_SHOWN = 60


def rule_name(rule: rows.Rule) -> str:
    """`Rule 12 (“cancel it”)`."""
    described = (rule.description or "").strip()
    return f"Rule {rule.rule_id} (“{shorten(described, _SHOWN)}”)" if described else f"Rule {rule.rule_id}"


def scope_name(intent: str, state: str) -> str:
    """`intent LOAN, state COLLECT`."""
    names = (("any intent", "intent", intent), ("any state", "state", state))
    return ", ".join(whole if code(name) == ANY else f"{noun} {code(name)}" for whole, noun, name in names)


def describe_effect(rule: rows.Rule, path: FactPath) -> str:
    """What a rule does to one thing, in words."""
    for effect in list_effects(rule):
        shorter = min(len(effect.path), len(path))
        if effect.path[:shorter] == path[:shorter]:
            name, value = _name_value(effect.path), effect.value
            if value is NOTHING:
                return f"removes {name}"
            shown = shorten(value if isinstance(value, str) else repr(value), _SHOWN)
            return f"sets {name} to {'what it finds' if value is COMPUTED else shown}"
    return f"writes {_name_value(path)}"


def _name_value(path: FactPath) -> str:
    match path[0]:
        case "state" | "intent":
            return f"the {path[0]}"
        case "standaloneQuery":
            return "the rewritten query"
        case "preference":
            return f"the preference {path[1]}"
        case "inputParams" if path[1:] == ("dialogue_act",):
            return "the dialogue act"
        case "inputParams":
            return f"the input param {path[1]}"
        case _:
            return ".".join(str(key) for key in path)
