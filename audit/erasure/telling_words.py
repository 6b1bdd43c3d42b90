"""What may tell of an erased person: words of turns, such as names, and recorded answers, which tests may quote."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import fields
from itertools import chain
from typing import Any

from convengine.engine.text.compare import split_words
from convengine.engine.text.participants import SHORTEST
from convengine.engine.turn.codec import dumps
from convengine.engine.turn.snapshot import Snapshot
from convengine.engine.understanding.language import get_tables, list_languages
from convengine.server.sessions.models import CeConversationHistory
from convengine.server.turns.stored_recording import read_recording


def list_telling_words(texts: Iterable[str], snapshot: Snapshot) -> frozenset[str]:
    """The words of messages and answers, but for words of the configuration and small words of the languages.

    What the bot says to everybody, and what everybody says to it, tells of nobody.
    """
    words = {word for text in texts for word in split_words(text) if len(word) >= SHORTEST}
    return frozenset(words - snapshot.memo.get("common_words", lambda: _list_common_words(snapshot)))


def has_telling_word(text: str, words: frozenset[str]) -> bool:
    """True for a search with one of these words, or with the beginning of one (`begin*`)."""
    beginnings = [word for part in text.split() if part.endswith("*") for word in split_words(part)]
    return not words.isdisjoint(split_words(text)) or any(
        word.startswith(beginning) for beginning in beginnings if len(beginning) >= SHORTEST for word in words
    )


def _list_common_words(snapshot: Snapshot) -> frozenset[str]:
    rows = (row for table in snapshot.tables.values() for row in table.by_pk.values())
    talk = (words for name in list_languages() for words in get_tables(name).talk)
    return frozenset(word for text in chain(map(_write_out, rows), talk) for word in split_words(text))


def _write_out(row: Any) -> str:
    return " ".join(dumps(getattr(row, column.name)) for column in fields(row))


#: The ports whose answers a test may have as stubs.
_PORTS = ("model", "task", "tool", "container")
#: A shorter answer, such as a status, is no sign of a person.
_SHORTEST = 20


def list_quotable_texts(turns: Iterable[CeConversationHistory]) -> list[str]:
    """The recorded answers of turns from outside, as a document of a test has them, each once; none that is short."""
    texts = (text for turn in turns if turn.recording for text in _list_answers(turn.recording))
    return list(dict.fromkeys(text for text in texts if len(text) >= _SHORTEST))


def _list_answers(recording: Any) -> Iterator[str]:
    """The answers in a recording as JSON; none of a recording that cannot be read. An answer without text is blank."""
    try:
        tape = read_recording(recording).tape
    except ValueError:
        return
    for port, _, answer in tape:
        if port in _PORTS and isinstance(answer, dict):
            value = answer.get("text") or answer.get("value") or answer.get("result")
            yield json.dumps(value, sort_keys=True, separators=(",", ":")) if value else ""
