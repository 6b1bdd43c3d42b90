"""What a field accepts: its kind, its bounds, its options (docs/forms.md)."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from convengine.engine.text.compare import Words, split_name, split_words
from convengine.json_value import Json


class Kind(StrEnum):
    """How a value is read."""

    TEXT = "text"
    CHOICE = "choice"
    DATE = "date"
    TIME = "time"
    DATE_TIME = "datetime"
    DURATION = "duration"
    NUMBER = "number"
    MONEY = "money"
    PHONE = "phone"
    EMAIL = "email"
    POSTCODE = "postcode"
    IBAN = "iban"
    YES_NO = "yes_no"
    PATTERN = "pattern"
    PERSON = "person"
    #: By a finder of the deployment (`FieldSpec.own_kind`).
    OWN = "own"


@dataclass(frozen=True)
class Option:
    """One choice: the value that is stored, the label that is shown, and other words for it."""

    value: Json
    label: str
    synonyms: tuple[str, ...] = ()

    @property
    def spellings(self) -> tuple[str, ...]:
        own = (str(self.value),) if isinstance(self.value, (str, int, float)) else ()
        return tuple(dict.fromkeys((self.label, *own, *self.synonyms)))


@dataclass(frozen=True)
class FieldSpec:
    """The part of a field's JSON Schema that reading needs. Make it with `field_spec`."""

    name: str
    kind: Kind
    #: `integer`, `number`, `string` or `boolean`.
    json_type: str = "string"
    #: The JSON Schema format, for example `uuid`.
    format: str = ""
    #: Bounds as written: `today`, `today+90d`, `08:00`, 1. Both ends are allowed values.
    minimum: Json = None
    maximum: Json = None
    #: Bounds that are no allowed values themselves (numbers only).
    above: Json = None
    below: Json = None
    pattern: str = ""
    #: Three capital letters, for example EUR.
    currency: str = ""
    #: Two capital letters, for example DE.
    country: str = ""
    options: tuple[Option, ...] = ()
    #: Its title as written; where it has none, its name.
    title: str = ""
    #: Other names of the field (`x-labels`).
    labels: tuple[str, ...] = ()
    #: The words of name, title, description, labels and unit: they say what a number counts.
    words: Words = ()
    #: Those of its name, its title, its labels and its unit.
    names: Words = ()
    #: The words of its question: "how many" is followed by what a number counts.
    question: Words = ()
    #: Its question as written.
    asks: str = ""
    #: Whether it takes whole sentences (`x-long`). None where the form does not say (`is_long_text`).
    long: bool | None = None
    #: The author's patterns for its value anywhere in a message (`x-extract`).
    extract: tuple[str, ...] = ()
    #: The part of a person's name that it takes (`x-part`): `given` or `family`.
    part: str = ""
    #: The kind that the deployment adds, for example `vehicle_plate`.
    own_kind: str = ""

    @property
    def kind_name(self) -> str:
        """The name under which a finder of its kind is registered."""
        return self.own_kind or self.kind.value


_FORMATS = {
    "date": Kind.DATE,
    "time": Kind.TIME,
    "date-time": Kind.DATE_TIME,
    "duration": Kind.DURATION,
    "email": Kind.EMAIL,
    "idn-email": Kind.EMAIL,
    "phone": Kind.PHONE,
    "iban": Kind.IBAN,
    "postcode": Kind.POSTCODE,
}
#: The kinds that a form may name, besides those of the deployment.
BUILT_IN_KINDS = frozenset(Kind) - {Kind.OWN}
_TYPES = {"boolean": Kind.YES_NO, "integer": Kind.NUMBER, "number": Kind.NUMBER}


