"""What of a model's answer may go into the form: declared fields, of their type, unbroken (pipeline-2 5.2 (9))."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

from convengine.schemas.form import Field, Form
from convengine.schemas.status import meaningful
from convengine.schemas.values import VALUE_INVALID, VALUE_VIOLATES_SCHEMA, convert

Json = Any
#: The schema has no such field.
UNDECLARED = "UNDECLARED"
#: Another reader found a value of the field in the same message.
ALREADY_READ = "ALREADY_READ"
#: How deep an answer is looked at.
_DEPTH = 16


@dataclass
class Sanitised:
    """What is left of an answer, and what was left out."""

    #: To be merged into the context.
    values: dict[str, Json] = field(default_factory=dict)
    #: Dotted paths of what is left.
    fields: list[str] = field(default_factory=list)
    #: Dotted path -> code of why it was left out.
    rejected: dict[str, str] = field(default_factory=dict)
    #: Fields that the answer does not change.
    settled: Collection[str] = ()

    @property
    def invalid(self) -> dict[str, str]:
        """What was said of the form's own fields and cannot stand there: what an answer may ask for again."""
        return {path: why for path, why in self.rejected.items() if why not in (UNDECLARED, ALREADY_READ)}


def sanitised(form: Form, answer: Json, settled: Collection[str] = ()) -> Sanitised:
    """The usable part of an answer. What is no object holds nothing; blank values are no values and no faults."""
    found = Sanitised(settled=settled)
    if isinstance(answer, Mapping):
        found.values = _object(found, form, form.schema, answer, "")
    return found


def _object(
    found: Sanitised, form: Form, schema: Mapping[str, Json], values: Mapping[str, Json], prefix: str
) -> dict[str, Json]:
    """The declared members of an object that hold something."""
    declared = schema.get("properties")
    declared = declared if isinstance(declared, Mapping) else {}
    required = schema.get("required")
    kept: dict[str, Json] = {}
    for name, value in values.items():
        path = f"{prefix}{name}"
        if name not in declared:
            found.rejected[path] = UNDECLARED
        elif meaningful(value) and prefix.count(".") < _DEPTH:
            own = declared[name] if isinstance(declared[name], Mapping) else {}
            one = _known(form, path, own) or Field(path, own, isinstance(required, list) and name in required, (), ())
            taken = _value(found, form, one, value)
            if meaningful(taken):
                kept[name] = taken
    return kept


def _known(form: Form, path: str, declared: Mapping[str, Json]) -> Field | None:
    """The form's own field, where the path leads to nothing else."""
    known = form.field(path)
    return known if known is not None and known.declared is declared else None


def _value(found: Sanitised, form: Form, one: Field, value: Json) -> Json:
    """The value of one field; null when it is not taken."""
    if isinstance(value, Mapping) and isinstance(one.declared.get("properties"), Mapping):
        return _object(found, form, one.declared, value, f"{one.path}.")
    if one.path in found.settled:
        found.rejected[one.path] = ALREADY_READ
        return None
    taken = _items(found, form, one, value) if "array" in one.types else value
    if isinstance(taken, list) and not taken:
        return None
    taken, problem = _coerced(form, one, taken)
    if problem:
        found.rejected[one.path] = problem
        return None
    if meaningful(taken):
        found.fields.append(one.path)
    return taken


def _items(found: Sanitised, form: Form, one: Field, value: Json) -> Json:
    """A list without the entries that do not fit; a single value for a list is a list of one."""
    items = one.declared.get("items")
    entries = value if isinstance(value, list) else [value]
    if not isinstance(items, Mapping):
        return entries
    kept: list[Json] = []
    for place, entry in enumerate(entries):
        if isinstance(entry, Mapping) and isinstance(items.get("properties"), Mapping):
            taken: Json = _object(found, form, items, entry, f"{one.path}.{place}.")
            problem = None
        else:
            taken, problem = _coerced(form, Field(f"{one.path}.{place}", items, True, (), ()), entry)
        if problem:
            found.rejected[f"{one.path}.{place}"] = problem
        elif meaningful(taken):
            kept.append(taken)
    return kept


def _coerced(form: Form, one: Field, value: Json) -> tuple[Json, str | None]:
    """The value after one safe change of its type, or the code of why it cannot stand there."""
    fits = not form.breaks(one, value, partly=True)
    if isinstance(value, float) and value.is_integer() and "integer" in one.types:
        return (int(value), None) if fits else (value, VALUE_VIOLATES_SCHEMA)
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        return (value, None) if fits else (None, _fault(one, value))
    if fits and not isinstance(value, str):
        return value, None
    # As words are read out of a message: numbers in texts, choices in other spellings, dates in other orders.
    read = convert(str(value).strip(), one, form)
    if read.problem is None:
        return read.value, None
    return (value, None) if fits else (None, read.problem)


def _fault(one: Field, value: Json) -> str:
    scalar = isinstance(value, bool) and "boolean" in one.types
    whole = (isinstance(value, Mapping) and "object" in one.types) or (isinstance(value, list) and "array" in one.types)
    return VALUE_VIOLATES_SCHEMA if scalar or whole else VALUE_INVALID
