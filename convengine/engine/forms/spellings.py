"""The choices of a field and all their spellings: `enum`, `const`, `x-options`, `x-synonyms` (R10, R114)."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from convengine.engine.forms.form import Field
from convengine.engine.text.words import fold

Json = Any
_JOINTS = re.compile(r"[\s_-]+")


@dataclass(frozen=True)
class Spelling:
    """One spelling of one choice."""

    #: Case-folded, with single blanks between words.
    key: str
    value: Json
    #: As written in the schema.
    text: str

    @property
    def pattern(self) -> str:
        """A pattern for the folded text; blanks, hyphens and underscores are equivalent."""
        return r"[\s_-]+".join(re.escape(word) for word in self.key.split(" "))


def build_choice_key(text: str) -> str:
    """A text normalised for comparison: no case, no accents, blanks for hyphens and underscores."""
    return _JOINTS.sub(" ", fold(text)).strip()


@lru_cache(maxsize=4096)
def list_spellings(field: Field) -> tuple[Spelling, ...]:
    """All spellings of the field's choices, in schema order. A text that could mean two choices is left out."""
    spellings: dict[str, Spelling] = {}
    unclear: set[str] = set()
    for text, value in _list_choice_texts(field):
        key = build_choice_key(text)
        if key in spellings and spellings[key].value != value:
            unclear.add(key)
        elif key:
            spellings.setdefault(key, Spelling(key, value, text))
    return tuple(spelling for key, spelling in spellings.items() if key not in unclear)


def find_choice(text: str, field: Field) -> Spelling | None:
    """The choice that a whole text names, or null."""
    exact = [value for value in field.choices if value == text]
    if exact:
        return Spelling(build_choice_key(text), exact[0], text)
    key = build_choice_key(text)
    return next((spelling for spelling in list_spellings(field) if spelling.key == key), None)


def _list_choice_texts(field: Field) -> Iterator[tuple[str, Json]]:
    for value in field.choices:
        if isinstance(value, str):
            yield value, value
        elif isinstance(value, (int, float)) and not isinstance(value, bool):
            yield str(value), value
    if "x-options" in field.declared:
        yield from ((text, option.value) for option in field.spec.options for text in option.spellings)
    synonyms = field.declared.get("x-synonyms")
    if not isinstance(synonyms, Mapping):
        return
    for key, listed in synonyms.items():
        texts = [text for text in (listed if isinstance(listed, list) else [listed]) if isinstance(text, str)]
        value, known = _read_synonym_key(key, field)
        if known or not field.choices:
            yield from ((text, value) for text in texts)
        elif texts and (other := _read_synonym_key(texts[0], field))[1]:
            # The inverse notation: {"big d": "Dallas"}.
            yield key, other[0]


def _read_synonym_key(key: str, field: Field) -> tuple[Json, bool]:
    """The value that a key of `x-synonyms` means, and whether the field has that value."""
    for value in field.choices:
        if key == value or (not isinstance(value, str) and key.lower() == _as_text(value)):
            return value, True
    if field.type == "boolean" and key.lower() in ("true", "false"):
        return key.lower() == "true", True
    return key, False


def _as_text(value: Json) -> str:
    return str(value).lower()
