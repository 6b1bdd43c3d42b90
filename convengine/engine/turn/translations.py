"""Texts of rows in other languages.

The column `translations` of a row has them by language and by the place of the text in the row: the name of a column,
and inside a JSON Schema the path of a field and a key. Each entry has the `text`, the text that it translates (`of`),
and `draft` if nobody has read it yet.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar, cast

from convengine.json_value import Json

R = TypeVar("R")
#: What a template fills in; without other words, there is nothing to translate.
FILLED = re.compile(r"\{[{%].*?[%}]\}", re.DOTALL)
#: The columns with texts that users read, by table.
SPOKEN: Mapping[str, tuple[str, ...]] = {
    "ce_intent": ("display_name",),
    "ce_policy": ("response_text",),
    "ce_response": ("exact_text",),
    "ce_verbose": ("message", "error_message"),
}
#: Texts of a field, by the key of its property. Lists of words are texts with commas between.
FIELD_TEXTS = ("title", "x-ask", "x-ask-again", "x-invalid", "x-done", "x-labels")
_LISTS = ("x-labels",)
OPTIONS, WORDS = "x-options", "words"
#: The column of JSON Schemas.
SCHEMA = "json_schema"


def find_translations(translations: Json, language: str) -> Mapping[str, str]:
    """The texts of a language by their place. What is damaged or blank is left out."""
    entries = translations.get(language) if isinstance(translations, Mapping) else None
    if not isinstance(entries, Mapping):
        return {}
    texts = {at: entry.get("text") for at, entry in entries.items() if isinstance(entry, Mapping)}
    return {at: text for at, text in texts.items() if isinstance(text, str) and text.strip()}


def translate_row(row: R, language: str) -> R:
    """The row with its texts in a language. A text without a translation stays as it is."""
    texts = find_translations(getattr(row, "translations", None), language)
    # The words of the first language are understood, too: a customer may have read them elsewhere.
    columns: Any = write_texts(vars(row), texts, adds_words=True) if texts else {}
    return cast(R, replace(cast(Any, row), **columns)) if columns else row


def write_texts(row: Mapping[str, Json], texts: Mapping[str, str], *, adds_words: bool) -> dict[str, Json]:
    """The columns of a row that change with other texts, by their places.

    `adds_words`: words of a field or of a choice stand beside those that it has.
    """
    columns: dict[str, Json] = {at: text for at, text in texts.items() if isinstance(row.get(at), str)}
    of_fields = {at.removeprefix(f"{SCHEMA}/"): text for at, text in texts.items() if at.startswith(f"{SCHEMA}/")}
    if of_fields:
        columns[SCHEMA] = _translate_schema(row.get(SCHEMA), "", of_fields, adds_words)
    return columns


def list_text_columns(table: str, row: Mapping[str, Json]) -> Sequence[str]:
    """The columns of a row with a text that users read. The field and the text of a refused value stand together."""
    if table == "ce_rule":
        return ("action_value",) if row.get("action") == "REFUSE_VALUE" else ()
    if table == "ce_config":
        return ("config_value",) if _is_spoken(str(row.get("config_key"))) else ()
    return SPOKEN.get(table, ())


def list_texts(table: str, row: Mapping[str, Json]) -> Iterator[tuple[str, str]]:
    """The texts of a row that users read, with their places."""
    for column in list_text_columns(table, row):
        text = _join(row.get(column))
        if any(map(str.isalpha, FILLED.sub("", text))):
            yield column, text
    if table == "ce_output_schema":
        for at, text in list_schema_texts(row.get(SCHEMA)):
            yield f"{SCHEMA}/{at}", text


def _is_spoken(key: str) -> bool:
    """True for a setting with a text for users."""
    return "_TEXT" in key or key.startswith("MCP_FALLBACK") or key == "QUESTION_TEMPLATE"


def list_schema_texts(schema: Json, path: str = "") -> Iterator[tuple[str, str]]:
    """The texts of a form that users read, with their places: `day/x-ask`, `size/x-options/large`."""
    properties = schema.get("properties") if isinstance(schema, Mapping) else None
    for name, declared in properties.items() if isinstance(properties, Mapping) else ():
        if not isinstance(declared, Mapping):
            continue
        at = f"{path}{name}"
        for key in FIELD_TEXTS:
            if text := _join(declared.get(key)):
                yield f"{at}/{key}", text
        for option in list_options(declared):
            yield f"{at}/{OPTIONS}/{option['value']}", str(option.get("label") or option["value"])
            if words := _join(option.get("synonyms")):
                yield f"{at}/{OPTIONS}/{option['value']}/{WORDS}", words
        yield from list_schema_texts(declared, f"{at}.")


def is_words(at: str) -> bool:
    """True for the place of other words of a field or a choice, which each language may have or lack."""
    return at.endswith((f"/{WORDS}", *(f"/{key}" for key in _LISTS)))


def list_options(declared: Mapping[str, Json]) -> Sequence[Mapping[str, Json]]:
    """The choices of a property as `x-options` has them, also where only `enum` names them."""
    listed = declared.get(OPTIONS)
    if isinstance(listed, list):
        return [option if isinstance(option, Mapping) else {"value": option} for option in listed if _has_value(option)]
    values, synonyms = declared.get("enum"), declared.get("x-synonyms")
    return [
        {"value": value, "synonyms": synonyms.get(str(value)) if isinstance(synonyms, Mapping) else None}
        for value in (values if isinstance(values, list) else ())
        if value is not None
    ]


def _has_value(option: Json) -> bool:
    return option.get("value") is not None if isinstance(option, Mapping) else option is not None


def _translate_schema(schema: Json, path: str, texts: Mapping[str, str], adds_words: bool) -> Json:
    properties = schema.get("properties") if isinstance(schema, Mapping) else None
    if not isinstance(properties, Mapping):
        return schema
    return {
        **schema,
        "properties": {
            name: _translate_property(declared, f"{path}{name}", texts, adds_words)
            if isinstance(declared, Mapping)
            else declared
            for name, declared in properties.items()
        },
    }


def _translate_property(
    declared: Mapping[str, Json], path: str, texts: Mapping[str, str], adds_words: bool
) -> Mapping[str, Json]:
    own = {key: texts[f"{path}/{key}"] for key in FIELD_TEXTS if f"{path}/{key}" in texts}
    changed: dict[str, Json] = {**declared, **own}
    for key in _LISTS:
        if key in own:
            changed[key] = [*_split(own[key]), *(_split(_join(declared.get(key))) if adds_words else ())]
    if any(at.startswith(f"{path}/{OPTIONS}/") for at in texts):
        changed[OPTIONS] = [_translate_option(option, path, texts, adds_words) for option in list_options(declared)]
    translated: Mapping[str, Json] = _translate_schema(changed, f"{path}.", texts, adds_words)
    return translated


def _translate_option(option: Mapping[str, Json], path: str, texts: Mapping[str, str], adds_words: bool) -> Json:
    at, label = f"{path}/{OPTIONS}/{option['value']}", str(option.get("label") or option["value"])
    words = _split(texts.get(f"{at}/{WORDS}", ""))
    words += [label, *_split(_join(option.get("synonyms")))] if adds_words else []
    return {**option, "label": texts.get(at, label), "synonyms": words}


def _join(text: Json) -> str:
    if isinstance(text, list):
        return ", ".join(each for each in text if isinstance(each, str) and each.strip())
    return text.strip() if isinstance(text, str) else ""


def _split(text: str) -> list[str]:
    return [word.strip() for word in text.split(",") if word.strip()]
