"""A schema made ready for collecting: its fields, what they are called, and one validator (R8, pipeline-1 10.4)."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from jsonschema import Draft202012Validator
from referencing.exceptions import Unresolvable

from convengine.domain.fault import Fault
from convengine.domain.rows import OutputSchema
from convengine.domain.snapshot import Snapshot
from convengine.schemas.status import SchemaStatus, evaluate, usable, validator_of
from convengine.schemas.words import Words, name_words, words

Json = Any
#: How deep fields of fields are looked at.
_DEPTH = 4
#: What a schema says of values that are not there yet.
_INCOMPLETE = frozenset({"required", "minItems", "minProperties", "dependentRequired"})
_META = Draft202012Validator(Draft202012Validator.META_SCHEMA)


@dataclass(frozen=True, eq=False)
class Field:
    """One field of a form. Two of them are the same only when they are the same object."""

    #: Dotted from the top: `address.city`.
    path: str
    declared: Mapping[str, Json]
    required: bool
    #: What people may call it: the name in words, the title, each of `x-labels`.
    labels: tuple[Words, ...]
    description: Words
    #: In how many objects it stands.
    depth: int = 0

    @property
    def types(self) -> tuple[str, ...]:
        """The types that a value may have, null left out; those of the enum where none is declared."""
        declared = self.declared.get("type")
        listed = declared if isinstance(declared, list) else [declared] if declared else map(_type_of, self.choices)
        return tuple(dict.fromkeys(str(one) for one in listed if one != "null")) or ("string",)

    @property
    def type(self) -> str:
        """The first of the types."""
        return self.types[0]

    @property
    def nullable(self) -> bool:
        """True when the schema itself permits null."""
        declared = self.declared.get("type")
        return declared == "null" or (isinstance(declared, list) and "null" in declared) or None in self.choices

    @property
    def choices(self) -> tuple[Json, ...]:
        """The values of its enum, or its one constant."""
        listed = self.declared.get("enum")
        if isinstance(listed, list):
            return tuple(listed)
        return (self.declared["const"],) if "const" in self.declared else ()

    @property
    def format(self) -> str | None:
        """The name of its format."""
        found = self.declared.get("format")
        return found if isinstance(found, str) else None

    @property
    def words(self) -> frozenset[str]:
        """Every word of its labels and description."""
        return frozenset(word for label in (*self.labels, self.description) for word in label)

    def texts(self, key: str) -> tuple[str, ...]:
        """The texts under an `x-…` key of the schema, which may be one text or a list of them."""
        found = self.declared.get(key)
        listed = found if isinstance(found, list) else [found]
        return tuple(text for text in listed if isinstance(text, str) and text.strip())


class Form:
    """A schema document; compiled lazily, used for as long as the release holds it."""

    def __init__(self, schema: Json) -> None:
        self.schema = schema

    @cached_property
    def problem(self) -> Fault | None:
        """Why the schema cannot be collected; null when it can."""
        if not usable(self.schema):
            remedy = 'Write {"type": "object", "properties": {…}} with at least one property.'
            found = type(self.schema).__name__ if not isinstance(self.schema, Mapping) else ", ".join(self.schema)
            return Fault("json_schema must be an object schema with properties", "json_schema", found, remedy)
        error = next(iter(_META.iter_errors(self.schema)), None)
        if error is None:
            return None
        at = "".join(f"/{part}" for part in error.absolute_path) or "/"
        remedy = f"Correct what stands at {at}; the dialect is JSON Schema draft 2020-12."
        return Fault(f"json_schema is no JSON Schema: {error.message}", "json_schema", error.instance, remedy)

    @cached_property
    def fields(self) -> tuple[Field, ...]:
        """The fields at the top, in order."""
        return tuple(field for field in self._all if not field.depth)

    @cached_property
    def leaves(self) -> tuple[Field, ...]:
        """The fields that hold values: those inside objects instead of the objects.

        A name with a dot in it is left out: its path would lead elsewhere.
        """
        return tuple(
            field for field in self._all if not _inner(field.declared) and field.depth == field.path.count(".")
        )

    @cached_property
    def _all(self) -> tuple[Field, ...]:
        return tuple(_fields(self.schema, "", (), _DEPTH)) if usable(self.schema) else ()

    @cached_property
    def validator(self) -> Draft202012Validator:
        """The one validator of this schema (R8)."""
        return validator_of(self.schema)

    def field(self, path: str) -> Field | None:
        """A leaf, or a field at the top, by its path."""
        return next((field for field in (*self.leaves, *self.fields) if field.path == path), None)

    def status(self, context: Json) -> SchemaStatus:
        """What is known against a context. A schema that leads nowhere is never complete (pipeline-2 5.5)."""
        if self.problem:
            return SchemaStatus(False, False)
        try:
            return evaluate(self.schema, context, self.validator)
        except (Unresolvable, RecursionError):
            return SchemaStatus(False, False)

    def breaks(self, field: Field, value: Json, *, partly: bool = False) -> str | None:
        """What a value breaks of its field's own schema; null when it may stand there.

        `partly`: something may be missing in it that is said later.
        """
        try:
            errors = self.validator.evolve(schema=field.declared).iter_errors(value)
            error = next((one for one in errors if not partly or one.validator not in _INCOMPLETE), None)
        except (Unresolvable, RecursionError) as problem:
            return str(problem)
        return str(error.message) if error else None


def form_of(snapshot: Snapshot, row: OutputSchema) -> Form:
    """The form of a schema row, made once a release."""
    return snapshot.table(OutputSchema).memo.get(("form", row.schema_id), lambda: Form(row.json_schema))


def _fields(schema: Mapping[str, Json], prefix: str, outer: Words, depth: int) -> Iterator[Field]:
    required = schema.get("required")
    required = required if isinstance(required, list) else []
    for name, found in schema["properties"].items():
        declared = found if isinstance(found, Mapping) else {}
        own = name_words(name)
        labels, description = _labels(own, outer, declared), words(_text(declared, "description"))
        field = Field(f"{prefix}{name}", declared, name in required, labels, description, _DEPTH - depth)
        yield field
        if depth > 1 and _inner(declared):
            yield from _fields(declared, f"{field.path}.", (*outer, *own), depth - 1)


def _labels(own: Words, outer: Words, declared: Mapping[str, Json]) -> tuple[Words, ...]:
    listed = declared.get("x-labels")
    listed = listed if isinstance(listed, list) else [listed]
    named = [words(text) for text in (_text(declared, "title"), *listed) if isinstance(text, str)]
    return tuple(dict.fromkeys(label for label in (own, (*outer, *own) if outer else (), *named) if label))


def _text(declared: Mapping[str, Json], key: str) -> str:
    found = declared.get(key)
    return found if isinstance(found, str) else ""


def _inner(declared: Mapping[str, Json]) -> bool:
    return isinstance(declared.get("properties"), Mapping) and bool(declared["properties"])


def _type_of(value: Json) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, (int, float)):
        return "integer" if isinstance(value, int) else "number"
    return "string" if isinstance(value, str) else "array" if isinstance(value, list) else "object"
