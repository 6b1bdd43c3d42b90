"""What the fields of a form held when a form was done in this conversation: "same number as before"."""

from typing import Any

from convengine.engine.forms.form import Field, Form, get_form, is_meaningful
from convengine.engine.turn.dialogue_state import DialogueState
from convengine.engine.turn.rows import OutputSchema
from convengine.engine.turn.session import Session
from convengine.engine.turn.turn import Turn
from convengine.engine.values import Kind
from convengine.engine.values.language import get_language, list_languages
from convengine.engine.values.names import is_name_field

Json = Any
#: A form usually has one field of each of these kinds, so "same number" needs no name of a field.
_KINDS = (Kind.DATE, Kind.TIME, Kind.DATE_TIME, Kind.EMAIL, Kind.PHONE, Kind.POSTCODE, Kind.IBAN)
#: The parts of a stored moment.
_PARTS = {Kind.DATE: slice(0, 10), Kind.TIME: slice(11, 16)}


def find_former_values(session: Session, turn: Turn, form: Form) -> dict[str, Json]:
    """By path of a field of `form`: the value of the same field in the form that was done last.

    In another form, it is the only field with the same title, of the same kind, or for a name.
    """
    state = DialogueState.of(session)
    row = turn.snapshot.row(OutputSchema, state.done_schema) if state.done_schema is not None else None
    if row is None or not state.done_values:
        return {}
    done = get_form(turn.snapshot, row)
    held = [field for field in done.leaves if is_meaningful(state.done_values.get(field.path))]
    values: dict[str, Json] = {}
    for field in form.leaves:
        sources = [source for source in held if source.path == field.path] if done.schema == form.schema else []
        sources = sources or [source for source in held if _has_same_title(source, field)]
        sources = sources or [source for source in held if _is_alike(source, field)]
        if len(sources) == 1:
            value = state.done_values[sources[0].path]
            times = [source for source in held if source.spec.kind is Kind.TIME]
            if field.spec.kind is Kind.DATE_TIME and sources[0].spec.kind is Kind.DATE and len(times) == 1:
                value = f"{value}T{state.done_values[times[0].path]}"
            is_part = sources[0].spec.kind is Kind.DATE_TIME and field.spec.kind in _PARTS
            values[field.path] = str(value)[_PARTS[field.spec.kind]] if is_part else value
    return values


def _has_same_title(source: Field, field: Field) -> bool:
    return source.spec.kind is field.spec.kind and source.spec.title.casefold() == field.spec.title.casefold()


def _is_alike(source: Field, field: Field) -> bool:
    if field.spec.kind in _KINDS:
        return source.spec.kind in (field.spec.kind, *_list_moments(field.spec.kind))
    return field.spec.kind is Kind.TEXT and source.spec.kind is Kind.TEXT and _is_name(source) and _is_name(field)


def _list_moments(kind: Kind) -> tuple[Kind, ...]:
    """The other kinds whose values contain this kind, or are a part of it: a moment has a date and a time."""
    return {Kind.DATE: (Kind.DATE_TIME,), Kind.TIME: (Kind.DATE_TIME,), Kind.DATE_TIME: (Kind.DATE,)}.get(kind, ())


def _is_name(field: Field) -> bool:
    return any(is_name_field(field.spec, get_language(code)) for code in list_languages())