def field_spec(name: str, declared: Mapping[str, Json]) -> FieldSpec:
    """The spec of one property of a JSON Schema."""
    options = _list_options(declared)
    json_type = _find_type(declared, options)
    texts = [_text(declared, "title"), _text(declared, "x-unit"), *_list_texts(declared.get("x-labels"))]
    names = (*split_name(name), *(word for text in texts for word in split_words(text)))
    kind = _find_kind(declared, json_type, options)
    return FieldSpec(
        name=name,
        kind=kind,
        json_type=json_type,
        format=_text(declared, "format"),
        minimum=declared.get("x-min", declared.get("minimum")),
        maximum=declared.get("x-max", declared.get("maximum")),
        above=declared.get("exclusiveMinimum"),
        below=declared.get("exclusiveMaximum"),
        pattern=_text(declared, "pattern"),
        currency=_text(declared, "x-currency").upper(),
        country=_text(declared, "x-country").upper(),
        options=options,
        title=_text(declared, "title") or name,
        labels=_list_texts(declared.get("x-labels")),
        words=(*names, *split_words(_text(declared, "description"))),
        names=names,
        question=split_words(_text(declared, "x-ask")),
        asks=_text(declared, "x-ask"),
        long=declared["x-long"] if isinstance(declared.get("x-long"), bool) else None,
        extract=_list_texts(declared.get("x-extract")),
        part=_text(declared, "x-part"),
        own_kind=read_kind_name(declared) if kind is Kind.OWN else "",
    )


def read_kind_name(declared: Mapping[str, Json]) -> str:
    """The kind that a property names; blank for none."""
    return fold_kind(_text(declared, "x-kind"))


def fold_kind(name: str) -> str:
    """The name of a kind in the way in which names are compared."""
    return name.strip().lower().replace("-", "_")


def _find_kind(declared: Mapping[str, Json], json_type: str, options: tuple[Option, ...]) -> Kind:
    """The kind by `x-kind`, else by options, format, type and pattern, in this order."""
    if named := read_kind_name(declared):
        return Kind(named) if named in BUILT_IN_KINDS else Kind.OWN
    if options or "x-options-from" in declared:
        return Kind.CHOICE
    if (by_format := _FORMATS.get(_text(declared, "format"))) is not None:
        return by_format
    if json_type in _TYPES:
        return Kind.MONEY if declared.get("x-currency") else _TYPES[json_type]
    return Kind.PATTERN if declared.get("pattern") else Kind.TEXT


def _find_type(declared: Mapping[str, Json], options: tuple[Option, ...]) -> str:
    """The first declared type that is not null, else that of the options, else `string`."""
    types = declared.get("type")
    for item in types if isinstance(types, list) else [types]:
        if isinstance(item, str) and item != "null":
            return item
    values = [option.value for option in options]
    if values and all(isinstance(value, bool) for value in values):
        return "boolean"
    if values and all(isinstance(value, (int, float)) and not isinstance(value, bool) for value in values):
        return "number"
    return "string"


def _list_options(declared: Mapping[str, Json]) -> tuple[Option, ...]:
    """`x-options`; else `enum` or `const` with `x-synonyms` (`{value: [synonym, …]}`)."""
    listed = declared.get("x-options")
    if isinstance(listed, list) and listed:
        return tuple(_read_option(item) for item in listed)
    enum = declared.get("enum")
    values = enum if isinstance(enum, list) else [declared["const"]] if "const" in declared else []
    synonyms = declared.get("x-synonyms")
    synonyms = synonyms if isinstance(synonyms, Mapping) else {}
    return tuple(
        Option(value, str(value), _list_texts(synonyms.get(str(value)))) for value in values if value is not None
    )


def _read_option(item: Json) -> Option:
    """An option by its value, label and synonyms; one that is a plain value is its own label."""
    if not isinstance(item, Mapping):
        return Option(item, str(item))
    value = item.get("value", item.get("label"))
    return Option(value, str(item.get("label") or value), _list_texts(item.get("synonyms")))


def _list_texts(listed: Json) -> tuple[str, ...]:
    items = listed if isinstance(listed, list) else [listed]
    return tuple(item for item in items if isinstance(item, str) and item.strip())


def _text(declared: Mapping[str, Json], key: str) -> str:
    value = declared.get(key)
    return value if isinstance(value, str) else ""
