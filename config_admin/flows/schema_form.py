"""A form from a JSON Schema: an input for each property with a `title`, and its values as inputs and back.

`description` is the help of an input. `x-labels` are the labels of the values that are chosen, `x-lines` the lines of a
text, `x-longest` its most characters, and `x-kinds` the kinds of documents that have it. `x-blank` is the label of an
empty choice whose values the page knows. The texts of a list are in lines, or in one line with commas between.
"""

import json
from collections.abc import Collection, Iterator, Mapping
from copy import deepcopy
from itertools import product
from typing import Any

from django import forms
from django.forms import BoundField

from config_admin.flows.choices import format_choices, format_source, join_words, split_cells, split_words
from config_admin.flows.document import Document, Values
from config_admin.flows.languages import TEXTS, needs_first
from convengine.engine.text.compare import shorten_line
from convengine.json_value import Json

#: The most characters of a text without a limit of its own.
_LONGEST = 4000
#: Texts with at least as many characters take the whole width.
_WIDE = 500
_LONGEST_HEADING = 80

Schema = Mapping[str, Json]


def list_inputs(schema: Schema) -> Iterator[tuple[str, Schema]]:
    """The properties that have an input, in the order of the form."""
    return ((name, declared) for name, declared in schema["properties"].items() if "title" in declared)


class SpokenField(BoundField):
    """An input, with those of the same text in the other languages of the workspace."""

    @property
    def spoken(self) -> list[tuple[str, BoundField]]:
        form: Any = self.form
        return [(code, form[spoken_name(self.name, code)]) for code in form.languages if self.name in form.texts]


class SchemaForm(forms.Form):
    bound_field_class = SpokenField
    use_required_attribute = False
    #: The properties that have an input.
    properties: tuple[str, ...] = ()
    #: The input that names the form where it is folded.
    _named_by = ""
    #: The inputs of texts that users read.
    texts: tuple[str, ...] = ()

    def __init__(self, *args: Any, languages: Mapping[str, str] | None = None, **options: Any) -> None:
        super().__init__(*args, **options)
        #: The names of the other languages of the workspace, by code.
        self.languages = languages or {}
        for (code, language), name in product(self.languages.items(), self.texts):
            field: Any = deepcopy(self.base_fields[name])
            field.label, field.help_text, field.required = f"{field.label} ({language})", "", False
            field.widget.attrs |= {"lang": code, "dir": "auto"}
            self.fields[spoken_name(name, code)] = field

    def clean(self) -> dict[str, Any]:
        """Note an error at a text that only another language has, where users would not hear it."""
        cleaned: dict[str, Any] = super().clean() or self.cleaned_data
        for code, name in product(self.languages, filter(needs_first, self.texts)):
            if cleaned.get(spoken_name(name, code)) and not cleaned.get(name, "wrong"):
                self.add_error(spoken_name(name, code), f"Write “{self[name].label}” in the first language, too.")
        return cleaned

    @property
    def inputs(self) -> list[Any]:
        return [self[name] for name in self.properties]

    @property
    def heading(self) -> str:
        """What the form is about, in a line; blank for an empty one."""
        return shorten_line(str(self[self._named_by].value() or ""), _LONGEST_HEADING)

    @property
    def is_doubtful(self) -> bool:
        """True when the page warns of an input."""
        return any(getattr(self[name], "warnings", ()) for name in self.properties)


class ChoicesInput(forms.Textarea):
    """The lines of choices, with their cells for the table that takes their place."""

    def get_context(self, name: str, value: Any, attrs: dict[str, Any] | None) -> dict[str, Any]:
        cells = json.dumps(split_cells(value or ""), ensure_ascii=False)
        return super().get_context(name, value, {**(attrs or {}), "data-choices": cells})


def spoken_name(name: str, language: str) -> str:
    """The name of the input of a text in another language."""
    return f"{name}_{language}"


