"""A flow document with texts in several languages: `{"en": "Which day?", "de": "An welchem Tag?"}`.

It is a document for each language, and so rows for each. What differs between them are the translations of the rows.
The first language that the document names is that of its plain texts.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from config_admin.validation.translations import read_entries
from convengine.engine.turn.translations import is_words, list_texts
from convengine.engine.understanding.language import list_languages
from convengine.json_value import Json

#: The parts of a document that may be in several languages.
TEXTS = frozenset(
    {
        "title", "question", "again", "invalid", "label", "labels", "synonyms", "confirmation", "task_failed", "answer",
        "hand_over", "text", "short_name",
    }
)  # fmt: skip
#: Those that another language may have alone: a built-in text stands for them, or nothing.
_OPTIONAL = frozenset({"label", "labels", "synonyms", "confirmation", "task_failed", "short_name"})
#: What items of these lists show in the place of a text that they leave out is not in a language.
_IMPLIED = {"options": "label", "questions_and_answers": "short_name"}
#: The part whose `label` and `synonyms` are keys of data, in all languages.
_KEYS_OF_DATA = "options_from"
#: Stands for a text without a translation.
UNTRANSLATED = "\0"
Rows = dict[str, list[dict[str, Any]]]


def list_flow_languages(flow: Json) -> list[str]:
    """The languages of a document, the first one first; none for a document with plain texts only."""
    return list(dict.fromkeys(language for _, texts in _find_translated(flow) for language in texts))


def list_first_missing(flow: Json, first: str) -> list[str]:
    """The keys of texts that the document has in other languages only, although its rows need the first one."""
    return [
        key
        for key, texts in _find_translated(flow)
        if not texts.get(first) and any(texts.values()) and needs_first(key)
    ]


def needs_first(key: str) -> bool:
    """True for a text that users hear in no language if the first one has none."""
    return key not in _OPTIONAL


def speak_flow(flow: Any, language: str, first: str) -> Any:
    """The document in one language; in the first one, where it has no text in it. Blank texts are left out."""
    if isinstance(flow, Mapping):
        spoken: dict[str, Json] = {}
        for key, value in flow.items():
            if not _is_translated(key, value):
                spoken[key] = speak_flow(value, language, first)
            elif text := value.get(language) or value.get(first):
                spoken[key] = text
        return spoken
    return [speak_flow(item, language, first) for item in flow] if isinstance(flow, list) else flow


def speak_alone(flow: Any, language: str, missing: str = "", implied: str = "") -> Any:
    """The document with its texts in one language. `missing` stands for those that the document has in others only.

    `implied`: the text that a part has even if it is left out.
    """
    if isinstance(flow, Mapping):
        spoken: dict[str, Json] = {implied: missing} if implied else {}
        for key, value in flow.items():
            if key == _KEYS_OF_DATA:
                spoken[key] = value
                continue
            if key not in TEXTS:
                spoken[key] = speak_alone(value, language, missing, _IMPLIED.get(key, ""))
                continue
            texts = value if _is_translated(key, value) else {"": value}
            if shown := next(filter(None, texts.values()), None):
                spoken[key] = texts.get(language) or ([missing] if isinstance(shown, list) else missing)
        return spoken
    return [speak_alone(item, language, missing, implied) for item in flow] if isinstance(flow, list) else flow


def write_translated(flow: Mapping[str, Json], write: Callable[[Mapping[str, Json]], Rows]) -> Rows:
    """The rows of a document with their translations. `write` writes those of a document in one language."""
    first, *others = list_flow_languages(flow) or [""]
    written = write(speak_flow(flow, first, first))
    for language in others:
        # Built-in texts, such as the beginning of a confirmation, follow the locale.
        translated = write({**speak_alone(flow, language, UNTRANSLATED), "locale": language})
        for table, listed in written.items():
            for row, other in zip(listed, translated[table], strict=True):
                if entries := list_entries(table, row, other, language):
                    row.setdefault("translations", {})[language] = entries
    return written


def merge_languages(flow: Any, translated: Mapping[str, Any], first: str) -> Any:
    """The document with the texts of others, by language, that are the same but for their language."""
    if isinstance(flow, Mapping):
        keys = dict.fromkeys((*flow, *(key for each in translated.values() for key in each if key in TEXTS)))
        others = {key: {name: each[key] for name, each in translated.items() if key in each} for key in keys}
        merged = {key: _merge_part(key, flow.get(key), others[key], first) for key in keys}
        return {key: value for key, value in merged.items() if value is not None}
    if isinstance(flow, list):
        return [
            merge_languages(item, {name: each[at] for name, each in translated.items() if at < len(each)}, first)
            for at, item in enumerate(flow)
        ]
    return flow


def _merge_part(key: str, value: Json, others: Mapping[str, Json], first: str) -> Json:
    """A part of the document with those in other languages; None for one that no language has."""
    if key == _KEYS_OF_DATA:
        return value
    if key not in TEXTS:
        return merge_languages(value, others, first)
    texts = {name: text for name, text in others.items() if UNTRANSLATED not in text}
    return {first: value or "", **texts} if texts else value


def merge_translations(stored: Json, old: Json, new: Json, languages: Sequence[str]) -> Json:
    """The column of a row for the translations that a document writes now. `old`: what it wrote before.

    A text that stays keeps what it translates, and whether it is a draft.
    """
    merged = read_entries(stored)
    before, after = read_entries(old), read_entries(new)
    for language in languages:
        own, written = merged.get(language, {}), after.get(language, {})
        gone = before.get(language, {}).keys() - written.keys()
        changed = {at: entry for at, entry in written.items() if _text_of(own.get(at)) != _text_of(entry)}
        merged[language] = {**{at: entry for at, entry in own.items() if at not in gone}, **changed}
    return {language: entries for language, entries in merged.items() if entries} or None


def _text_of(entry: Json) -> Json:
    return entry.get("text") if isinstance(entry, Mapping) else None


def list_entries(table: str, row: Mapping[str, Json], other: Mapping[str, Json], language: str) -> dict[str, Json]:
    """The translations of a row, which another one has as its texts.

    In a language without tables, a text that is equal is a built-in one.
    """
    texts = dict(list_texts(table, row))
    return {
        at: {"text": text, "of": texts.get(at, "")}
        for at, text in list_texts(table, other)
        if UNTRANSLATED not in text
        and (at in texts or is_words(at))
        and (text != texts.get(at) or language in list_languages())
    }


def _find_translated(flow: Json) -> Iterator[tuple[str, Mapping[str, Json]]]:
    items: Sequence[tuple[str, Json]] = (
        list(flow.items())
        if isinstance(flow, Mapping)
        else [("", item) for item in flow]
        if isinstance(flow, list)
        else ()
    )
    for key, value in items:
        if _is_translated(key, value):
            yield key, value
        else:
            yield from _find_translated(value)


def _is_translated(key: str, value: Json) -> bool:
    return key in TEXTS and isinstance(value, Mapping) and bool(value)
