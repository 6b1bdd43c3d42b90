"""A form: the fields of an output schema, their names, and the status.

jsonschema validates single values; this module decides which values are missing.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from jsonschema import Draft202012Validator
from referencing.exceptions import Unresolvable

from convengine.engine.cached_property import cached_property
from convengine.engine.forms.composed_schemas import (
    list_inapplicable,
    list_required,
    list_required_by_parts,
    sort_declared,
    write_out,
)
from convengine.engine.forms.schema_validator import get_validator
from convengine.engine.text.compare import Words, split_name, split_words
from convengine.engine.turn.fault import Fault
from convengine.engine.turn.field_options import OPTIONS_FROM
from convengine.engine.turn.rows import OutputSchema
from convengine.engine.turn.snapshot import Snapshot
from convengine.engine.understanding.field import FieldSpec, field_spec
from convengine.json_value import Json


@dataclass(frozen=True)
class SchemaStatus:
    complete: bool
    has_any_value: bool
    #: Dotted paths of required values that are missing or invalid, in schema order.
    missing: tuple[str, ...] = ()
    #: Present values that violate type, enum, pattern, format or limits, with the reason.
    invalid: Mapping[str, str] = field(default_factory=dict)
    #: Optional fields with a question of their own (`x-ask`) that were never answered; a null is an answer.
    unanswered: tuple[str, ...] = ()
    #: For each missing field with an enum, its values.
    options: Mapping[str, Sequence[Json]] = field(default_factory=dict)


def is_usable(schema: Json) -> bool:
    """True for an object schema with properties; others cannot be collected."""
    return isinstance(schema, Mapping) and isinstance(schema.get("properties"), Mapping)


def is_meaningful(value: Json) -> bool:
    """True unless null, a blank text, or an empty list or object. 0 and false have meaning."""
    if value is None:
        return False
    if isinstance(value, str):
        return bool(value.strip())
    return bool(value) if isinstance(value, (list, tuple, Mapping)) else True


def evaluate_form(schema: Json, context: Json, validator: Draft202012Validator | None = None) -> SchemaStatus:
    """The status of `schema` for `context`. Callers may pass a cached `validator`. An unusable schema is incomplete."""
    values = context if isinstance(context, Mapping) else {}
    if not is_usable(schema):
        return SchemaStatus(False, False)
    properties = schema["properties"]
    has_any = any(is_meaningful(values.get(name)) for name in properties)
    absent = list(_list_missing(schema, values, ""))
    invalid = _find_invalid(schema, values, set(absent), validator or get_validator(schema))
    ordered = _sort_by_schema(schema, [*absent, *(path for path in invalid if path not in absent)])
    options = {path: choices for path in ordered if (choices := _find_enum(schema, path))}
    unanswered = tuple(_list_unanswered(schema, values))
    return SchemaStatus(not ordered and not unanswered, has_any, tuple(ordered), invalid, unanswered, options)


def _list_missing(schema: Mapping[str, Json], value: Mapping[str, Json], prefix: str) -> Iterator[str]:
    properties = schema.get("properties")
    properties = properties if isinstance(properties, Mapping) else {}
    required = list(dict.fromkeys(list_required(schema, value)))
    for name in [*properties, *(name for name in required if name not in properties)]:
        declared = properties.get(name)
        declared = declared if isinstance(declared, Mapping) else {}
        yield from _list_missing_of_field(declared, value.get(name), f"{prefix}{name}", name in required)


def _list_unanswered(schema: Mapping[str, Json], values: Mapping[str, Json]) -> Iterator[str]:
    required = schema.get("required")
    left_out = {*(required if isinstance(required, list) else ()), *list_inapplicable(schema, values), *values}
    for name, declared in schema["properties"].items():
        # A choice without options cannot be answered.
        is_askable = isinstance(declared, Mapping) and declared.get("x-ask") and declared.get("enum") != []
        if is_askable and name not in left_out:
            yield name


def _list_missing_of_field(declared: Mapping[str, Json], value: Json, path: str, required: bool) -> Iterator[str]:
    if value is None or (isinstance(value, str) and not value.strip()):
        if required:
            yield path
        return
    if isinstance(value, Mapping):
        if required or is_meaningful(value):
            yield from _list_missing(declared, value, f"{path}.")
    elif isinstance(value, (list, tuple)):
        if required and not value and declared.get("minItems", 0):
            yield path
        items = declared.get("items")
        if isinstance(items, Mapping) and "properties" in items:
            for index, item in enumerate(value):
                if isinstance(item, Mapping):
                    yield from _list_missing(items, item, f"{path}.{index}.")


def _find_invalid(
    schema: Mapping[str, Json], values: Mapping[str, Json], absent: set[str], validator: Draft202012Validator
) -> dict[str, str]:
    declared = set(schema["properties"])
    present = {name: value for name, value in values.items() if name in declared and value is not None}
    messages: dict[str, str] = {}
    for error in validator.iter_errors(present):
        path = ".".join(str(part) for part in error.absolute_path)
        if error.validator == "required" or not path or path in absent:
            continue
        messages.setdefault(path, error.message)
    return messages


def _sort_by_schema(schema: Mapping[str, Json], paths: list[str]) -> list[str]:
    """In the order of `required`, then of the properties. A JSON column keeps the order of lists only."""
    required = schema.get("required")
    names = [*(required if isinstance(required, list) else ()), *schema["properties"]]
    order = {name: index for index, name in reversed(list(enumerate(names)))}
    return sorted(paths, key=lambda path: order.get(path.split(".")[0], len(order)))


def _find_enum(schema: Mapping[str, Json], path: str) -> list[Json]:
    node: Json = schema
    for part in path.split("."):
        if not isinstance(node, Mapping):
            return []
        node = node.get("items") if part.isdigit() else (node.get("properties") or {}).get(part)
    choices = node.get("enum") if isinstance(node, Mapping) else None
    if choices is None and isinstance(node, Mapping) and "x-options" in node:
        choices = [option.value for option in field_spec(path, node).options]
    if not isinstance(choices, list):
        return []
    return [choice if isinstance(choice, str) else json.dumps(choice) for choice in choices if choice is not None]


#: Maximum depth of nested fields.
_DEPTH = 4
#: Schema errors that only mean that values are still missing.
_INCOMPLETE = frozenset({"required", "minItems", "minProperties", "dependentRequired"})
_META = Draft202012Validator(Draft202012Validator.META_SCHEMA)


@dataclass(frozen=True, eq=False)
class Field:
    """One field of a form, compared by identity."""

    #: Dotted path: `address.city`.
    path: str
    declared: Mapping[str, Json]
    required: bool
    #: Names that people use: the property name in words, the title, each of `x-labels`.
    labels: tuple[Words, ...]
    #: Number of objects around it.
    depth: int = 0

    @cached_property
    def types(self) -> tuple[str, ...]:
        """The possible types without null; the types of the enum if none is declared."""
        declared = self.declared.get("type")
        listed = declared if isinstance(declared, list) else [declared] if declared else map(_find_type, self.choices)
        return tuple(dict.fromkeys(str(item) for item in listed if item != "null")) or ("string",)

    @property
    def type(self) -> str:
        return self.types[0]

    @cached_property
    def choices(self) -> tuple[Json, ...]:
        """The values of its enum or its options, or its constant."""
        listed = self.declared.get("enum")
        if isinstance(listed, list):
            return tuple(listed)
        return tuple(option.value for option in self.spec.options)

    @cached_property
    def spec(self) -> FieldSpec:
        """What reading its values needs."""
        return field_spec(self.path, self.declared)

    @property
    def lacks_options(self) -> bool:
        """True for a choice whose data gave no options."""
        return OPTIONS_FROM in self.declared and not self.spec.options

    def texts(self, key: str) -> tuple[str, ...]:
        """The texts under an `x-…` key of the schema, which may be one text or a list."""
        value = self.declared.get(key)
        listed = value if isinstance(value, list) else [value]
        return tuple(text for text in listed if isinstance(text, str) and text.strip())


class Form:
    """A schema document, compiled lazily and cached for the life of the release."""

    def __init__(self, schema: Json) -> None:
        self.schema = write_out(schema)
        #: The last context, which is immutable, and its status: the steps of a turn ask for it about a dozen times.
        self._last: tuple[Json, SchemaStatus] = (object(), SchemaStatus(False, False))

    @cached_property
    def problem(self) -> Fault | None:
        """Why the schema is unusable. Returns None if it is usable."""
        if not is_usable(self.schema):
            remedy = 'Write {"type": "object", "properties": {…}}.'
            content = type(self.schema).__name__ if not isinstance(self.schema, Mapping) else ", ".join(self.schema)
            return Fault("json_schema must be an object schema with properties", "json_schema", content, remedy)
        error = next(iter(_META.iter_errors(self.schema)), None)
        if error is None:
            return None
        at = "".join(f"/{part}" for part in error.absolute_path) or "/"
        remedy = f"Correct the schema at {at}. The dialect is JSON Schema draft 2020-12."
        return Fault(f"json_schema is not a valid JSON Schema: {error.message}", "json_schema", error.instance, remedy)

    @cached_property
    def fields(self) -> tuple[Field, ...]:
        """The top-level fields, in the order of the form."""
        return tuple(field for field in self._all if not field.depth)

    @cached_property
    def leaves(self) -> tuple[Field, ...]:
        """The fields with values: fields inside objects instead of the objects.

        A name with a dot is left out, because its path would be ambiguous.
        """
        return tuple(
            field
            for field in self._all
            if not _has_inner_fields(field.declared) and field.depth == field.path.count(".")
        )

    @cached_property
    def _all(self) -> tuple[Field, ...]:
        return tuple(_list_fields(self.schema, "", (), _DEPTH)) if is_usable(self.schema) else ()

    @cached_property
    def option_sources(self) -> Mapping[str, Mapping[str, Json]]:
        """By the path of a field, where its options come from."""
        declared = {field.path: field.declared.get(OPTIONS_FROM) for field in self.leaves}
        return {path: source for path, source in declared.items() if isinstance(source, Mapping)}

    @cached_property
    def validator(self) -> Draft202012Validator:
        return get_validator(self.schema)

    def describe_fields(self) -> dict[str, dict[str, Json]]:
        """For each top-level field, what a prompt or a form needs: description, type, enumOptions."""
        return {
            field.path: {
                "description": field.declared.get("description") or field.declared.get("title") or "",
                "type": field.declared.get("type"),
                **({"enumOptions": list(field.choices)} if field.choices else {}),
            }
            for field in self.fields
        }

    def field(self, path: str) -> Field | None:
        """A leaf or top-level field by path."""
        return next((field for field in (*self.leaves, *self.fields) if field.path == path), None)

    def status(self, context: Json) -> SchemaStatus:
        """The status for a context. An unusable schema is never complete."""
        known, status = self._last
        if known is not context:
            status = SchemaStatus(False, False)
            with suppress(Unresolvable, RecursionError):
                status = status if self.problem else evaluate_form(self.schema, context, self.validator)
            self._last = context, status
        return status

    def breaks(self, field: Field, value: Json, *, partly: bool = False) -> str | None:
        """Validate a value with its field's own schema. Returns None if it is valid.

        `partly`: something may be missing that is given later.
        """
        try:
            errors = self.validator.evolve(schema=field.declared).iter_errors(value)
            error = next((item for item in errors if not partly or item.validator not in _INCOMPLETE), None)
        except (Unresolvable, RecursionError) as problem:
            return str(problem)
        return str(error.message) if error else None


def get_form(snapshot: Snapshot, row: OutputSchema) -> Form:
    """The form of a schema row, made once per release."""
    return snapshot.table(OutputSchema).memo.get(("form", row.schema_id), lambda: Form(row.json_schema))


def _list_fields(schema: Mapping[str, Json], prefix: str, outer: Words, depth: int) -> Iterator[Field]:
    listed = schema.get("required")
    # Nobody may skip a field that a part requires. An object that is missing is asked for by what it always requires.
    required = {*(listed if isinstance(listed, list) else ()), *(() if prefix else list_required_by_parts(schema))}
    for name, declared in sort_declared(schema["properties"]):
        own = split_name(name)
        labels = _list_labels(own, outer, declared)
        field = Field(f"{prefix}{name}", declared, name in required, labels, _DEPTH - depth)
        yield field
        if depth > 1 and _has_inner_fields(declared):
            yield from _list_fields(declared, f"{field.path}.", (*outer, *own), depth - 1)


def _list_labels(own: Words, outer: Words, declared: Mapping[str, Json]) -> tuple[Words, ...]:
    listed = declared.get("x-labels")
    listed = listed if isinstance(listed, list) else [listed]
    named = [split_words(text) for text in (declared.get("title"), *listed) if isinstance(text, str)]
    return tuple(dict.fromkeys(label for label in (own, (*outer, *own) if outer else (), *named) if label))


def _has_inner_fields(declared: Mapping[str, Json]) -> bool:
    return isinstance(declared.get("properties"), Mapping) and bool(declared["properties"])


def _find_type(value: Json) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, (int, float)):
        return "integer" if isinstance(value, int) else "number"
    return "string" if isinstance(value, str) else "array" if isinstance(value, list) else "object"
