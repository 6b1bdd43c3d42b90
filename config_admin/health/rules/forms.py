"""The possible forms of a turn, and contexts that are complete, or lack something."""

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from config_admin.health.rules import phases
from config_admin.health.rules.claims import NOTHING, Place
from config_admin.health.rules.fields import of_schema
from config_admin.validation import relations
from convengine.engine.forms.form import Field, Form, get_form
from convengine.engine.forms.select import find_schema
from convengine.engine.turn import rows
from convengine.engine.turn.enums import RulePhase
from convengine.engine.turn.snapshot import Snapshot

Json = Any
#: Maximum other forms of the intent, and fields to leave out one by one.
_OTHERS, _LACKING = 2, 4


def in_force(
    snapshot: Snapshot, phase: RulePhase, intent: str, state: str, others: bool
) -> Iterator[rows.OutputSchema | None]:
    """The form of a turn: that of its intent and state.

    With `others` also those of the intent's other states: a rule may have moved the state since data were collected.
    """
    if not phases.knows_form(phase):
        yield None
        return
    first = _usable(snapshot, find_schema(snapshot, intent, state))
    yield first
    if others and phase != RulePhase.POST_SCHEMA_EXTRACTION:
        of_intent = relations.of_intent(snapshot, rows.OutputSchema, intent)
        yield from [row for row in of_intent if row is not first and _usable(snapshot, row)][:_OTHERS]


def judging(snapshot: Snapshot, intent: str, state: str) -> rows.OutputSchema | None:
    """The form of earlier turns, if this one has not reached collecting."""
    return _usable(snapshot, find_schema(snapshot, intent, state))


def _usable(snapshot: Snapshot, row: rows.OutputSchema | None) -> rows.OutputSchema | None:
    return row if row is not None and get_form(snapshot, row).problem is None else None


def field(snapshot: Snapshot, schema: rows.OutputSchema | None, place: Place) -> Field | None:
    """The field of the form at a path of the context."""
    if schema is None or place[0] != "context":
        return None
    path = ".".join(str(key) for key in place[1:])
    return get_form(snapshot, schema).field(path)


def may_stand(snapshot: Snapshot, schema: rows.OutputSchema | None, place: Place, value: Json) -> bool:
    """Whether its field accepts a value; other paths accept anything."""
    own = field(snapshot, schema, place)
    if own is None or schema is None or value is None:
        return True
    memo = snapshot.table(rows.OutputSchema).memo
    key = ("health breaks", schema.schema_id, place, repr(value))
    return memo.get(key, partial(_breaks, get_form(snapshot, schema), own, value)) is None


def _breaks(form: Form, own: Field, value: Json) -> str | None:
    return form.breaks(own, value)


def shapes(
    snapshot: Snapshot, schema: rows.OutputSchema | None, assigned: Mapping[Place, Json]
) -> Iterator[Mapping[Place, Json]]:
    """The assignment as it is, with the form complete, and with one field missing."""
    yield assigned
    if schema is None:
        return
    form = get_form(snapshot, schema)
    taken = {place[1] for place in assigned if place[0] == "context" and len(place) > 1}
    filled: dict[Place, Json] = {}
    for own in form.fields:
        if own.path not in taken and (value := _sample(form, own)) is not NOTHING:
            filled["context", own.path] = value
    yield {**filled, **assigned}
    required = [place for place in filled if (own_field := form.field(str(place[1]))) and own_field.required]
    for left_out in required[:_LACKING]:
        yield {**{place: value for place, value in filled.items() if place != left_out}, **assigned}


def _sample(form: Form, own: Field) -> Json:
    return next((value for value in of_schema(own.declared) if form.breaks(own, value) is None), NOTHING)
