"""The Python client against a real server."""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from convengine.client import (
    ApiError,
    AsyncClient,
    Client,
    InvalidRequest,
    NotAuthenticated,
    NotFound,
)
from tests.api import make_key
from tests.live.processes import start_granian
from tests.worlds import create_help_desk

FOR_REAL = pytest.mark.django_db(transaction=True)


@pytest.fixture
def client(live_server: Any) -> Any:
    create_help_desk()
    with Client(live_server.url, make_key()) as client:
        yield client


@FOR_REAL
def test_a_conversation_is_held_and_read(client: Client) -> None:
    first = client.create_turn("your hours please", input_params={"tier": "gold"})
    second = client.create_turn("and the fees", first.conversation_id)

    assert (first.text, first.intent, first.turn_no) == ("Nine to five.", "HOURS", 1)
    assert second.turn_no == 2
    assert first.state_report
    assert (first.state_report.lifecycle, first.state_report.asked) == ("RUNNING", None)
    conversation = client.get_conversation(first.conversation_id)
    assert (conversation.turn_count, conversation.intent) == (2, "FEES")
    assert [turn.user_text for turn in client.list_turns(first.conversation_id)] == [
        "and the fees",
        "your hours please",
    ]
    assert "USER_INPUT" in [event.stage for event in client.list_events(first.conversation_id, turn=1)]
    assert client.get_turn_trace(first.conversation_id, 1)["turns"][0]["turnNo"] == 1
    assert client.create_feedback(first.conversation_id, "THUMBS_UP", turn_id=first.turn_id).feedback_id
    assert client.request("GET", "/api/v1/audit/stages")["stages"]


@FOR_REAL
def test_the_same_key_gives_the_same_answer(client: Client) -> None:
    first = client.create_turn("hours", idempotency_key="k")
    repeated = client.create_turn("hours", idempotency_key="k")

    assert (first.is_replayed, repeated.is_replayed) == (False, True)
    assert repeated.turn_id == first.turn_id


@FOR_REAL
def test_a_participant_writes_on_a_channel(client: Client) -> None:
    answer = client.send_session_message("default", "whatsapp", "+49170", "hours")

    assert (answer.decision, answer.reply, answer.turn.intent) == ("new", "Nine to five.", "HOURS")
    assert [session.session_id for session in client.list_sessions("default")] == [answer.session.session_id]
    assert client.get_session(answer.session.session_id).status == "active"
    assert client.close_session(answer.session.session_id, "done").status == "closed"


@FOR_REAL
def test_failures_are_errors_with_what_the_api_says(client: Client, live_server: Any) -> None:
    with pytest.raises(InvalidRequest) as invalid:
        client.create_turn("hours", "no-uuid")
    with pytest.raises(NotFound):
        client.get_conversation("00000000-0000-4000-8000-000000000000")
    with Client(live_server.url, "nobody.knows") as stranger, pytest.raises(NotAuthenticated):
        stranger.create_turn("hours")

    assert list(invalid.value.fields) == ["conversationId"]
    assert invalid.value.request_id


@FOR_REAL
def test_the_async_client_does_the_same(live_server: Any) -> None:
    create_help_desk()

    async def talk() -> tuple[str, list[int]]:
        async with AsyncClient(live_server.url, make_key_once) as client:
            answer = await client.create_turn("hours")
            with pytest.raises(ApiError):
                await client.get_conversation("x" * 36)
            return answer.text, [turn.turn_no async for turn in client.list_turns(answer.conversation_id)]

    make_key_once = make_key()
    assert asyncio.run(talk()) == ("Nine to five.", [1])


@FOR_REAL
@pytest.mark.slow
def test_a_stream_follows_a_conversation_until_its_session_ends() -> None:
    create_help_desk()
    secret = make_key()
    server = start_granian(asgi=True, CE_STREAM_POLL_MS="100")
    try:
        server.wait_until_ready()
        with Client(f"http://127.0.0.1:{server.port}", secret) as client:
            session = client.send_session_message("default", "shop", "anna", "hours").session
            with ThreadPoolExecutor(1) as pool:
                watching = pool.submit(watch, client, session.session_id)
                client.close_session(session.session_id)
                names = watching.result(30)
                assert pool.submit(watch, client, session.session_id).result(30) == names, "of a closed session"
    finally:
        server.end()

    assert names.count("USER_INPUT") == 1
    assert names[-1] == "STREAM_CLOSED"


def watch(client: Client, conversation_id: str) -> list[str]:
    return [event.name for event in client.stream_events(conversation_id, after="0.0", verbose=False)]
