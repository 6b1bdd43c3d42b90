"""A flow document with texts in several languages: `{"en": "Which day?", "de": "An welchem Tag?"}`.

It is a document for each language, and so rows for each. What differs between them are the translations of the rows.
The first language that the document names is that of its plain texts.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from convengine.engine.turn.translations import list_texts
from convengine.json_value import Json

#: The parts of a document that may be in several languages.
_TEXTS = frozenset(
    {
        "title", "question", "again", "invalid", "label", "labels", "synonyms", "confirmation", "task_failed", "answer",
        "hand_over", "text", "short_name",
    }
)  # fmt: skip
Rows = dict[str, list[dict[str, Any]]]


def list_flow_languages(flow: Json) -> list[str]:
    """The languages of a document, the first one first; none for a document with plain texts only."""
    return list(dict.fromkeys(language for texts in _find_translated(flow) for language in texts))


def speak_flow(flow: Any, language: str, first: str) -> Any:
    """The document in one language; in the first one, where it has no text in it."""
    if isinstance(flow, Mapping):
        return {
            key: value.get(language, value.get(first, ""))
            if _is_translated(key, value)
            else speak_flow(value, language, first)
            for key, value in flow.items()
        }
    return [speak_flow(item, language, first) for item in flow] if isinstance(flow, list) else flow


def write_translated(flow: Mapping[str, Json], write: Callable[[Mapping[str, Json]], Rows]) -> Rows:
    """The rows of a document with their translations. `write` writes those of a document in one language."""
    first, *others = list_flow_languages(flow) or [""]
    written = write(speak_flow(flow, first, first))
    for language in others:
        # Built-in texts, such as the beginning of a confirmation, follow the locale.
        translated = write({**speak_flow(flow, language, first), "locale": language})
        for table, listed in written.items():
            for row, other in zip(listed, translated[table], strict=True):
                if entries := _compare_texts(table, row, other):
                    row.setdefault("translations", {})[language] = entries
    return written


def merge_languages(flow: Any, translated: Mapping[str, Any], first: str) -> Any:
    """The document with the texts of others, by language, that are the same but for their language."""
    if isinstance(flow, Mapping):
        return {
            key: _merge_text(value, {name: each.get(key, value) for name, each in translated.items()}, first)
            if key in _TEXTS
            else merge_languages(value, {name: each.get(key, value) for name, each in translated.items()}, first)
            for key, value in flow.items()
        }
    if isinstance(flow, list):
        return [
            merge_languages(item, {name: each[at] for name, each in translated.items() if at < len(each)}, first)
            for at, item in enumerate(flow)
        ]
    return flow


def _merge_text(text: Json, others: Mapping[str, Json], first: str) -> Json:
    different = {name: other for name, other in others.items() if other != text}
    return {first: text, **different} if different else text


def _compare_texts(table: str, row: Mapping[str, Json], other: Mapping[str, Json]) -> dict[str, Json]:
    translated = dict(list_texts(table, other))
    return {
        at: {"text": translated[at], "of": text}
        for at, text in list_texts(table, row)
        if translated.get(at, text) != text
    }


def _find_translated(flow: Json) -> Iterator[Mapping[str, Json]]:
    items: Sequence[tuple[str, Json]] = (
        list(flow.items())
        if isinstance(flow, Mapping)
        else [("", item) for item in flow]
        if isinstance(flow, list)
        else ()
    )
    for key, value in items:
        if _is_translated(key, value):
            yield value
        else:
            yield from _find_translated(value)


def _is_translated(key: str, value: Json) -> bool:
    return key in _TEXTS and isinstance(value, Mapping) and bool(value)
