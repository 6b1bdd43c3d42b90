"""Checks of translations: their structure, and that each one has the names and the field of the text."""

import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any

from django.utils.text import capfirst

from config_admin.validation.draft import Draft, Finding
from config_admin.validation.labels import column_label, name_language
from config_admin.validation.relations import as_json
from config_admin.validation.template_faults import describe_template_fault
from convengine.engine.prompts import render
from convengine.engine.rules.actions import refuse_value
from convengine.engine.rules.actions.contract import ActionValueError
from convengine.engine.turn.rows import Rule
from convengine.engine.turn.translations import SCHEMA, is_words, list_texts
from convengine.json_value import Json
from convengine.server.interfaces.older_templates import template_columns, to_jinja

COLUMN = "translations"
_LANGUAGE = re.compile(r"[a-z]{2,3}")
_SHAPE = 'Write {"de": {"exact_text": {"text": "…", "of": "the translated text"}}}.'


def describe_place(table: str, at: str, language: str) -> str:
    """A text of a row and its language: `Text (German)`; of a field in a form `day/x-ask (German)`."""
    label = at.removeprefix(f"{SCHEMA}/") if "/" in at else capfirst(column_label(table, at))
    return f"{label} ({name_language(language)})"


def describe_translation(of: Json, text: str, *, is_draft: bool) -> str:
    """Say why somebody should read a translation again. It translates `of`; the text is now `text`."""
    changed = f"The text has changed since: “{of or ''}”." if of != text else ""
    return " ".join(filter(None, (changed, "This is a draft that nobody has read." if is_draft else "")))


def read_entries(stored: Json) -> dict[str, dict[str, Any]]:
    """The translations by language and place, without what is damaged."""
    languages = stored.items() if isinstance(stored, Mapping) else ()
    return {language: dict(entries) for language, entries in languages if isinstance(entries, Mapping)}


def check_translations(draft: Draft[Any]) -> Iterator[Finding]:
    """Whether the translations of the row are well formed and fit its texts."""
    stored, table = as_json(getattr(draft.row, COLUMN, None)), draft.row.table
    if not isinstance(stored, Mapping):
        return
    values = vars(draft.row)
    texts = dict(list_texts(table, {**values, SCHEMA: as_json(values.get(SCHEMA))}))
    for language, entries in stored.items():
        if not _LANGUAGE.fullmatch(str(language)) or not isinstance(entries, Mapping):
            problem = f"{language} must be a language of two or three small letters, with its texts. {_SHAPE}"
            yield draft.error("SHAPE_INVALID", COLUMN, problem)
            continue
        for at, entry in entries.items():
            path, name = f"{language}/{at}", describe_place(table, at, language)
            if not _is_entry(entry):
                yield draft.error("SHAPE_INVALID", COLUMN, f"{name} is not a translation. {_SHAPE}", path)
            elif at not in texts and not _is_of_part(at, texts):
                problem = f"{name} translates a text that the row does not have any more. Nobody reads it."
                yield draft.warning("TRANSLATION_UNUSED", COLUMN, problem, path)
            elif isinstance(draft.row, Rule):
                yield from _check_refusal(draft, texts[at], entry["text"], name, path)
            elif at in template_columns(table, values) or render.has_expressions(texts.get(at, "")):
                yield from _check_template(draft, to_jinja(texts[at]), entry["text"], name, path)


def _is_of_part(at: str, texts: Mapping[str, str]) -> bool:
    """True for words of a field or a choice that has other texts."""
    return is_words(at) and any(each.startswith(at.rpartition("/")[0]) for each in texts)


def _is_entry(entry: Json) -> bool:
    return (
        isinstance(entry, Mapping)
        and isinstance(entry.get("text"), str)
        and isinstance(entry.get("of"), str)
        and isinstance(entry.get("draft", False), bool)
        and entry.keys() <= {"text", "of", "draft"}
    )


def _check_refusal(draft: Draft[Any], text: str, translation: str, name: str, path: str) -> Iterator[Finding]:
    with suppress(ActionValueError):
        field, _ = refuse_value.parse(text)
        try:
            own, _ = refuse_value.parse(translation)
        except ActionValueError as error:
            yield draft.error(error.code, COLUMN, f"{name}: {error.message}", path)
            return
        if own != field:
            problem = f"{name} refuses {own}, and the text refuses {field}. Begin the translation with {field}:"
            yield draft.error("CONFLICT", COLUMN, problem, path)


def _check_template(draft: Draft[Any], text: str, translation: str, name: str, path: str) -> Iterator[Finding]:
    try:
        render.check_template(translation)
    except render.TemplateError as error:
        fault = describe_template_fault(translation, error)
        yield draft.error("TEMPLATE_INVALID", COLUMN, f"{name} is not a valid template. {fault}", path)
        return
    used, known = render.list_names(translation), render.list_names(text)
    lists = (("uses names that the text does not have", used - known), ("lacks names of the text", known - used))
    if problems := [f"{problem}: {', '.join(sorted(names))}" for problem, names in lists if names]:
        yield draft.warning("TRANSLATION_NAMES", COLUMN, f"{name} {'; it '.join(problems)}.", path)
