"""All texts that users read, side by side with their translations, and the rows that change with new ones."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

from django.conf.locale import LANG_INFO

from config_admin.releases.content import contents
from config_admin.releases.tree import Content
from config_admin.validation.built_in_texts import find_built_in_text
from config_admin.validation.labels import row_title
from config_admin.validation.stored_columns import kept_columns
from config_admin.validation.translations import describe_translation
from convengine.engine.turn import live_settings
from convengine.engine.turn.enums import Vocabulary
from convengine.engine.turn.local_time import LANGUAGES, find_language_code
from convengine.engine.turn.rows import ROW_TYPES, Row, SpokenRow
from convengine.engine.turn.snapshot import Snapshot
from convengine.engine.turn.translations import WORDS, list_texts
from convengine.json_value import Json

#: The texts of a field in words.
_KEYS = {
    "title": "name",
    "x-ask": "question",
    "x-ask-again": "question if not understood",
    "x-invalid": "text if not allowed",
    "x-done": "acknowledgement",
    "x-labels": "other names",
}


class TextState(Vocabulary):
    """What a text still needs, the most urgent first."""

    MISSING = "MISSING", "Missing"
    CHANGED = "CHANGED", "Text changed since"
    DRAFT = "DRAFT", "Draft, not read yet"
    DONE = "DONE", "Translated"


class Translation(NamedTuple):
    """What a text becomes in another language; blank takes its translation away."""

    text: str
    #: The text that was translated; blank for the present one.
    of: str = ""
    is_draft: bool = False

    def to_entry(self, source: str) -> Json:
        """The entry of the column `translations` for a text. Returns None for a blank one."""
        draft = {"draft": True} if self.is_draft else {}
        return {"text": _strip(self.text), "of": _strip(self.of or source), **draft} if self.text.strip() else None


def _strip(text: str) -> str:
    return text.strip().replace("\r\n", "\n")


@dataclass(frozen=True)
class SpokenText:
    """A text of a row in the first language, and its translation."""

    row: Row
    #: Its place in the row, such as `exact_text` or `json_schema/day/x-ask`.
    at: str
    source: str
    text: str
    #: The text that was translated.
    of: str
    is_draft: bool
    #: The built-in text of the language, where there is no translation of a built-in one.
    offered: str = ""

    @property
    def key(self) -> str:
        """Its name in files."""
        return f"{self.row.table}/{self.row.pk}/{self.at}"

    @property
    def name(self) -> str:
        intent, title = str(getattr(self.row, "intent_code", "")), row_title(self.row)
        return title if intent in title else f"{intent}: {title}"

    @property
    def location(self) -> str:
        """Where it stands, in words: `Text`, `day: question`."""
        column, _, inside = self.at.partition("/")
        if not inside:
            return str(kept_columns(self.row.table)[column].verbose_name).capitalize()
        field, key, *option = inside.split("/", 2)
        if not option:
            return f"{field}: {_KEYS[key]}"
        value = option[0].removesuffix(f"/{WORDS}")
        return f"{field}: {'other words for' if value != option[0] else 'choice'} {value}"

    def changes_with(self, given: Translation) -> bool:
        """True for another translation, and for the same one of another text or that is no longer a draft."""
        if _strip(given.text) != self.text:
            return True
        is_current = self.of in (_strip(given.of or self.source), self.source) and self.is_draft == given.is_draft
        return bool(self.text) and not is_current

    @property
    def note(self) -> str:
        """Why somebody should read the translation again; blank for no reason."""
        return describe_translation(self.of, self.source, is_draft=self.is_draft) if self.text else ""

    @property
    def is_to_do(self) -> bool:
        return self.state in (TextState.MISSING, TextState.CHANGED)

    @property
    def state(self) -> TextState:
        if not self.text:
            return TextState.MISSING
        if self.of != self.source:
            return TextState.CHANGED
        return TextState.DRAFT if self.is_draft else TextState.DONE


def list_locales(snapshot: Snapshot) -> tuple[str, ...]:
    """The locales of the workspace: that of the rows' own texts first."""
    return live_settings.read(snapshot, LANGUAGES).value


def list_spoken_texts(snapshot: Snapshot, language: str) -> list[SpokenText]:
    """The texts of all enabled rows with their translations in a language; what needs work first."""
    return snapshot.memo.get(("spoken texts", language), partial(_list_spoken_texts, snapshot, language))


def _list_spoken_texts(snapshot: Snapshot, language: str) -> list[SpokenText]:
    first = next(iter(map(find_language_code, list_locales(snapshot))), "")
    listed = [
        text
        for row_type in ROW_TYPES
        if issubclass(row_type, SpokenRow)
        for row in snapshot.enabled_rows(row_type)
        for text in _list_texts_of(row, first, language)
    ]
    order = list(TextState)
    return sorted(listed, key=lambda text: order.index(text.state))


def _list_texts_of(row: SpokenRow, first: str, language: str) -> Iterator[SpokenText]:
    stored = row.translations.get(language) if isinstance(row.translations, Mapping) else None
    entries = stored if isinstance(stored, Mapping) else {}
    for at, source in list_texts(row.table, vars(row)):
        entry = entries.get(at)
        entry = entry if isinstance(entry, Mapping) else {}
        text, of = (str(entry.get(key) or "") for key in ("text", "of"))
        offered = "" if text else find_built_in_text(source, first, language)
        yield SpokenText(row, at, source, text, of, entry.get("draft") is True, offered)


def plan_translations(
    snapshot: Snapshot, language: str, translations: Mapping[str, Translation]
) -> dict[str, dict[Any, Content]]:
    """The rows with new translations, by the keys of their texts.

    Keys that name no text are left out. One query for each table.
    """
    by_row: dict[tuple[str, Any], dict[str, Json]] = {}
    for text in list_spoken_texts(snapshot, language):
        if (given := translations.get(text.key)) and text.changes_with(given):
            by_row.setdefault((text.row.table, text.row.pk), {})[text.at] = given.to_entry(text.source)
    wanted: dict[str, dict[Any, Content]] = {}
    for table in dict.fromkeys(table for table, _ in by_row):
        pks = [pk for name, pk in by_row if name == table]
        for pk, content in contents(table, pks).items():
            wanted.setdefault(table, {})[pk] = {
                **content, "translations": _merge(content["translations"], language, by_row[table, pk])
            }  # fmt: skip
    return wanted


def _merge(stored: Json, language: str, changes: Mapping[str, Json]) -> Json:
    """The column with the changed entries of a language; null when nothing is left."""
    column: dict[str, Json] = dict(stored) if isinstance(stored, Mapping) else {}
    own = column.get(language)
    merged = {**(own if isinstance(own, Mapping) else {}), **changes}
    column[language] = {at: entry for at, entry in merged.items() if entry is not None}
    return {name: entries for name, entries in column.items() if entries} or None


def describe_language(locale: str) -> str:
    """The name of a language in English: `German (de-DE)`."""
    known = LANG_INFO.get(find_language_code(locale), {})
    return f"{known['name']} ({locale})" if "name" in known else locale
