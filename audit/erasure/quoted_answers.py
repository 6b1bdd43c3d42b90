"""Find tests that may quote an erased person, although they were not made of the conversation."""

import json
from collections.abc import Iterable, Iterator
from typing import Any

from convengine.server.sessions.models import CeConversationHistory
from convengine.server.turns.stored_recording import read_recording

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
