"""Full text: how texts are cut into words, what somebody looks for, and whether a turn says it.

The one judge of every database. What an index offers is looked at again here.
"""

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Self

from convengine.codec import dumps
from convengine.domain.payload import spoken
from convengine.domain.text import norm

_WORD = re.compile(r"\w+")
_PART = re.compile(r'"([^"]*)"|(\S+)')
#: Of longer words the beginning counts; of the different words of a text the index keeps so many bytes.
LONGEST, MOST_BYTES = 60, 500_000
#: A beginning of fewer letters would be that of half the language.
SHORTEST_BEGINNING = 3


class NotWords(ValueError):
    """What somebody looks for cannot be looked for; the message says what can."""


def folded(text: str) -> str:
    """The text as it is compared: the normal form, without accents."""
    # Past the cache of `norm`, which is for the few texts that turns ask for again and again.
    plain: str = norm.__wrapped__(text)
    if plain.isascii():
        return plain
    apart = unicodedata.normalize("NFKD", plain)
    return "".join(one for one in apart if not unicodedata.combining(one))


def words(text: str) -> list[str]:
    """The words of a text in their order."""
    return [word[:LONGEST] for word in _WORD.findall(folded(text))]


def said(user_input: str | None, answer: Any) -> str:
    """What both sides said: of an answer its text, of one that is a document the document."""
    told = spoken(answer) or ("" if answer is None else dumps(answer))
    return f"{user_input or ''}\n{told}"


def different(text: str) -> list[str]:
    """The words of a text, each once; of an enormous text as many as an index takes."""
    found, left = [], MOST_BYTES
    for word in dict.fromkeys(words(text)):
        left -= len(word.encode())
        if left < 0:
            break
        found.append(word)
    return found


@dataclass(frozen=True)
class Wanted:
    """What a turn has to say: all these words, words that begin so, and word sequences."""

    words: tuple[str, ...] = ()
    beginnings: tuple[str, ...] = ()
    phrases: tuple[tuple[str, ...], ...] = ()

    @classmethod
    def read(cls, text: str) -> Self:
        """Words, `begin*` and "words in this order". Raises NotWords."""
        plain: list[str] = []
        beginnings: list[str] = []
        phrases: list[tuple[str, ...]] = []
        for phrase, part in _PART.findall(text):
            found = tuple(words(phrase or part))
            if len(found) > 1:
                phrases.append(found)
            elif found and part.endswith("*"):
                beginnings.append(_beginning(found[0]))
            else:
                plain += found
        if not (plain or beginnings or phrases):
            raise NotWords(f"{text.strip()!r} has no word in it: give letters or digits.")
        return cls(tuple(plain), tuple(beginnings), tuple(phrases))

    @property
    def every_word(self) -> tuple[str, ...]:
        """The words that must be there, those of phrases too."""
        return (*self.words, *(word for phrase in self.phrases for word in phrase))

    def fits(self, text: str) -> bool:
        """True when the text has all of it."""
        found = words(text)
        there = set(found)
        return (
            there.issuperset(self.every_word)
            and all(any(word.startswith(one) for word in there) for one in self.beginnings)
            and all(_in_order(phrase, found) for phrase in self.phrases)
        )

    def places(self, text: str) -> Iterator[tuple[int, int]]:
        """Where in a text a wanted word stands, as it is written: (start, end)."""
        there = set(self.every_word)
        for match in _WORD.finditer(text):
            word = folded(match[0])[:LONGEST]
            if word in there or any(word.startswith(one) for one in self.beginnings):
                yield match.span()


def _beginning(word: str) -> str:
    if len(word) < SHORTEST_BEGINNING:
        raise NotWords(f"{word}* is too short: give at least {SHORTEST_BEGINNING} letters before the star.")
    return word


def _in_order(phrase: tuple[str, ...], found: list[str]) -> bool:
    size = len(phrase)
    return any(tuple(found[place : place + size]) == phrase for place in range(len(found) - size + 1))
