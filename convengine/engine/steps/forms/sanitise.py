"""What part of a model's answer may go into the form: declared fields with valid values of their type.

Source: pipeline-2 5.2 (9).
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

from convengine.engine.forms.form import Field, Form
from convengine.engine.forms.status import is_meaningful
from convengine.engine.forms.values import VALUE_INVALID, VALUE_VIOLATES_SCHEMA, convert_value

Json = Any
#: The schema has no such field.
UNDECLARED = "UNDECLARED"
#: Another reader found a value of the field in the same message.
ALREADY_READ = "ALREADY_READ"
#: Maximum depth of an answer.
_DEPTH = 16


@dataclass
class SanitisedValues:
    """The accepted part of an answer, and the rejected part."""

    #: Values to merge into the context.
    values: dict[str, Json] = field(default_factory=dict)
    #: Dotted paths of accepted values.
    fields: list[str] = field(default_factory=list)
    #: Dotted path -> code of the reason.
    rejected: dict[str, str] = field(default_factory=dict)
    #: Fields that the answer must not change.
    settled: Collection[str] = ()

    @property
    def invalid(self) -> dict[str, str]:
        """Rejected values of the form's own fields, which the engine may ask for again."""
        return {path: why for path, why in self.rejected.items() if why not in (UNDECLARED, ALREADY_READ)}


def sanitise_values(form: Form, answer: Json, settled: Collection[str] = ()) -> SanitisedValues:
    """The usable part of an answer. Blank values are neither values nor faults."""
    result = SanitisedValues(settled=settled)
    if isinstance(answer, Mapping):
        result.values = _sanitise_object(result, form, form.schema, answer, "")
    return result


def _sanitise_object(
    result: SanitisedValues, form: Form, schema: Mapping[str, Json], values: Mapping[str, Json], prefix: str
) -> dict[str, Json]:
    """The declared members of an object that are not empty."""
    declared = schema.get("properties")
    declared = declared if isinstance(declared, Mapping) else {}
    required = schema.get("required")
    values_kept: dict[str, Json] = {}
    for name, value in values.items():
        path = f"{prefix}{name}"
        if name not in declared:
            result.rejected[path] = UNDECLARED
        elif is_meaningful(value) and prefix.count(".") < _DEPTH:
            field_schema = declared[name] if isinstance(declared[name], Mapping) else {}
            form_field = _find_own_field(form, path, field_schema) or Field(
                path, field_schema, isinstance(required, list) and name in required, (), ()
            )
            sanitised = _sanitise_value(result, form, form_field, value)
            if is_meaningful(sanitised):
                values_kept[name] = sanitised
    return values_kept


def _find_own_field(form: Form, path: str, declared: Mapping[str, Json]) -> Field | None:
    """The form's own field, if the path is unambiguous."""
    known = form.field(path)
    return known if known is not None and known.declared is declared else None


def _sanitise_value(result: SanitisedValues, form: Form, form_field: Field, value: Json) -> Json:
    """The value of one field, or null."""
    if isinstance(value, Mapping) and isinstance(form_field.declared.get("properties"), Mapping):
        return _sanitise_object(result, form, form_field.declared, value, f"{form_field.path}.")
    if form_field.path in result.settled:
        result.rejected[form_field.path] = ALREADY_READ
        return None
    sanitised = _sanitise_items(result, form, form_field, value) if "array" in form_field.types else value
    if isinstance(sanitised, list) and not sanitised:
        return None
    sanitised, problem = _coerce_value(form, form_field, sanitised)
    if problem:
        result.rejected[form_field.path] = problem
        return None
    if is_meaningful(sanitised):
        result.fields.append(form_field.path)
    return sanitised


def _sanitise_items(result: SanitisedValues, form: Form, form_field: Field, value: Json) -> Json:
    """A list without invalid entries; a single value becomes a list of one."""
    items = form_field.declared.get("items")
    entries = value if isinstance(value, list) else [value]
    if not isinstance(items, Mapping):
        return entries
    values_kept: list[Json] = []
    for index, entry in enumerate(entries):
        if isinstance(entry, Mapping) and isinstance(items.get("properties"), Mapping):
            sanitised: Json = _sanitise_object(result, form, items, entry, f"{form_field.path}.{index}.")
            problem = None
        else:
            sanitised, problem = _coerce_value(form, Field(f"{form_field.path}.{index}", items, True, (), ()), entry)
        if problem:
            result.rejected[f"{form_field.path}.{index}"] = problem
        elif is_meaningful(sanitised):
            values_kept.append(sanitised)
    return values_kept


def _coerce_value(form: Form, form_field: Field, value: Json) -> tuple[Json, str | None]:
    """The value after one safe type conversion, or the code of the reason."""
    fits = not form.breaks(form_field, value, partly=True)
    if isinstance(value, float) and value.is_integer() and "integer" in form_field.types:
        return (int(value), None) if fits else (value, VALUE_VIOLATES_SCHEMA)
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        return (value, None) if fits else (None, _describe_fault(form_field, value))
    if fits and not isinstance(value, str):
        return value, None
    # Converted like words of a message: numbers in texts, other spellings of choices, other orders of dates.
    converted = convert_value(str(value).strip(), form_field, form)
    if converted.problem is None:
        return converted.value, None
    return (value, None) if fits else (None, converted.problem)


def _describe_fault(form_field: Field, value: Json) -> str:
    scalar = isinstance(value, bool) and "boolean" in form_field.types
    whole = (isinstance(value, Mapping) and "object" in form_field.types) or (
        isinstance(value, list) and "array" in form_field.types
    )
    return VALUE_VIOLATES_SCHEMA if scalar or whole else VALUE_INVALID
