"""The kinds of fields that a flow collects: what each is called, what it adds to its property, and its inputs."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from convengine.engine.turn.field_options import OPTIONS_FROM

_BOUNDS = ("min", "max")


@dataclass(frozen=True)
class FieldKind:
    """A kind of field, by its name in the document."""

    label: str
    #: What it adds to its property; a property with just this is of this kind.
    property: Mapping[str, Any] = field(default_factory=dict)
    #: The inputs that only some kinds have.
    inputs: tuple[str, ...] = ()
    #: What the page says below the type.
    hint: str = ""


def _text(label: str, name: str, *inputs: str, key: str = "x-kind") -> FieldKind:
    return FieldKind(label, {"type": "string", key: name}, inputs)


#: The keys of a property that tell kinds apart.
KIND_KEYS = ("type", "format", "x-kind", "x-long")
FIELD_KINDS: Mapping[str, FieldKind] = {
    "text": FieldKind("Text", {"type": "string"}),
    "short_text": FieldKind(
        "Short text",
        {"type": "string", "x-long": False},
        hint="A name, a town, a title: of “My name is Ann, please” only “Ann” is stored.",
    ),
    "long_text": FieldKind(
        "Long text",
        {"type": "string", "x-long": True},
        hint="What happened, remarks, a description: the whole answer is stored as typed.",
    ),
    "choice": FieldKind("Choice", {}, ("options", "options_from")),
    "date": _text("Date", "date", *_BOUNDS, "after", key="format"),
    "time": _text("Time", "time", *_BOUNDS),
    "datetime": _text("Date and time", "date-time", *_BOUNDS, "after", key="format"),
    "duration": _text("Duration", "duration", *_BOUNDS),
    "number": FieldKind("Number", {"type": "number"}, _BOUNDS),
    "money": FieldKind("Amount of money", {"type": "number", "x-kind": "money"}, (*_BOUNDS, "currency")),
    "phone": _text("Phone number", "phone", "country", key="format"),
    "email": _text("E-mail address", "email", key="format"),
    "postcode": _text("Postcode", "postcode", "country"),
    "iban": _text("IBAN", "iban"),
    "yes_no": FieldKind("Yes or no", {"type": "boolean"}),
    "pattern": FieldKind("Text matching a pattern", {"type": "string"}, ("examples", "pattern")),
    "finder": FieldKind("Value of another kind", {"type": "string"}, ("finder",)),
}


def find_field_kind(declared: Mapping[str, Any]) -> str | None:
    """The kind of field that a property declares, the one that says most.

    Returns None for properties of another shape.
    """
    if isinstance(declared.get("x-options"), list) or OPTIONS_FROM in declared:
        return "choice"
    if "enum" in declared:
        return None
    signature = {key: declared[key] for key in KIND_KEYS if key in declared}
    if signature.keys() != {"type", "x-long"} or declared.get("pattern"):
        # Only a plain text is short or long.
        signature.pop("x-long", None)
    name = max(_list_fitting(declared, signature), key=lambda name: len(FIELD_KINDS[name].property), default=None)
    if name is None and signature.keys() == {"type", "x-kind"} and signature["type"] == "string":
        return "finder"
    return "pattern" if name == "text" and declared.get("pattern") else name


def _list_fitting(declared: Mapping[str, Any], signature: Mapping[str, Any]) -> list[str]:
    """The kinds of fields whose keys are those of the signature, and which the declared property contains."""
    return [
        name
        for name, kind in FIELD_KINDS.items()
        if {key: value for key, value in kind.property.items() if key in KIND_KEYS} == signature
        and kind.property.items() <= declared.items()
        and kind.property
    ]


def get_field_kind(name: str) -> FieldKind:
    """A kind by its name; one with nothing for an unknown name."""
    return FIELD_KINDS.get(name, FieldKind(name))


def has_input(kind: str, name: str) -> bool:
    return name in get_field_kind(kind).inputs


#: The inputs that only some kinds have, with these kinds.
OWN_INPUTS: Mapping[str, list[str]] = {
    name: [kind for kind in FIELD_KINDS if has_input(kind, name)]
    for name in dict.fromkeys(name for kind in FIELD_KINDS.values() for name in kind.inputs)
}
#: What the page says below the type of a field.
TYPE_HINTS: Mapping[str, str] = {name: kind.hint for name, kind in FIELD_KINDS.items() if kind.hint}
