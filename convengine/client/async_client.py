"""The async client. Its methods are the calls of the API."""

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine
from types import TracebackType
from typing import Any, Concatenate, ParamSpec, Self, TypeVar, get_args

import httpx2

from convengine.client import calls
from convengine.client.answers import Page, StreamEvent
from convengine.client.calls import NO_RETRIES, Call, Retries
from convengine.client.errors import ApiError, ConnectionFailed, make_error

T = TypeVar("T")
P = ParamSpec("P")
#: Seconds for a turn, which may wait for models.
TIMEOUT = 120.0


def _send_call(make_call: Callable[P, Call[T]]) -> "Callable[Concatenate[AsyncClient, P], Coroutine[Any, Any, T]]":
    """The method that sends a call."""

    async def send(self: "AsyncClient", /, *args: P.args, **kwargs: P.kwargs) -> T:
        return await self.send(make_call(*args, **kwargs))

    calls.describe_method(send, make_call, calls.find_answer_type(make_call))
    return send


def _iterate_list(make_call: Callable[P, Call[Page[T]]]) -> "Callable[Concatenate[AsyncClient, P], AsyncIterator[T]]":
    """The method that reads a list, page after page."""

    async def iterate(self: "AsyncClient", /, *args: P.args, **kwargs: P.kwargs) -> AsyncIterator[T]:
        call, cursor = make_call(*args, **kwargs), None
        while True:
            page = await self.send(call.at(cursor))
            for item in page.results:
                yield item
            cursor = page.next
            if cursor is None:
                return

    (item,) = get_args(calls.find_answer_type(make_call))
    calls.describe_method(iterate, make_call, AsyncIterator[item])  # type: ignore[valid-type]
    return iterate


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

    create_turn = _send_call(calls.create_turn)
    send_session_message = _send_call(calls.send_session_message)
    get_session = _send_call(calls.get_session)
    close_session = _send_call(calls.close_session)
    list_sessions = _iterate_list(calls.list_sessions)
    get_conversation = _send_call(calls.get_conversation)
    list_turns = _iterate_list(calls.list_turns)
    list_events = _iterate_list(calls.list_events)
    get_turn_trace = _send_call(calls.get_turn_trace)
    create_feedback = _send_call(calls.create_feedback)
    request = _send_call(calls.request)

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
                    params=calls.make_query(after, stages, verbose=verbose),
                    headers={"Accept": "text/event-stream"},
                ) as response:
                    if response.status_code == 307:
                        address = calls.find_stream_address(self._base_url, address, response.headers)
                        continue
                    if response.status_code == 204:
                        return
                    if response.status_code != 200:
                        await response.aread()
                        raise make_error(response)
                    async for sent in httpx2.EventSource(response):
                        if not sent.data:
                            continue
                        event, attempt = calls.read_event(sent), 1
                        after = event.id or after
                        if event.name == calls.CLOSED and calls.may_go_on(event):
                            break
                        yield event
                        if event.name == calls.CLOSED:
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
        return call.read_answer(response)

    async def _pause(self, attempt: int, error: ApiError | ConnectionFailed, retries: Retries) -> None:
        """Wait before the next attempt. Raises the error when there is none."""
        seconds = retries.find_pause(attempt, error)
        if seconds is None:
            raise error
        await asyncio.sleep(seconds)