def make_form(schema: Schema, optional: Collection[str] = ()) -> type[SchemaForm]:
    """A form with the inputs of an object. `optional`: required properties that the page fills."""
    required = set(schema["required"]) - set(optional)
    fields = {name: _make_field(declared, name in required) for name, declared in list_inputs(schema)}
    texts = tuple(name for name in fields if name in TEXTS or _is_list_of_choices(schema["properties"][name]))
    return type("Inputs", (SchemaForm,), {**fields, "properties": tuple(fields), "texts": texts})


def _make_field(declared: Schema, required: bool) -> forms.Field:
    """The form field of a declared property; its labels, kinds and lines are keys that begin with `x-`."""
    named: dict[str, Any] = {"label": declared["title"], "help_text": declared.get("description", "")}
    attrs = {"data-flows": " ".join(declared["x-kinds"])} if "x-kinds" in declared else {}
    lines, most = declared.get("x-lines", 1), declared.get("maxLength", 0)
    field: Any
    if "x-labels" in declared or "x-blank" in declared:
        labels = declared.get("x-labels") or {"": declared["x-blank"]}
        widget: forms.Widget = forms.Select(attrs=attrs)
        field = forms.ChoiceField(
            choices=list(labels.items()), initial=next(iter(labels)), widget=widget, required=False, **named
        )
    elif declared.get("type") == "integer":
        limits = {"min_value": declared["minimum"], "max_value": declared["maximum"]}
        field = forms.IntegerField(required=required, **limits, **named)
    else:
        area = ChoicesInput if _is_list_of_choices(declared) else forms.Textarea
        widget = forms.TextInput(attrs=attrs) if lines == 1 else area(attrs={**attrs, "rows": lines})
        longest = declared.get("x-longest") or most or _LONGEST
        field = forms.CharField(widget=widget, max_length=longest, required=required, **named)
        # A browser would cut what is pasted, without a word.
        field.widget.attrs.pop("maxlength", None)
    field.is_wide = lines > 1 or most >= _WIDE
    return field  # type: ignore[no-any-return]


def _is_list(declared: Schema) -> bool:
    return declared.get("type") == "array"


def _is_list_of_choices(declared: Schema) -> bool:
    return _is_list(declared) and bool(declared["items"].get("type") == "object")


def _is_list_of_texts(declared: Schema) -> bool:
    return _is_list(declared) and declared["items"].get("type") == "string"


def show_values(schema: Schema, document: Document) -> Values:
    return {
        **document,
        **{name: _format_input(declared, document[name]) for name, declared in list_inputs(schema) if name in document},
    }


def _format_input(declared: Schema, value: Json) -> Json:
    """A stored value as the text or choice that its form field shows."""
    if _is_list_of_texts(declared):
        return "\n".join(value) if declared.get("x-lines") else join_words(value)
    if _is_list(declared):
        return format_choices(value)
    if "path" in declared.get("properties", ()):
        return format_source(value)
    if declared.get("type") == "object":
        return json.dumps(value, ensure_ascii=False)
    return ("no", "yes")[value] if isinstance(value, bool) and "x-labels" in declared else value


def read_values(schema: Schema, given: Mapping[str, Any]) -> Values:
    """The document for what was given; blanks are left out."""
    document: Values = {}
    for name, declared in list_inputs(schema):
        value = given.get(name)
        if _is_list_of_texts(declared):
            value = (split_lines if declared.get("x-lines") else split_words)(value or "")
        elif declared.get("type") == "boolean":
            value = value != "no" if declared["default"] else value == "yes" or None
        elif isinstance(value, str):
            value = value.strip()
        if value not in ("", None, []):
            document[name] = value
    return document


def split_lines(text: str) -> list[str]:
    """The lines that say something, each once."""
    return list(dict.fromkeys(line.strip() for line in text.splitlines() if line.strip()))


def say_value(declared: Schema, value: Json) -> str:
    """A value in the words of the form; a blank one is the default."""
    labels = declared.get("x-labels", {})
    if value in ("", None, []):
        value = declared.get("default", "")
        if value not in labels and not isinstance(value, bool):
            return "nothing"
    shown = _format_input(declared, value)
    if isinstance(shown, str):
        return str(labels.get(shown, "; ".join(shown.splitlines()) if _is_list(declared) else shown))
    return json.dumps(shown, ensure_ascii=False)
