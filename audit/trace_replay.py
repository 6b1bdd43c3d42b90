"""The original's replay service: messages as turns of a fresh conversation, compared with what is expected (8.1).

It really runs: the model is asked, and tasks and tools have their effects. What was recorded is run again without any
by `audit.replay`; messages with a scripted world around them are a scenario (`manage.py scenarios`).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from convengine.codec import dumps
from convengine.domain.turn import TurnRequest
from convengine.sessions.store import new_id
from convengine.sessions.turns import TurnAnswer, take_turn

#: What a turn that failed has for its intent and its state.
ERROR = "ERROR"


@dataclass(frozen=True)
class TraceExpectation:
    """Where a turn is to lead."""

    #: Counted from 0.
    turn_index: int
    #: Null: not checked.
    expected_intent: str | None = None
    expected_state: str | None = None


@dataclass(frozen=True)
class TraceTurnResult:
    """Where a turn led."""

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
    """All turns, and what was expected otherwise."""

    turns: Sequence[TraceTurnResult]
    assertion_failures: Sequence[str]

    def passed(self) -> bool:
        """True when nothing was expected otherwise."""
        return not self.assertion_failures

    def as_json(self) -> dict[str, Any]:
        """In the original's names."""
        return {
            "turns": [turn.as_json() for turn in self.turns],
            "assertionFailures": list(self.assertion_failures),
            "passed": self.passed(),
        }


def replay(user_messages: Sequence[str], expectations: Sequence[TraceExpectation] = ()) -> TraceReplayResult:
    """Take the turns, one after the other, without input params. Raises what happens before a turn exists."""
    conversation_id, turns = new_id(), []
    for index, text in enumerate(user_messages):
        answer = take_turn(TurnRequest(conversation_id, text, new=index == 0))
        assert isinstance(answer, TurnAnswer)  # Without a key nothing is answered from what was stored.
        failed, session = answer.error is not None, answer.session
        intent, state = (ERROR, ERROR) if failed else (session.intent or "", session.state or "")
        turns.append(TraceTurnResult(index, text, intent, state, dumps(session.context)))
    return TraceReplayResult(turns, [text for one in expectations for text in failures(one, turns)])


def failures(expected: TraceExpectation, turns: Sequence[TraceTurnResult]) -> Iterator[str]:
    """What is otherwise than a turn was expected to lead, in words. Case does not count."""
    if not 0 <= expected.turn_index < len(turns):
        yield f"turn {expected.turn_index} is out of range"
        return
    turn = turns[expected.turn_index]
    for name, wanted, got in (
        ("intent", expected.expected_intent, turn.intent),
        ("state", expected.expected_state, turn.state),
    ):
        if wanted is not None and wanted.lower() != got.lower():
            yield f"turn {expected.turn_index}: expected {name} {wanted}, got {got}"
