"""What a field may be chosen from, and every way to say each choice: `enum`, `const`, `x-synonyms` (R10)."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from convengine.schemas.form import Field
from convengine.schemas.words import fold

Json = Any
_JOINTS = re.compile(r"[\s_-]+")


@dataclass(frozen=True)
class Spelling:
    """One way to say one choice."""

    #: Folded, with single blanks between the words.
    key: str
    value: Json
    #: As the schema writes it.
    text: str

    @property
    def pattern(self) -> str:
        """What finds it in a folded text; blanks, hyphens and underscores are the same."""
        return r"[\s_-]+".join(re.escape(word) for word in self.key.split(" "))


def key_of(text: str) -> str:
    """A text as choices are compared: without case, accents, and the difference of blanks, hyphens and underscores."""
    return _JOINTS.sub(" ", fold(text)).strip()


@lru_cache(maxsize=4096)
def spellings(field: Field) -> tuple[Spelling, ...]:
    """Every way to say a choice of the field, as written first. A text that could mean two choices is left out."""
    found: dict[str, Spelling] = {}
    unclear: set[str] = set()
    for text, value in _said(field):
        key = key_of(text)
        if key in found and found[key].value != value:
            unclear.add(key)
        elif key:
            found.setdefault(key, Spelling(key, value, text))
    return tuple(spelling for key, spelling in found.items() if key not in unclear)


def choice_of(text: str, field: Field) -> Spelling | None:
    """The choice that a whole text names; null when it names none."""
    exact = [value for value in field.choices if value == text]
    if exact:
        return Spelling(key_of(text), exact[0], text)
    key = key_of(text)
    return next((spelling for spelling in spellings(field) if spelling.key == key), None)


def _said(field: Field) -> Iterator[tuple[str, Json]]:
    """(text, value) of each choice, then of each synonym."""
    for value in field.choices:
        if isinstance(value, str):
            yield value, value
        elif isinstance(value, (int, float)) and not isinstance(value, bool):
            yield str(value), value
    synonyms = field.declared.get("x-synonyms")
    if not isinstance(synonyms, Mapping):
        return
    for key, listed in synonyms.items():
        texts = [text for text in (listed if isinstance(listed, list) else [listed]) if isinstance(text, str)]
        value, known = _meant(key, field)
        if known or not field.choices:
            yield from ((text, value) for text in texts)
        elif texts and (other := _meant(texts[0], field))[1]:
            # The other way round: {"big d": "Dallas"}.
            yield key, other[0]


def _meant(key: str, field: Field) -> tuple[Json, bool]:
    """The value that a key of `x-synonyms` stands for, and whether the field knows it."""
    for value in field.choices:
        if key == value or (not isinstance(value, str) and key.lower() == _as_text(value)):
            return value, True
    if field.type == "boolean" and key.lower() in ("true", "false"):
        return key.lower() == "true", True
    return key, False


def _as_text(value: Json) -> str:
    return str(value).lower()
