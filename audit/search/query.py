"""A search as a value, with its words: splitting texts, parsing what was typed, and matching.

The same matching for every database; hits of an index are checked again here.
"""

import re
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any, Self

from audit.record.form_steps import FormProgress
from audit.record.outcomes import WantedOutcome
from convengine.engine.text.compare import fold
from convengine.engine.turn.codec import dumps
from convengine.engine.turn.payload import to_spoken_text

_WORD = re.compile(r"\w+")
_PART = re.compile(r'"([^"]*)"|(\S+)')
#: Maximum length of a word; and maximum bytes of a text's different words in the index.
LONGEST, MOST_BYTES = 60, 500_000
#: A shorter prefix would match too much.
SHORTEST_BEGINNING = 3


class NoWords(ValueError):
    """An invalid query; the message says what is possible."""


def split_words(text: str) -> list[str]:
    return [word[:LONGEST] for word in _WORD.findall(fold(text))]


def turn_text(user_input: str | None, answer: Any) -> str:
    """Both sides of a turn: the message, and the answer's text or document."""
    answer_text = to_spoken_text(answer) or ("" if answer is None else dumps(answer))
    return f"{user_input or ''}\n{answer_text}"


def distinct_words(text: str) -> list[str]:
    """The different words of a text, limited to what an index accepts."""
    distinct, room = [], MOST_BYTES
    for word in dict.fromkeys(split_words(text)):
        room -= len(word.encode())
        if room < 0:
            break
        distinct.append(word)
    return distinct


@dataclass(frozen=True)
class TextQuery:
    """A query: words, prefixes, and word sequences that must all occur."""

    words: tuple[str, ...] = ()
    beginnings: tuple[str, ...] = ()
    phrases: tuple[tuple[str, ...], ...] = ()

    @classmethod
    def read(cls, text: str) -> Self:
        """Parse words, `begin*` and "words in this order". Raises NoWords."""
        plain: list[str] = []
        beginnings: list[str] = []
        phrases: list[tuple[str, ...]] = []
        for phrase, part in _PART.findall(text):
            words = tuple(split_words(phrase or part))
            if len(words) > 1:
                phrases.append(words)
            elif words and part.endswith("*"):
                if len(words[0]) < SHORTEST_BEGINNING:
                    text = f"{words[0]}* is too short. Enter at least {SHORTEST_BEGINNING} letters before the *."
                    raise NoWords(text)
                beginnings.append(words[0])
            else:
                plain += words
        if not (plain or beginnings or phrases):
            raise NoWords(f"{text.strip()!r} contains no word. Enter letters or digits.")
        return cls(tuple(plain), tuple(beginnings), tuple(phrases))

    @property
    def every_word(self) -> tuple[str, ...]:
        """All required words, including those of sequences."""
        return (*self.words, *(word for phrase in self.phrases for word in phrase))

    def matches_text(self, text: str) -> bool:
        """True when the text has all words, beginnings and phrases."""
        words = split_words(text)
        distinct = set(words)
        return (
            distinct.issuperset(self.every_word)
            and all(any(word.startswith(beginning) for word in distinct) for beginning in self.beginnings)
            and all(_contains_phrase(phrase, words) for phrase in self.phrases)
        )

    def find_spans(self, text: str) -> Iterator[tuple[int, int]]:
        """The positions of wanted words in the original text: (start, end). Words of phrases count everywhere."""
        every_word = set(self.every_word)
        for match in _WORD.finditer(text):
            word = fold(match[0])[:LONGEST]
            if word in every_word or any(word.startswith(beginning) for beginning in self.beginnings):
                yield match.span()


def _contains_phrase(phrase: tuple[str, ...], words: list[str]) -> bool:
    size = len(phrase)
    return any(tuple(words[start : start + size]) == phrase for start in range(len(words) - size + 1))


TURNS, CONVERSATIONS = "turns", "conversations"


@dataclass(frozen=True)
class SearchQuery:
    """The filters of a search; all must match. Empty fields match everything."""

    #: Of a conversation, or of a turn.
    id: uuid.UUID | None = None
    #: Callers of the API see one workspace only.
    workspace: str = ""
    channel: str = ""
    participant: str = ""
    text: TextQuery | None = None
    intent: str = ""
    state: str = ""
    #: Before the turn.
    intent_before: str = ""
    state_before: str = ""
    status: str = ""
    stage: str = ""
    #: What happened in the turn: a `Milestone`.
    milestone: str = ""
    #: What became of the conversation, or of a form, that began in the turn.
    outcome: WantedOutcome | None = None
    #: A step of a form.
    step: FormProgress | None = None
    #: A group of messages of the inbox.
    group: int | None = None
    #: A deciding row: its table, and its key as text.
    table: str = ""
    row: str = ""
    error: str = ""
    release: int | None = None
    #: A model that was called, with its connection: `connection/model`.
    model: str = ""
    #: A type of feedback on the turn that was not replaced.
    feedback: str = ""
    #: Minimum cost of the turn's model calls.
    cost: Decimal | None = None
    #: Minimum duration in milliseconds.
    duration: int | None = None
    #: The time range of turns, inclusive.
    since: datetime | None = None
    until: datetime | None = None
    #: TURNS, or CONVERSATIONS: each at its newest matching turn.
    kind: str = TURNS
