"""The original's replay service: messages as turns of a new conversation, compared with expectations.

It really runs the turns: the model is called, and tasks and tools have their effects. `audit.replay.replay` replays
recorded turns without effects; for messages with a scripted world, write a scenario (`manage.py scenarios`).
"""

import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from convengine.engine.turn.codec import dumps
from convengine.engine.turn.turn import TurnRequest
from convengine.server.turns.answer import TurnAnswer
from convengine.server.turns.take_turn import take_turn

#: Intent and state of a failed turn.
ERROR = "ERROR"


@dataclass(frozen=True)
class TraceExpectation:
    """The expected result of a turn."""

    #: Counted from 0.
    turn_index: int
    #: Null: not checked.
    expected_intent: str | None = None
    expected_state: str | None = None


@dataclass(frozen=True)
class TraceTurnResult:
    """The result of a turn."""

    turn_index: int
    user_text: str
    intent: str
    state: str
    context_json: str

    def as_json(self) -> dict[str, Any]:
        """In the original's names."""
        return {
            "turnIndex": self.turn_index,
            "userText": self.user_text,
            "intent": self.intent,
            "state": self.state,
            "contextJson": self.context_json,
        }


@dataclass(frozen=True)
class TraceReplayResult:
    """All turns, and the failed expectations."""

    turns: Sequence[TraceTurnResult]
    assertion_failures: Sequence[str]

    def has_passed(self) -> bool:
        """True when all expectations are met."""
        return not self.assertion_failures

    def as_json(self) -> dict[str, Any]:
        """In the original's names."""
        return {
            "turns": [turn.as_json() for turn in self.turns],
            "assertionFailures": list(self.assertion_failures),
            "passed": self.has_passed(),
        }


def replay(user_messages: Sequence[str], expectations: Sequence[TraceExpectation] = ()) -> TraceReplayResult:
    """Take the turns one after the other, without input params. Raises errors from before a turn exists."""
    conversation_id, turns = str(uuid.uuid4()), []
    for index, text in enumerate(user_messages):
        answer = take_turn(TurnRequest(conversation_id, text, new=index == 0))
        assert isinstance(answer, TurnAnswer)  # Without a key no stored answer is used.
        failed, session = answer.error is not None, answer.session
        intent, state = (ERROR, ERROR) if failed else (session.intent or "", session.state or "")
        turns.append(TraceTurnResult(index, text, intent, state, dumps(session.context)))
    return TraceReplayResult(
        turns, [text for expectation in expectations for text in find_failures(expectation, turns)]
    )


def find_failures(expected: TraceExpectation, turns: Sequence[TraceTurnResult]) -> Iterator[str]:
    """The failed expectations in words. Case does not matter."""
    if not 0 <= expected.turn_index < len(turns):
        yield f"turn {expected.turn_index} is out of range"
        return
    turn = turns[expected.turn_index]
    for name, wanted, actual in (
        ("intent", expected.expected_intent, turn.intent),
        ("state", expected.expected_state, turn.state),
    ):
        if wanted is not None and wanted.lower() != actual.lower():
            yield f"turn {expected.turn_index}: expected {name} {wanted}, got {actual}"
