"""Form fields without validation of their own, because the save checks validate; and widgets with options."""

import json
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

from django import forms
from django.core.exceptions import ValidationError
from django.db import models
from django.forms.fields import InvalidJSONInput
from django.forms.utils import flatatt
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.text import capfirst
from unfold.widgets import (
    UnfoldAdminIntegerFieldWidget,
    UnfoldAdminSelectWidget,
    UnfoldAdminTextareaWidget,
    UnfoldAdminTextInputWidget,
    UnfoldBooleanSwitchWidget,
)

from convengine.files import Unreadable
from convengine.files.json_text import read_json


class FormOption(NamedTuple):
    """An option: the value, its label, its help, and the value of another field for which it applies.

    `editor` is the editor of a dependent field: a picker of `rules.vocabulary`.
    """

    value: str
    label: str = ""
    help: str = ""
    group: str = ""
    editor: str = ""


class Unread(str):
    """A typed text that cannot be read as the column's type. The checks report it."""

    problem: ValidationError


class _Judged(forms.Field):
    """A field without validation: the save checks have better messages."""

    def clean(self, value: Any) -> Any:
        """The value, or the typed text if it is not of the column's type."""
        try:
            return self.to_python(value)
        except ValidationError as problem:
            unread = Unread(value)
            unread.problem = problem
            return unread


class PlainTextField(_Judged, forms.CharField):
    """A text with plain line ends."""

    def to_python(self, value: Any) -> Any:
        """Trimmed, with plain line ends."""
        text = super().to_python(value)
        return text.replace("\r\n", "\n") if isinstance(text, str) else text


class IntegerField(_Judged, forms.IntegerField):
    """A whole number."""


class DecimalField(_Judged, forms.DecimalField):
    """A decimal number."""


class JsonField(_Judged, forms.JSONField):
    """A JSON document, shown indented, or after an error as it was typed."""

    def __init__(self, *, empty: Callable[[], Any], **options: Any) -> None:
        super().__init__(**options)
        self._empty = empty

    def to_python(self, value: Any) -> Any:
        """The document; a blank text is the column's empty value. No column takes a plain text."""
        try:
            is_typed = isinstance(value, str) and value not in self.empty_values
            document = read_json(value) if is_typed else super().to_python(value)
        except Unreadable as error:
            raise ValidationError(f"This is not valid JSON: {error.describe()}.", "invalid") from error
        if isinstance(document, str):
            raise ValidationError("Enter a JSON object or list, not a text.", "SHAPE_INVALID")
        return self._empty() if document is None else document

    def bound_data(self, data: Any, initial: Any) -> Any:
        """The typed text, unchanged."""
        return None if data is None else InvalidJSONInput(data)

    def prepare_value(self, value: Any) -> Any:
        if value is None or isinstance(value, InvalidJSONInput):
            return value
        return json.dumps(value, indent=2, ensure_ascii=False)


def _list_attributes(option: FormOption) -> dict[str, str]:
    """The data attributes of an option; blank ones are left out."""
    attributes = {
        "data-help": option.help,
        "data-group": option.group,
        "data-label": option.label,
        "data-editor": option.editor,
    }
    return {name: text for name, text in attributes.items() if text}


class WordSelect(UnfoldAdminSelectWidget):
    """A choice of words with the help of the chosen one below. An outdated word of an old row stays visible."""

    def __init__(self, options: Sequence[FormOption], *, blank: str | None) -> None:
        self._help = {option.value: _list_attributes(option) for option in options}
        self._known = [*([] if blank is None else [("", blank)]), *((option.value, option.label) for option in options)]
        super().__init__({"data-choice": ""}, self._known)

    def optgroups(self, name: str, value: list[str], attrs: dict[str, Any] | None = None) -> Any:
        """The choices, and always the present value of the row."""
        strangers = [(text, f"{text} (unknown)") for text in value if text and text not in self._help]
        self.choices = [*self._known, *strangers]
        return super().optgroups(name, value, attrs)

    def create_option(self, name: str, value: Any, *args: Any, **options: Any) -> dict[str, Any]:
        option: dict[str, Any] = super().create_option(name, value, *args, **options)
        option["attrs"].update(self._help.get(str(value), {}))
        return option


class PickerInput(UnfoldAdminTextInputWidget):
    """A text with suggestions. Other texts are allowed; the checks report unknown names."""

    def __init__(self, options: Iterable[FormOption], attrs: dict[str, Any] | None = None, depends: str = "") -> None:
        self._options = list(options)
        super().__init__({"autocomplete": "off", "spellcheck": "false", "class": "ce-code"} | (attrs or {}))
        if depends:
            #: Suggestions of the group that is chosen in that field.
            self.attrs["data-depends"] = f"id_{depends}"

    def render(self, name: str, value: Any, attrs: dict[str, Any] | None = None, renderer: Any = None) -> SafeString:
        names = f"{(attrs or {}).get('id', name)}_options"
        field = super().render(name, value, {**(attrs or {}), "list": names}, renderer)
        options = format_html_join(
            "",
            "<option{}>{}</option>",
            ((flatatt({"value": each.value, **_list_attributes(each)}), each.label) for each in self._options),
        )
        return format_html('<div class="ce-picker">{}<datalist id="{}">{}</datalist></div>', field, names, options)


def field_of(
    column: "models.Field[Any, Any]", options: Sequence[FormOption] | None, *, depends: str, code: bool
) -> Any:
    """The form field of a column with its `options`. Returns None for kinds that Django's own field suits."""
    common: dict[str, Any] = {
        "label": capfirst(column.verbose_name),
        "help_text": column.help_text,
        "required": not column.blank and not column.null,
        "initial": column.get_default() if column.has_default() else None,
    }
    if isinstance(column, models.JSONField):
        empty = column.get_default if column.has_default() else lambda: None
        return JsonField(empty=empty, widget=_make_area(8, code=True), **common)
    if isinstance(column, models.BooleanField):
        return column.formfield(widget=UnfoldBooleanSwitchWidget())
    if isinstance(column, models.IntegerField):
        return IntegerField(widget=UnfoldAdminIntegerFieldWidget({"class": "ce-number"}), **common)
    if isinstance(column, models.DecimalField):
        return DecimalField(widget=UnfoldAdminIntegerFieldWidget({"class": "ce-number", "step": "0.05"}), **common)
    if isinstance(column, (models.CharField, models.TextField)):
        widget = _make_text_widget(column, options, depends, code)
        return PlainTextField(widget=widget, empty_value=None if column.null else "", **common)
    return None


def _make_text_widget(column: Any, options: Sequence[FormOption] | None, depends: str, code: bool) -> Any:
    """The widget of a text column: a select, a picker of `options`, an area, or one line.

    `depends`: the field on which the options depend. `code`: shown as code.
    """
    if column.choices:
        blank = "Select a value" if not column.has_default() or column.blank else None
        return WordSelect(
            options or [FormOption(str(value), str(label)) for value, label in column.flatchoices], blank=blank
        )
    if options is not None:
        return PickerInput(options, depends=depends)
    if isinstance(column, models.TextField):
        return _make_area(4, code=code)
    return UnfoldAdminTextInputWidget({"class": "ce-code", "spellcheck": "false"} if code else None)


def _make_area(rows: int, *, code: bool) -> Any:
    attributes = {"class": "ce-code ce-area", "spellcheck": "false"} if code else {"class": "ce-area"}
    return UnfoldAdminTextareaWidget(attributes | {"rows": rows})
