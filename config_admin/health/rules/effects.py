"""What a rule changes, thing by thing, and what stands there in a session: two rules collide over one thing."""

from collections.abc import Iterator
from functools import lru_cache
from typing import Any, NamedTuple

from config_admin.health.rules.claims import NOTHING, Place
from config_admin.health.rules.document import at
from config_admin.validation import rule_writes
from convengine.domain import rows
from convengine.domain.session import Session
from convengine.domain.text import code
from convengine.rules import vocabulary
from convengine.rules.actions.contract import ActionValueError

Json = Any


class _Computed:
    def __repr__(self) -> str:
        return "COMPUTED"


#: Stands for a value that only the moment tells.
COMPUTED: Any = _Computed()


class Effect(NamedTuple):
    """One thing that a rule writes: where it stands, and the value, NOTHING where it is removed."""

    place: Place
    value: Json


def effects(rule: rows.Rule) -> tuple[Effect, ...]:
    """What a rule writes; none for a task or a hint, or where the value cannot be read."""
    return _effects(code(rule.action), rule.action_value)


@lru_cache(maxsize=16384)
def _effects(action: str, value: str | None) -> tuple[Effect, ...]:
    known = vocabulary.action(action)
    if known is None or known.custom:
        return ()
    try:
        return tuple(_written(action, value, known.parse(value)))
    except ActionValueError:
        return ()


def _written(action: str, value: str | None, said: Any) -> Iterator[Effect]:
    match action:
        case "SET_STATE" | "SET_INTENT":
            yield Effect(("state" if action == "SET_STATE" else "intent",), said)
        case "SET_DIALOGUE_ACT":
            yield Effect(("inputParams", "dialogue_act"), said.act.value)
            if said.sets_query:
                yield Effect(("standaloneQuery",), said.query)
        case "SET_INPUT_PARAM":
            yield from (Effect(("inputParams", key), one) for key, one in said.items())
        case "SET_CONTEXT":
            yield from (Effect(("context", *path.split(".")), one) for path, one in said.items())
        case "SET_PREFERENCE":
            yield Effect(("preference", said[0]), said[1])
        case "SET_JSON" | "GET_CONTEXT" | "GET_SCHEMA_JSON" | "GET_SESSION":
            rule = rows.Rule(
                rule_id=0,
                intent_code="",
                state_code="",
                rule_type="",
                match_pattern="",
                action=action,
                action_value=value,
            )
            yield from (Effect(("inputParams", key), COMPUTED) for key in rule_writes.params(rule))
        case "REMOVE_INPUT_PARAM":
            yield from (Effect(("inputParams", key), NOTHING) for key in said)
        case "CLEAR_CONTEXT":
            yield from (Effect(("context", *path.split(".")), NOTHING) for path in said)


def contested(one: rows.Rule, other: rows.Rule) -> tuple[Place, ...]:
    """The things that both rules write and do not plainly agree on; of one within the other, the inner one."""
    found: list[Place] = []
    for first in effects(one):
        for second in effects(other):
            longer, shorter = sorted((first.place, second.place), key=len, reverse=True)
            if longer[: len(shorter)] == shorter and not _agree(first, second):
                found.append(longer)
    return tuple(dict.fromkeys(found))


def _agree(one: Effect, other: Effect) -> bool:
    if one.place != other.place or COMPUTED in (one.value, other.value):
        return False
    same_kind = isinstance(one.value, bool) == isinstance(other.value, bool)
    return one.value is other.value or (same_kind and bool(one.value == other.value))


def stands(session: Session, place: Place) -> Json:
    """What stands in a session at the place of an effect."""
    match place[0]:
        case "state":
            return session.state
        case "intent":
            return session.intent
        case "standaloneQuery":
            return session.standalone_query
        case "preference":
            return session.preferences.get(str(place[1]), NOTHING)
        case "context":
            return at(session.context, place[1:])
        case _:
            return at(session.input_params, place[1:])
