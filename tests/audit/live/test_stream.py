"""One reader's way through a conversation, with the real database, and news of turns as a test wants them."""

import asyncio
import json
import uuid
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest
from asgiref.sync import async_to_sync, sync_to_async
from django.db import InterfaceError, OperationalError

from audit.live import asgi, read_events
from audit.live.asgi import StreamRequest, iterate_frames
from audit.live.hub import Hub
from audit.live.messages import StreamCursor
from audit.models import CeAudit, CeRunningEvent
from config_admin.models import CeResponse
from convengine.engine.turn.codec import dumps
from convengine.server.sessions.models import CeConversationHistory
from tests.api import Caller
from tests.record import entry, events

pytestmark = [pytest.mark.django_db, pytest.mark.dialects]


class HereHub(Hub):
    """Asks the database in the thread of the test, which alone sees what the test stored."""

    async def read(self, work: Callable[[], Any]) -> Any:
        return await sync_to_async(work)()

    def _pause(self) -> float:
        return 60.0


@dataclass
class Reading:
    """What a reader was sent."""

    names: list[str] = field(default_factory=list)
    ids: list[str] = field(default_factory=list)
    data: list[dict[str, Any]] = field(default_factory=list)


def read(
    caller: Caller, cursor: StreamCursor, *news: str, stages: frozenset[str] = frozenset(), lasts: float = 0.3
) -> Reading:
    """Stream for a moment."""
    found = Reading()

    async def run() -> None:
        hub = HereHub()
        reader = hub.join(caller.conversation_id)
        for one in news:
            reader.wake(one)
        async for sent in iterate_frames(hub, reader, StreamRequest(caller.conversation_id, cursor, stages), lasts):
            if sent.startswith(b":"):
                continue
            lines = dict(line.split(": ", 1) for line in sent.decode().strip().split("\n"))
            found.names.append(lines["event"])
            found.ids.append(lines.get("id", ""))
            found.data.append(json.loads(lines["data"]))
        hub.leave(reader)
        if hub._polling:
            hub._polling.cancel()

    async_to_sync(run)()
    assert (found.names[0], found.names[-1]) == ("CONNECTED", "STREAM_CLOSED")
    return Reading(found.names[1:-1], found.ids[1:-1], found.data[1:])


@pytest.fixture(autouse=True)
def often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(asgi, "HEARTBEAT", 0.05)


def list_stored_ids(turn: int) -> list[str]:
    return [f"{turn}.{event.seq}" for event in events(turn_no=turn)]


def test_what_is_stored_comes_whole_and_in_order_from_any_place(caller: Caller) -> None:
    caller.say("hours")
    caller.say("fees")
    everything = [*list_stored_ids(1), *list_stored_ids(2)]

    assert read(caller, StreamCursor(0, 0)).ids == everything
    assert read(caller, StreamCursor(1, 40)).ids == everything[40:]
    assert read(caller, read_events.newest_cursor(caller.conversation_id)).ids == []


def test_events_are_those_of_the_audit_endpoint(caller: Caller) -> None:
    caller.say("hours")
    listed = caller.get(page="off").json()

    sent = read(caller, StreamCursor(1, 30)).data[:-1]

    assert [(one["auditId"], one["stage"], one["payload"]) for one in sent] == [
        (one["auditId"], one["stage"], one["payload"]) for one in listed[30:]
    ]


def test_a_turn_that_failed_is_followed_by_a_message_that_says_so_once(caller: Caller) -> None:
    CeResponse.objects.filter(intent_code="HOURS").delete()
    caller.say("hours")
    caller.say("fees")

    found = read(caller, StreamCursor(0, 0))
    cursor = found.names.index("TURN_FAILED")

    assert found.ids == [*list_stored_ids(1), "1.999999", *list_stored_ids(2)]
    assert found.data[cursor]["payload"]["errorCode"] == "RESPONSE_MAPPING_NOT_FOUND"
    assert "TURN_FAILED" not in read(caller, StreamCursor(1, 999_999)).names


def run_in_part(caller: Caller, stored: int) -> None:
    """Store the first events of a running turn for its readers."""
    last = CeConversationHistory.objects.order_by("-turn_no").first()
    assert last
    CeRunningEvent.objects.create(
        conversation_id=last.conversation_id, lease_token=uuid.uuid4(), turn_id=uuid.uuid4(),
        turn_no=last.turn_no + 1, config_version=1, created_at=last.created_at, last_seq=stored,
        events=dumps([entry(seq, "STEP_ENTER", {"step": "X"}) for seq in range(1, stored + 1) if seq != 2]),
    )  # fmt: skip


