"""A message of a thread, found its session and taken there, in one call."""

from typing import Any

import pytest

from convengine.engine.errors import ConversationClosed, TurnConflict, TurnInProgress
from convengine.engine.turn.codec import to_plain
from convengine.engine.turn.turn import TurnRequest
from convengine.server.sessions.models import CeConversation
from convengine.server.threads.find_session import Thread
from convengine.server.threads.take_message import take_message
from convengine.server.turns.answer import StoredAnswer, TurnAnswer
from convengine.server.turns.idempotency import IdempotencyKey
from convengine.server.turns.take_turn import take_turn
from tests.threads import travel_desk

pytestmark = pytest.mark.django_db
THREAD = Thread("default", "whatsapp", "+1555")
KEY = IdempotencyKey("key", "once", "hash")


@pytest.fixture(autouse=True)
def desk() -> None:
    travel_desk()


def request(text: str | None = "hours") -> TurnRequest:
    return TurnRequest("", text, channel=THREAD.channel, workspace_id=THREAD.workspace_id)


def send(text: str | None = "hours") -> TurnAnswer:
    answer = take_message(THREAD, request(text))
    assert isinstance(answer, TurnAnswer)
    return answer


def test_the_turn_is_taken_in_the_session_that_was_found() -> None:
    first, second = send(), send("hours?")

    assert [answer.body["reason"] for answer in (first, second)] == ["first_message", "within_timeout"]
    assert first.conversation_id == second.conversation_id
    assert [answer.turn_no for answer in (first, second)] == [1, 2]


def test_the_turn_knows_why_it_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    requests: list[Any] = []

    def take(request: TurnRequest, *more: Any) -> Any:
        requests.append((request.resolved, request.conversation_id))
        return take_turn(request, *more)

    monkeypatch.setattr("convengine.server.threads.take_message.take_turn", take)
    answer = send("start over")

    assert requests == [("explicit_reset", answer.conversation_id)]


def test_a_session_that_ends_meanwhile_is_followed_by_the_next(monkeypatch: pytest.MonkeyPatch) -> None:
    first = send()
    calls: list[str] = []

    def take(request: TurnRequest, *more: Any) -> Any:
        calls.append(request.conversation_id)
        if len(calls) == 1:
            CeConversation.objects.update(lifecycle="COMPLETE")
            raise ConversationClosed()
        return take_turn(request, *more)

    monkeypatch.setattr("convengine.server.threads.take_message.take_turn", take)
    answer = send()

    assert calls == [first.conversation_id, answer.conversation_id]
    assert answer.body["reason"] == "session_closed"
    assert answer.body["session"]["previous_session_id"] == calls[0]


def test_it_is_not_tried_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[int] = []

    def never(*_: Any) -> Any:
        calls.append(1)
        raise ConversationClosed()

    monkeypatch.setattr("convengine.server.threads.take_message.take_turn", never)

    with pytest.raises(TurnConflict, match="Send the message again"):
        take_message(THREAD, request())
    assert len(calls) == 20


def test_what_else_goes_wrong_is_the_callers(monkeypatch: pytest.MonkeyPatch) -> None:
    def busy(*_: Any) -> Any:
        raise TurnInProgress()

    monkeypatch.setattr("convengine.server.threads.take_message.take_turn", busy)

    with pytest.raises(TurnInProgress):
        take_message(THREAD, request())


def test_a_call_that_was_answered_is_answered_the_same_and_looks_for_no_session() -> None:
    first = take_message(THREAD, request("start over"), KEY)
    again = take_message(THREAD, request("start over"), KEY)

    assert isinstance(first, TurnAnswer)
    assert isinstance(again, StoredAnswer)
    assert again.body == to_plain(first.body)
    assert (again.body["session_id"], again.body["turn"]["turnNo"]) == (first.conversation_id, 1)
    assert CeConversation.objects.count() == 1
