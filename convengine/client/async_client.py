"""The async client. Its methods are the calls of the API."""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from types import TracebackType
from typing import Any, Self, TypeVar

import httpx2

from convengine.client import calls, streams
from convengine.client.answers import (
    Conversation,
    Event,
    Feedback,
    Page,
    Session,
    SessionAnswer,
    StreamEvent,
    TurnAnswer,
    TurnRecord,
)
from convengine.client.calls import Call, Context, Rating
from convengine.client.errors import ApiError, ConnectionFailed, make_error
from convengine.client.retries import NO_RETRIES, Retries

Json = Any
T = TypeVar("T")
Item = TypeVar("Item")
#: Seconds for a turn, which may wait for models.
TIMEOUT = 120.0


class AsyncClient:
    """Calls the API with a key. Use it as a context manager, or close it.

    Failed calls raise `ApiError` or `ConnectionFailed`, after attempts as `retries` says. Every turn is sent with an
    `Idempotency-Key`, so a second attempt has no second effect.
    """

    def __init__(
        self,
        base_url: str,
        api_key: str,
        *,
        retries: Retries | None = None,
        timeout: float = TIMEOUT,
        transport: httpx2.AsyncBaseTransport | None = None,
    ) -> None:
        self._base_url = base_url.rstrip("/")
        self._retries = retries or Retries()
        headers = calls.make_headers(api_key)
        self._http = httpx2.AsyncClient(base_url=self._base_url, headers=headers, timeout=timeout, transport=transport)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Close the connections."""
        await self._http.aclose()

    async def create_turn(
        self,
        message: str | None,
        conversation_id: str | None = None,
        *,
        input_params: Mapping[str, Json] | None = None,
        reset: bool = False,
        preferences: Mapping[str, str] | None = None,
        context: Context = "public",
        include: tuple[str, ...] = (),
        idempotency_key: str | None = None,
    ) -> TurnAnswer:
        """Send a message. Without `conversation_id` a conversation begins; send the answer's id with the next one."""
        call = calls.create_turn(
            message,
            conversation_id,
            input_params=input_params,
            reset=reset,
            preferences=preferences,
            context=context,
            include=include,
            idempotency_key=idempotency_key,
        )
        return await self.send(call)

    async def send_session_message(
        self,
        workspace_id: str,
        channel: str,
        remote_jid: str,
        user_message: str | None,
        *,
        input_params: Mapping[str, Json] | None = None,
        preferences: Mapping[str, str] | None = None,
        context: Context = "public",
        idempotency_key: str | None = None,
    ) -> SessionAnswer:
        """Send a message of a participant on a channel; the server finds or makes the session."""
        call = calls.send_session_message(
            workspace_id,
            channel,
            remote_jid,
            user_message,
            input_params=input_params,
            preferences=preferences,
            context=context,
            idempotency_key=idempotency_key,
        )
        return await self.send(call)

    async def get_session(self, session_id: str) -> Session:
        return await self.send(calls.get_session(session_id))

    async def close_session(self, session_id: str, reason: str | None = None) -> Session:
        return await self.send(calls.close_session(session_id, reason))

    def list_sessions(
        self, workspace_id: str, *, channel: str | None = None, remote_jid: str | None = None
    ) -> AsyncIterator[Session]:
        """All sessions of the workspace, newest first."""
        return self._iterate(lambda cursor: calls.list_sessions(workspace_id, channel, remote_jid, cursor))

    async def get_conversation(self, conversation_id: str) -> Conversation:
        return await self.send(calls.get_conversation(conversation_id))

    def list_turns(self, conversation_id: str) -> AsyncIterator[TurnRecord]:
        """All turns, newest first."""
        return self._iterate(lambda cursor: calls.list_turns(conversation_id, cursor))

    def list_events(
        self, conversation_id: str, *, turn: int | None = None, stages: tuple[str, ...] = ()
    ) -> AsyncIterator[Event]:
        """All events of turns, oldest first."""
        return self._iterate(lambda cursor: calls.list_events(conversation_id, turn, stages, cursor))

    async def get_turn_trace(self, conversation_id: str, turn_no: int) -> Mapping[str, Json]:
        """A turn as steps with their stages, as JSON."""
        return await self.send(calls.get_turn_trace(conversation_id, turn_no))

    async def create_feedback(
        self,
        conversation_id: str,
        rating: Rating,
        *,
        turn_id: str | None = None,
        comment: str | None = None,
        correction: str | None = None,
        metadata: Mapping[str, Json] | None = None,
    ) -> Feedback:
        """Rate an answer; without `turn_id` the last one."""
        call = calls.create_feedback(
            conversation_id, rating, turn_id=turn_id, comment=comment, correction=correction, metadata=metadata
        )
        return await self.send(call)

    async def request(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, Json] | None = None,
        body: Json = None,
        headers: Mapping[str, str] | None = None,
    ) -> Json:
        """Any other call of the API, such as `request("GET", "/api/v1/config")`; gives its JSON."""
        return await self.send(calls.make_request(method, path, query, body, headers))

    async def stream_events(
        self, conversation_id: str, *, after: str = "", stages: tuple[str, ...] = (), verbose: bool = True
    ) -> AsyncIterator[StreamEvent]:
        """The events of a conversation while they happen, until its session ends. Broken connections are renewed.

        `after="0.0"` begins with the first event, and the `id` of an event behind it.
        """
        address, attempt = calls.stream_path(conversation_id), 1
        while True:
            try:
                async with self._http.stream(
                    "GET",
                    address,
                    params=streams.make_query(after, stages, verbose=verbose),
                    headers={"Accept": "text/event-stream"},
                ) as response:
                    if response.status_code == 307:
                        address = streams.find_stream_address(self._base_url, address, response.headers)
                        continue
                    if response.status_code == 204:
                        return
                    if response.status_code != 200:
                        await response.aread()
                        raise _make_error(response)
                    async for sent in httpx2.EventSource(response):
                        if not sent.data:
                            continue
                        event, attempt = streams.read_event(sent), 1
                        after = event.id or after
                        if event.name == streams.CLOSED and streams.may_go_on(event):
                            break
                        yield event
                        if event.name == streams.CLOSED:
                            return
                    else:
                        raise httpx2.ReadError("The server ended the stream.")
            except httpx2.TransportError as fault:
                await self._pause(attempt, ConnectionFailed(str(fault)), self._retries)
                attempt += 1
            except ApiError as error:
                await self._pause(attempt, error, self._retries)
                attempt += 1

    async def send(self, call: Call[T]) -> T:
        """Send a call, again if need be, and read its answer. Raises ApiError, ConnectionFailed."""
        retries, attempt = self._retries if call.is_repeatable else NO_RETRIES, 1
        while True:
            try:
                return await self._send_once(call)
            except (ApiError, ConnectionFailed) as error:
                await self._pause(attempt, error, retries)
                attempt += 1

    async def _send_once(self, call: Call[T]) -> T:
        try:
            response = await self._http.request(
                call.method, call.path, params=call.query, json=call.body, headers=call.headers
            )
        except httpx2.TransportError as fault:
            raise ConnectionFailed(f"{call.method} {call.path}: {fault}") from fault
        if response.status_code >= 400 or response.has_redirect_location:
            raise _make_error(response)
        try:
            body = response.json() if response.content else None
        except ValueError:
            raise _make_error(response) from None
        return call.read(body, response.headers)

    async def _pause(self, attempt: int, error: ApiError | ConnectionFailed, retries: Retries) -> None:
        """Wait before the next attempt. Raises the error when there is none."""
        seconds = retries.find_pause(attempt, error)
        if seconds is None:
            raise error
        await asyncio.sleep(seconds)

    async def _iterate(self, make_call: Callable[[str | None], Call[Page[Item]]]) -> AsyncIterator[Item]:
        cursor: str | None = None
        while True:
            page = await self.send(make_call(cursor))
            for item in page.results:
                yield item
            if page.next is None:
                return
            cursor = page.next


def _make_error(response: httpx2.Response) -> ApiError:
    try:
        body = response.json()
    except ValueError:
        body = None
    return make_error(response.status_code, body, response.headers)
