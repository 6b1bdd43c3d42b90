"""The translations of a row in its form: an input for each text of the row in each other language."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from django import forms
from unfold.widgets import UnfoldAdminTextareaWidget, UnfoldAdminTextInputWidget, UnfoldBooleanSwitchWidget

from config_admin.editing.fields import PlainTextField
from config_admin.validation.built_in_texts import find_built_in_text
from config_admin.validation.columns import TEMPLATE, list_column_specs
from config_admin.validation.stored_columns import kept_columns
from config_admin.validation.translations import COLUMN, describe_place, describe_translation, read_entries
from convengine.engine.text.difference import ABSENT, Difference
from convengine.engine.turn import live_settings
from convengine.engine.turn.local_time import LANGUAGES, find_language_code
from convengine.engine.turn.rows import OutputSchema
from convengine.engine.turn.snapshot import Snapshot
from convengine.engine.turn.translations import find_translations, list_text_columns, list_texts
from convengine.json_value import Json


@dataclass(frozen=True)
class TextInput:
    """An input for the translation of one text."""

    table: str
    column: str
    language: str
    #: The stored translation, and why somebody should read it again; blank for no reason.
    text: str = ""
    note: str = ""
    #: The built-in text of the language, where there is no translation of a built-in one.
    offered: str = ""

    @property
    def name(self) -> str:
        return f"translation_{self.language}_{self.column}"

    @property
    def confirmation(self) -> str:
        """The name of the input that says that the stored translation is right."""
        return f"{self.name}_right"

    def make_fields(self) -> Iterator[tuple[str, forms.Field]]:
        is_template = list_column_specs(self.table)[self.column].language == TEMPLATE
        code = {"class": "ce-code ce-area", "spellcheck": "false", "data-code": TEMPLATE} if is_template else {}
        attributes = {"class": "ce-area", "rows": 3, "lang": self.language, **code}
        is_long = kept_columns(self.table)[self.column].get_internal_type() == "TextField"
        widget = UnfoldAdminTextareaWidget(attributes) if is_long else UnfoldAdminTextInputWidget()
        label, shown = describe_place(self.table, self.column, self.language), {"required": False, "widget": widget}
        help_text = self.note or (f"The built-in text: “{self.offered}”" if self.offered else "")
        yield self.name, PlainTextField(label=label, initial=self.text, help_text=help_text, **shown)
        if self.note:
            shown["widget"] = UnfoldBooleanSwitchWidget()
            yield self.confirmation, forms.BooleanField(label=f"{label} is right as it is", **shown)


class RowTranslations:
    """The translations of a row with their inputs; without inputs if the workspace has one language."""

    def __init__(self, snapshot: Snapshot, table: str, row: Any) -> None:
        locales = live_settings.read(snapshot, LANGUAGES).value
        values: Mapping[str, Json] = vars(row) if row is not None else {}
        texts = dict(list_texts(table, values))
        self._first = next(iter(map(find_language_code, locales)), "")
        self.table = table
        #: The stored translations.
        self.stored: Json = values.get(COLUMN)
        #: The other languages of the workspace.
        self.languages: Sequence[str] = [find_language_code(locale) for locale in locales[1:]]
        self.inputs = [
            self._fill(TextInput(table, column, language), texts.get(column, ""))
            for language in self.languages
            for column in list_text_columns(table, values)
        ]
        #: The columns of the inputs, by their names.
        self.columns: Mapping[str, str] = {each.name: each.column for each in self.inputs}

    @property
    def are_in_schema(self) -> bool:
        """True for a form, in a workspace with several languages: the page Languages has its texts."""
        return bool(self.languages) and self.table == OutputSchema.table

    @property
    def replaces_column(self) -> bool:
        """True if the form leaves out the JSON column: inputs or a page of their own have its texts, if any."""
        return bool(self.languages) and (bool(self.inputs) or self.are_in_schema or not self.stored)

    def _fill(self, empty: TextInput, text: str) -> TextInput:
        stored = find_translations(self.stored, empty.language).get(empty.column, "").strip()
        entry = read_entries(self.stored).get(empty.language, {}).get(empty.column)
        if not stored or not isinstance(entry, Mapping):
            return replace(empty, offered=find_built_in_text(text, self._first, empty.language))
        note = describe_translation(entry.get("of"), text, is_draft=bool(entry.get("draft")))
        return replace(empty, text=stored, note=note)

    def make_fields(self) -> dict[str, forms.Field]:
        return {name: field for each in self.inputs for name, field in each.make_fields()}

    def list_names(self, language: str) -> list[str]:
        """The names of the inputs of a language."""
        return [name for each in self.inputs if each.language == language for name, _ in each.make_fields()]

    def find_name(self, translation: str) -> str | None:
        """The name of the input of a translation, by language and place."""
        named = (each.name for each in self.inputs if f"{each.language}/{each.column}" == translation)
        return next(named, None)

    def expand(self, content: Mapping[str, Any]) -> dict[str, Any]:
        """The content of a row, and the texts of the inputs under their names."""
        stored = content.get(COLUMN)
        texts = {each.name: find_translations(stored, each.language).get(each.column, "") for each in self.inputs}
        return {**content, **texts}

    def merge(self, cleaned: Mapping[str, Any], values: Mapping[str, Json]) -> Json:
        """The column for a row with these values. A text that is new or confirmed belongs to the present text."""
        texts, merged = dict(list_texts(self.table, values)), read_entries(self.stored)
        for each in self.inputs:
            text = cleaned.get(each.name)
            if not isinstance(text, str) or (text == each.text and not cleaned.get(each.confirmation)):
                continue
            own = merged.setdefault(each.language, {})
            own.pop(each.column, None)
            if text:
                own[each.column] = {"text": text, "of": texts.get(each.column, "")}
        return {language: entries for language, entries in merged.items() if entries} or None


def diff_translations(table: str, old: Json, new: Json) -> Iterator[Difference]:
    """The texts of the column that differ, and those that somebody confirmed."""
    before, after = read_entries(old), read_entries(new)
    for language in sorted({*before, *after}):
        was, now = before.get(language, {}), after.get(language, {})
        for at in sorted({*was, *now}):
            if was.get(at) == now.get(at):
                continue
            label, path = describe_place(table, at, language), (language, at)
            texts = [_read(entries.get(at), "text") for entries in (was, now)]
            if texts[0] == texts[1]:
                label, texts = f"{label}, translation of", [_read(entries.get(at), "of") for entries in (was, now)]
            note = "A draft." if _read(now.get(at), "draft") is True else ""
            yield Difference(path, texts[0], texts[1], label, note)


def _read(entry: Json, key: str) -> Any:
    return entry.get(key, ABSENT) if isinstance(entry, Mapping) else ABSENT