def test_events_of_a_turn_that_runs_come_as_they_are_stored_and_not_again(caller: Caller) -> None:
    caller.say("hours")
    last = len(list_stored_ids(1))
    run_in_part(caller, 3)

    found = read(caller, StreamCursor(1, last))

    # 2.2 is one that the audit does not take.
    assert found.ids == ["2.1", "2.3"]
    assert [one["auditId"] for one in found.data[:-1]] == [None, None]
    assert read(caller, StreamCursor(2, 1)).ids == ["2.3"]
    assert read(caller, read_events.newest_cursor(caller.conversation_id)).ids == []


def test_events_of_the_turns_before_come_first(caller: Caller) -> None:
    caller.say("hours")
    run_in_part(caller, 1)

    assert read(caller, StreamCursor(1, 10)).ids == [*list_stored_ids(1)[10:], "2.1"]


def test_progress_texts_come_without_an_id(caller: Caller) -> None:
    caller.say("hours")

    # It comes after what is stored was looked for, which takes its time on a busy machine.
    found = read(caller, StreamCursor(1, len(list_stored_ids(1))), '{"text": "Wait."}', lasts=3)

    assert (found.names, found.ids, found.data[0]) == (["VERBOSE"], [""], {"text": "Wait."})


def test_an_answer_that_was_told_and_not_committed_is_followed_by_turn_failed(caller: Caller) -> None:
    caller.say("fees")
    CeResponse.objects.filter(intent_code="HOURS").delete()
    caller.say("hours")

    found = read(caller, StreamCursor(2, 300))

    assert (found.names, found.ids) == (["TURN_FAILED"], ["2.999999"])


def test_events_outside_of_turns_come_once_wherever_the_reader_goes_on(caller: Caller) -> None:
    caller.say("hours")
    caller.client.post(
        f"/api/v1/sessions/{caller.conversation_id}/close",
        headers={"Authorization": f"Api-Key {caller.secret}"},
        content_type="application/json",
        data={},
    )
    beside = CeAudit.objects.get(turn_no=None)

    found = read(caller, StreamCursor(1, 70))

    assert found.names[-1] == beside.stage
    assert found.ids[-1] == f"1.{len(list_stored_ids(1))}.{beside.pk}"
    assert found.data[-1]["reason"] == "SESSION_COMPLETE"
    assert read(caller, StreamCursor(1, len(list_stored_ids(1)), beside.pk)).ids == []
    assert read_events.complete_cursor(caller.conversation_id, StreamCursor(1, 70)).beside == 0


def test_a_filter_takes_stages_by_name_and_keeps_failures(caller: Caller) -> None:
    CeResponse.objects.filter(intent_code="HOURS").delete()
    caller.say("hours")

    assert read(caller, StreamCursor(0, 0), stages=frozenset({"USER_INPUT"})).names == ["USER_INPUT", "TURN_FAILED"]


def test_a_reader_that_is_too_slow_is_told_so_and_may_come_again(caller: Caller) -> None:
    caller.say("hours")
    last = len(list_stored_ids(1))
    too_many = ["{}"] * 1100

    found = read(caller, StreamCursor(1, last), *too_many)

    assert found.ids == []
    assert found.data[-1]["reason"] == "STREAM_TOO_SLOW"


def test_a_conversation_that_is_deleted_ends_its_streams(caller: Caller) -> None:
    assert read(caller, StreamCursor(0, 0)).data[-1]["reason"] == "NOT_FOUND"


def test_signs_of_life_come_while_nothing_happens(caller: Caller) -> None:
    caller.say("hours")
    cursor = read_events.newest_cursor(caller.conversation_id)

    async def first() -> bytes:
        hub = HereHub()
        reader = hub.join(caller.conversation_id)
        frames = iterate_frames(hub, reader, StreamRequest(caller.conversation_id, cursor), 5.0)
        await anext(frames)
        sent = await anext(frames)
        if hub._polling:
            hub._polling.cancel()
        return sent

    assert async_to_sync(first)() == b": still here\n\n"


@pytest.mark.parametrize("error", [OperationalError, InterfaceError])
def test_a_poll_that_does_not_reach_the_database_is_not_the_last_one(
    caller: Caller, error: type[Exception], monkeypatch: pytest.MonkeyPatch
) -> None:
    caller.say("hours")
    polls: list[int] = []
    read_versions = read_events.read_versions

    def fail_first(names: Any) -> Any:
        polls.append(len(names))
        if len(polls) == 1:
            raise error("the connection is closed")
        return read_versions(names)

    async def run() -> None:
        monkeypatch.setattr(HereHub, "_pause", lambda hub: 0.01)
        hub = HereHub()
        reader = hub.join(caller.conversation_id)
        await asyncio.wait_for(reader.woken.wait(), 1)
        hub.leave(reader)
        if hub._polling:
            hub._polling.cancel()

    monkeypatch.setattr(read_events, "read_versions", fail_first)
    async_to_sync(run)()
    assert polls[:2] == [1, 1]
