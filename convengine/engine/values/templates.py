"""Phrases of the word tables as patterns: `[on] the {day} of|in {month}`.

A pattern is matched against tokens with a blank after each (`TokenText`).
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from convengine.engine.values.tokens import fold_text, fold_word

Json = Any
_ITEM = re.compile(r"\[([^\]]*)\]|(\S+)")
_DECIMAL = re.compile(r"\d [.,] \d")
_SLOT = re.compile(r"\{(\w+)\}")


@dataclass(frozen=True)
class Slot:
    """A place in a phrase: the pattern of its words, and the value that each text has."""

    pattern: str
    values: Mapping[str, Json] | None = None

    def read(self, text: str) -> Json:
        """The value of a text that the pattern matched: from the table, else the number in it."""
        key = text.strip()
        if self.values is not None and key in self.values:
            return self.values[key]
        if _DECIMAL.search(key):
            return float(key.replace(" ", "").replace(",", "."))
        return int("".join(char for char in key if char.isdigit()))


@dataclass(frozen=True, eq=False)
class Phrase:
    """One phrase of a word table."""

    #: Names the function that gives the value.
    means: str
    template: str
    slots: Mapping[str, Slot]
    constants: Mapping[str, Json]

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        return re.compile(compile_template(self.template, self.slots))

    def read(self, match: re.Match[str]) -> dict[str, Json]:
        """The constants of the phrase and the values of its slots."""
        values = dict(self.constants)
        for name, text in match.groupdict().items():
            if text is not None:
                values[name] = get_slot(name, self.slots).read(text)
        return values


def get_slot(name: str, slots: Mapping[str, Slot]) -> Slot:
    """The slot of a name; `number_2` is a second `number`."""
    return slots[name] if name in slots else slots[name.rstrip("_0123456789")]


def compile_template(template: str, slots: Mapping[str, Slot]) -> str:
    """The pattern of a template."""
    parts = []
    for optional, item in _ITEM.findall(template):
        if optional:
            parts.append(f"(?:{''.join(_compile_item(word, slots) for word in optional.split(' '))})?")
        else:
            parts.append(_compile_item(item, slots))
    return "".join(parts)


def list_first_words(template: str, slots: Mapping[str, Slot]) -> Iterator[str]:
    """The words with which a phrase of a template may begin; numbers in digits are left out."""
    for optional, item in _ITEM.findall(template):
        first = (optional or item).split(" ")[0]
        if slot := _SLOT.fullmatch(first):
            yield from (word.split(" ")[0] for word in get_slot(slot[1], slots).values or {})
        else:
            yield from (fold_word(word.split("_")[0]) for word in first.split("|"))
        if not optional:
            return


def _compile_item(item: str, slots: Mapping[str, Slot]) -> str:
    if slot := _SLOT.fullmatch(item):
        return f"(?P<{slot[1]}>{get_slot(slot[1], slots).pattern})"
    if item in (".", "/", "-", ":", ","):
        return re.escape(item) + " "
    return alternate(word.replace("_", " ") for word in item.split("|"))


def alternate(words: Iterable[str]) -> str:
    """A pattern for any of the words, the longest first, each with the blank after it."""
    folded = {" ".join(map(fold_word, word.split(" "))) for word in words}
    ordered = sorted(folded, key=lambda word: (-len(word), word))
    return f"(?:{'|'.join(re.escape(word) for word in ordered)}) " if ordered else r"(?!)"


def fold_keys(table: Mapping[str, Json]) -> dict[str, Json]:
    """A table with its keys as tokens; a word with ä, ö or ü also as typed without the dots."""
    folded: dict[str, Json] = {}
    for key, value in table.items():
        folded[fold_text(key) or key] = value
    for key, value in table.items():
        folded.setdefault(fold_text(key.translate(_DOTLESS)) or key, value)
    return folded


_DOTLESS = str.maketrans({"ä": "a", "ö": "o", "ü": "u"})
