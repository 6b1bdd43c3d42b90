"""Messages that take long where cost does not grow with length: words of the tables repeated, signs, digits, cut ends.

A seed says which ones; the words come from the tables, so that new tables make new messages.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import cycle, islice
from random import Random
from typing import Any

from convengine.engine.understanding.language import list_languages, read_table

#: Between the words; without a blank, they are one long word.
_JOINTS = (" ", ", ", ". ", "? ", ": ", "/", " - ", "\n", " and ", " und ", " no ", " nicht ", " 5 ", "")
_SIGNS = (
    *".,;:!?-–()[]{}<>@#'\"/\\%€$&+*=_|~😀中ß\u0301",
    *("1", "12.", "1/", "€5 ", "{{", "<b>", '{"a":', "a@", "x.y at "),
)
_BLANKS = (" ", "\n", "\t", "\u00a0", "\u200b")
_ENDS = ("", "", "!", "?", "x", " 5", "@", "(", ".", " ")
#: The words of a message before it repeats itself.
_MOST_WORDS = 40


@dataclass(frozen=True)
class HostileMessage:
    """A part that is repeated up to any length, and cut there before its end."""

    kind: str
    part: str
    end: str

    def write(self, size: int) -> str:
        """The message with this many characters."""
        return (self.part * (size // len(self.part) + 1))[: size - len(self.end)] + self.end


class _Maker:
    def __init__(self, seed: int) -> None:
        self._random = Random(seed)
        tables = [read_table(name, file) for name in list_languages() for file in ("words", "calendar", "numbers")]
        #: By the name of a class, its words in all languages.
        self._words: dict[str, list[str]] = {}
        self._templates: list[str] = []
        for table in tables:
            for name, words in _list_classes(table):
                self._words.setdefault(name, []).extend(words)
            self._templates += _list_templates(table)
        self.kinds: Mapping[str, Callable[[], list[str]]] = {
            "a word of a table": lambda: [self._choose_word()],
            "words of a table": lambda: self._choose(self._random.choice([*self._words.values()])),
            "words of all tables": lambda: [self._choose_word() for _ in range(_MOST_WORDS)],
            "a phrase of a table": lambda: [self._write_phrase()],
            "phrases of all tables": lambda: [self._write_phrase() for _ in range(5)],
            "signs": lambda: self._choose(_SIGNS)[:2],
            "signs and words": lambda: [word for sign in self._choose(_SIGNS) for word in (sign, self._choose_word())],
            "digits": lambda: [str(self._random.randrange(10 ** self._random.randint(1, 20)))],
            "letters": lambda: ["".join(self._choose("aeiounstABÄß"))],
            "blanks": lambda: [*self._choose(_BLANKS), self._choose_word()],
        }

    def make(self, kind: str) -> HostileMessage:
        joint = self._random.choice(_JOINTS)
        return HostileMessage(kind, joint.join(self.kinds[kind]()) + joint, self._random.choice(_ENDS))

    def _choose(self, words: Any) -> list[str]:
        return self._random.choices(words, k=self._random.randint(2, _MOST_WORDS))

    def _choose_word(self) -> str:
        return self._random.choice(self._random.choice([*self._words.values()]))

    def _write_phrase(self) -> str:
        """A template of a phrase with all of its parts, one of its alternatives, and words in its slots."""
        template = re.sub(r"[\[\]~]", "", self._random.choice(self._templates))
        parts = [self._random.choice(item.split("|")).replace("_", " ") for item in template.split()]
        return " ".join(re.sub(r"\{(.*?)(?: \d)?\}", self._fill, part) for part in parts)

    def _fill(self, slot: re.Match[str]) -> str:
        words = self._words.get(slot[1].replace(" ", "_"))
        return self._random.choice(words) if words else str(self._random.randrange(100))


def _list_classes(table: Mapping[str, Any]) -> Iterator[tuple[str, list[str]]]:
    yield from ((name, [*words]) for name, words in table.get("classes", {}).items())
    yield from (
        (row["class"], [word for _, *words in row["words"] for word in words]) for row in table.get("values", ())
    )
    yield from ((name, [*table[name]]) for name in ("talk", "spelling") if name in table)


def _list_templates(table: Mapping[str, Any]) -> Iterator[str]:
    for rows in table.values():
        for row in rows if isinstance(rows, list) else ():
            yield from row.get("text", ()) if isinstance(row, dict) else ()


def make_messages(seed: int, count: int) -> Iterator[HostileMessage]:
    """Messages of all kinds in turn: the same seed makes the same ones."""
    maker = _Maker(seed)
    return map(maker.make, islice(cycle(maker.kinds), count))
