"""A form: the fields of an output schema, their names, and one validator (R8, pipeline-1 10.4)."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from jsonschema import Draft202012Validator
from referencing.exceptions import Unresolvable

from convengine.engine.forms.status import SchemaStatus, evaluate_form, get_validator, is_usable
from convengine.engine.text.words import Words, split_name, split_words
from convengine.engine.turn.fault import Fault
from convengine.engine.turn.rows import OutputSchema
from convengine.engine.turn.snapshot import Snapshot

Json = Any
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
    description: Words
    #: Number of objects around it.
    depth: int = 0

    @property
    def types(self) -> tuple[str, ...]:
        """The possible types without null; the types of the enum if none is declared."""
        declared = self.declared.get("type")
        listed = declared if isinstance(declared, list) else [declared] if declared else map(_find_type, self.choices)
        return tuple(dict.fromkeys(str(item) for item in listed if item != "null")) or ("string",)

    @property
    def type(self) -> str:
        """The first type."""
        return self.types[0]

    @property
    def nullable(self) -> bool:
        """True when the schema itself allows null."""
        declared = self.declared.get("type")
        return declared == "null" or (isinstance(declared, list) and "null" in declared) or None in self.choices

    @property
    def choices(self) -> tuple[Json, ...]:
        """The values of its enum, or its constant."""
        listed = self.declared.get("enum")
        if isinstance(listed, list):
            return tuple(listed)
        return (self.declared["const"],) if "const" in self.declared else ()

    @property
    def format(self) -> str | None:
        found = self.declared.get("format")
        return found if isinstance(found, str) else None

    @property
    def words(self) -> frozenset[str]:
        """Every word of its labels and description."""
        return frozenset(word for label in (*self.labels, self.description) for word in label)

    def texts(self, key: str) -> tuple[str, ...]:
        """The texts under an `x-…` key of the schema, which may be one text or a list."""
        found = self.declared.get(key)
        listed = found if isinstance(found, list) else [found]
        return tuple(text for text in listed if isinstance(text, str) and text.strip())


class Form:
    """A schema document, compiled lazily and cached for the life of the release."""

    def __init__(self, schema: Json) -> None:
        self.schema = schema

    @cached_property
    def problem(self) -> Fault | None:
        """Why the schema is unusable; null if it is usable."""
        if not is_usable(self.schema):
            remedy = 'Write {"type": "object", "properties": {…}} with at least one property.'
            found = type(self.schema).__name__ if not isinstance(self.schema, Mapping) else ", ".join(self.schema)
            return Fault("json_schema must be an object schema with properties", "json_schema", found, remedy)
        error = next(iter(_META.iter_errors(self.schema)), None)
        if error is None:
            return None
        at = "".join(f"/{part}" for part in error.absolute_path) or "/"
        remedy = f"Correct the schema at {at}. The dialect is JSON Schema draft 2020-12."
        return Fault(f"json_schema is no JSON Schema: {error.message}", "json_schema", error.instance, remedy)

    @cached_property
    def fields(self) -> tuple[Field, ...]:
        """The top-level fields, in order."""
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
    def validator(self) -> Draft202012Validator:
        """The one validator of this schema (R8)."""
        return get_validator(self.schema)

    def field(self, path: str) -> Field | None:
        """A leaf or top-level field by path."""
        return next((field for field in (*self.leaves, *self.fields) if field.path == path), None)

    def status(self, context: Json) -> SchemaStatus:
        """The status for a context. An empty schema is never complete (pipeline-2 5.5)."""
        if self.problem:
            return SchemaStatus(False, False)
        try:
            return evaluate_form(self.schema, context, self.validator)
        except (Unresolvable, RecursionError):
            return SchemaStatus(False, False)

    def breaks(self, field: Field, value: Json, *, partly: bool = False) -> str | None:
        """Validate a value with its field's own schema; null if it is valid.

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
    required = schema.get("required")
    required = required if isinstance(required, list) else []
    for name, found in schema["properties"].items():
        declared = found if isinstance(found, Mapping) else {}
        own = split_name(name)
        labels, description = _list_labels(own, outer, declared), split_words(_read_text(declared, "description"))
        field = Field(f"{prefix}{name}", declared, name in required, labels, description, _DEPTH - depth)
        yield field
        if depth > 1 and _has_inner_fields(declared):
            yield from _list_fields(declared, f"{field.path}.", (*outer, *own), depth - 1)


def _list_labels(own: Words, outer: Words, declared: Mapping[str, Json]) -> tuple[Words, ...]:
    listed = declared.get("x-labels")
    listed = listed if isinstance(listed, list) else [listed]
    named = [split_words(text) for text in (_read_text(declared, "title"), *listed) if isinstance(text, str)]
    return tuple(dict.fromkeys(label for label in (own, (*outer, *own) if outer else (), *named) if label))


def _read_text(declared: Mapping[str, Json], key: str) -> str:
    found = declared.get(key)
    return found if isinstance(found, str) else ""


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
