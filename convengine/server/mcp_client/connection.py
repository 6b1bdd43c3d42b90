"""One open session with an MCP server, in a task of the background loop."""

import asyncio
import logging
import os
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, suppress
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

import structlog

from convengine.engine.extras import describe_missing
from convengine.engine.text.compare import shorten_line
from convengine.engine.turn.codec import TOO_DEEP, dumps, is_too_deep
from convengine.json_value import Json
from convengine.server.mcp_client.mending import McpCallResult, Mender
from convengine.server.mcp_client.policy import McpTarget

if TYPE_CHECKING:
    import httpx2

T = TypeVar("T")
#: Nothing was sent: not allowed, not found, not reachable, or failing too often lately.
UNAVAILABLE = "MCP_SERVER_UNAVAILABLE"
#: The session ended during the call; it is unknown whether the tool did its work.
CONNECTION_LOST = "MCP_CONNECTION_LOST"
#: The call took too long; it is unknown whether the tool did its work.
TIMEOUT = "MCP_TIMEOUT"
#: The server answered with a JSON-RPC error, or with an invalid answer.
PROTOCOL_ERROR = "MCP_PROTOCOL_ERROR"
#: The result is larger than a turn keeps.
TOO_LARGE = "MCP_RESULT_TOO_LARGE"
#: The tool reported a failure.
TOOL_FAILED = "MCP_TOOL_FAILED"
log = structlog.get_logger(__name__)
#: How much of a line that is no message the log shows.
_SHOWN = 200
#: Limit for a server that returns page after page.
_MAX_TOOLS = 500
#: Maximum size of a result, and of a list of tools, as JSON in bytes, because a turn's recording keeps them.
MAX_BYTES = 1024 * 1024
#: Maximum size of a message as it arrives, which may have blanks and more fields.
_MOST_MESSAGE_BYTES = 10 * MAX_BYTES
#: Seconds in which a session ends, before its connections are closed.
_GOODBYE_SECONDS = 3.0
#: Seconds to connect and to send, and between two events of a stream.
_HTTP_SECONDS, _SILENT_SECONDS = 30.0, 300.0


class ServerFault(Exception):
    """A call, or a session, failed."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message


def cause(error: BaseException) -> BaseException:
    """The first exception inside groups that is not a group."""
    return next(_leaves(error), error)


def _leaves(error: BaseException) -> Iterator[BaseException]:
    if isinstance(error, BaseExceptionGroup):
        for inner in error.exceptions:
            yield from _leaves(inner)
    else:
        yield error


def text_of(error: BaseException) -> str:
    """The cause as a text; never empty, and no list of what a validator found."""
    first = cause(error)
    if hasattr(first, "errors") and isinstance(first, ValueError):
        return "The answer is not as the protocol says."
    return str(first) or type(first).__name__


class McpConnection:
    """A session from its handshake to its end. All methods run in the background loop."""

    def __init__(self, target: McpTarget) -> None:
        self.target = target
        #: False before the handshake and after the end; a dead session is never used again.
        self.alive = False
        #: True when no new call may begin; it ends with the last running call.
        self.retired = False
        #: The server reported a change of its tools, or they were not read yet.
        self.stale = True
        self._running = 0
        self._mender = Mender()
        self._client: Any = None
        self._end = asyncio.Event()
        self._opened: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._task: asyncio.Task[None] | None = None

    async def open(self, seconds: float) -> None:
        """Begin the session. Raises ServerFault."""
        if missing := describe_missing("mcp"):
            raise ServerFault(UNAVAILABLE, missing)
        self._task = asyncio.create_task(self._live())
        try:
            async with asyncio.timeout(seconds):
                await asyncio.shield(self._opened)
        except TimeoutError:
            self._task.cancel()
            raise ServerFault(UNAVAILABLE, f"The session did not begin within {seconds * 1000:.0f} ms.") from None
        except Exception as error:
            raise ServerFault(UNAVAILABLE, text_of(error)) from error

    async def tools(self, seconds: float) -> list[Json]:
        """The server's tools as it lists them, all within this time. Raises ServerFault."""
        self.stale = False
        ends = time.monotonic() + seconds
        tools: list[Json] = []
        cursor: str | None = None
        while True:
            page = await self._call(
                max(ends - time.monotonic(), 0.001), partial(self._client.list_tools, cursor=cursor)
            )
            tools.extend(tool.model_dump(by_alias=True, mode="json", exclude_none=True) for tool in page.tools)
            _check_bounds(tools, "list of tools")
            cursor = page.next_cursor
            if cursor is None or len(tools) >= _MAX_TOOLS:
                return tools[:_MAX_TOOLS]

    async def call(self, tool: str, args: dict[str, Json], seconds: float) -> McpCallResult:
        """The tool's result as JSON. Raises ServerFault, also for a failure inside the tool."""
        result = await self._call(seconds, partial(self._client.call_tool, tool, args))
        document = result.model_dump(by_alias=True, mode="json", exclude_none=True, exclude={"meta", "result_type"})
        if result.is_error:
            text = "\n".join(block.text for block in result.content if getattr(block, "text", None))
            structured = document.get("structuredContent")
            text = text or (dumps(structured) if structured else "")
            raise ServerFault(TOOL_FAILED, text or "The tool failed without a message.")
        _check_bounds(document, "result")
        return self._mender.read(tool, document, result.meta)

    def retire(self) -> None:
        """Accept no new call, and end when none runs any more."""
        self.retired = True
        if not self._running:
            self._finish()

    async def close(self) -> None:
        """End now, whatever runs."""
        self.retired = True
        self._finish()
        if self._task:
            await asyncio.wait([self._task])

    def _finish(self) -> None:
        """Say goodbye to the server, but not for long: it may be the one that never answers."""
        self._end.set()
        if self._task:
            asyncio.get_running_loop().call_later(_GOODBYE_SECONDS, self._task.cancel)

    async def _call(self, seconds: float, request: Callable[[], Awaitable[T]]) -> T:
        from mcp.shared.exceptions import MCPError

        self._running += 1
        try:
            async with asyncio.timeout(seconds):
                return await request()
        except TimeoutError:
            # A server that does not answer may be stuck: the next call gets a new session.
            self.retired = True
            raise ServerFault(TIMEOUT, f"No answer within {seconds * 1000:.0f} ms.") from None
        except MCPError as error:
            raise self._build_fault(error.code, error.message) from error
        except Exception as error:
            self.retired = True
            raise ServerFault(PROTOCOL_ERROR, text_of(error)) from error
        finally:
            self._running -= 1
            if self.retired:
                self.retire()

    def _build_fault(self, number: int, message: str) -> ServerFault:
        from mcp_types import CONNECTION_CLOSED

        if number == CONNECTION_CLOSED or not self.alive:
            self.retired = True
            return ServerFault(CONNECTION_LOST, "The server ended the session before it answered.")
        if message == "Session terminated":
            # A restarted server does not know the session, and has done nothing.
            self.retired = True
            return ServerFault(UNAVAILABLE, "The server does not know the session any more.")
        return ServerFault(PROTOCOL_ERROR, f"The server refused ({number}): {message}")

    async def _live(self) -> None:
        from mcp import Client

        try:
            client = Client(self._transport(), cache=None, message_handler=self._receive_notification)
            async with client:
                self._client, self.alive = client, True
                if not self._opened.done():
                    self._opened.set_result(None)
                await self._end.wait()
        except BaseException as error:
            if not self._opened.done():
                self._opened.set_exception(cause(error))
                # Nobody may be waiting for it any more.
                self._opened.exception()
        finally:
            self.alive = False

    async def _receive_notification(self, message: Any) -> None:
        if type(message).__name__ == "ToolListChangedNotification":
            self.stale = True

    @asynccontextmanager
    async def _transport(self) -> AsyncIterator[Any]:
        """The streams of the row's transport; the session ends when its input ends."""
        async with _streams(self.target) as (reading, writing):
            yield _Watched(reading, self._mark_dead, self._receive), _Noted(writing, self._mender.note_request)

    def _receive(self, message: Any) -> Any:
        if isinstance(message, Exception):
            # The beginning of a line that is no message.
            listed = message.errors() if hasattr(message, "errors") else []
            line = shorten_line(str(listed[0].get("input") if listed else message), _SHOWN)
            log.debug("MCP_LINE_IGNORED", server=self.target.name, line=line)
        return self._mender.mend(message)

    def _mark_dead(self) -> None:
        self.alive = False
        self._end.set()


def _check_bounds(value: Json, what: str) -> Json:
    """The value. Raises ServerFault when it is too large or nested too deep for a turn."""
    if is_too_deep(value):
        raise ServerFault(TOO_LARGE, f"The {what} cannot be kept: {TOO_DEEP}")
    size = len(dumps(value).encode())
    if size > MAX_BYTES:
        raise ServerFault(TOO_LARGE, f"The {what} has {size} bytes; {MAX_BYTES} is the limit.")
    return value


@asynccontextmanager
async def _streams(target: McpTarget) -> AsyncIterator[Any]:
    if target.transport == "STDIO":
        from mcp.client.stdio import StdioServerParameters, stdio_client

        logging.getLogger("mcp.client.stdio").addFilter(_IGNORES_LINES)
        # The server's standard error goes to this process's log.
        with os.fdopen(os.dup(2), "w") as log:
            started = StdioServerParameters(command=target.command, args=list(target.args), env=dict(target.env))
            async with stdio_client(started, errlog=log) as streams:
                yield streams
    elif target.transport == "SSE":
        from mcp.client.sse import sse_client

        async with sse_client(
            target.url, headers=dict(target.headers), httpx_client_factory=partial(_make_http_client, target)
        ) as streams:
            yield streams
    else:
        from mcp.client.streamable_http import streamable_http_client

        async with (
            _make_http_client(target, headers=dict(target.headers)) as client,
            streamable_http_client(target.url, http_client=client) as streams,
        ):
            yield streams


def _make_http_client(
    target: McpTarget, headers: dict[str, str] | None = None, timeout: Any = None, auth: Any = None
) -> "httpx2.AsyncClient":
    """The client of a session. A stream of events may be silent for minutes; calls have limits of their own."""
    import httpx2

    from convengine.server.outgoing.transport import GuardedTransport

    return httpx2.AsyncClient(
        headers={"Accept-Encoding": "identity", **(headers or {})},
        timeout=timeout or httpx2.Timeout(_HTTP_SECONDS, read=_SILENT_SECONDS),
        auth=auth,
        transport=GuardedTransport(
            target.may_be_private,
            most_bytes=_MOST_MESSAGE_BYTES,
            has_endless_events=True,
            remedy="CE_MCP_PRIVATE_HOSTS can allow it.",
        ),
    )


class _IgnoresLines(logging.Filter):
    """Drops what the library logs, with a traceback, of a line that is no message: a banner, a stray print."""

    def filter(self, record: logging.LogRecord) -> bool:
        return not str(record.msg).startswith("Failed to parse JSONRPC message")


_IGNORES_LINES = _IgnoresLines()


class _Noted:
    """A stream of messages that shows each before it is sent."""

    def __init__(self, stream: Any, note: Callable[[Any], None]) -> None:
        self._stream = stream
        self._note = note

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    async def send(self, message: Any) -> None:
        self._note(message)
        await self._stream.send(message)

    async def __aenter__(self) -> "_Noted":
        await self._stream.__aenter__()
        return self

    async def __aexit__(self, *error: Any) -> Any:
        return await self._stream.__aexit__(*error)


class _Watched:
    """A stream of messages that passes each on as `received` gives it, and reports its end."""

    def __init__(self, stream: Any, ended: Callable[[], None], received: Callable[[Any], Any]) -> None:
        self._stream = stream
        self._on_end = ended
        self._on_receipt = received

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    async def receive(self) -> Any:
        try:
            return self._on_receipt(await self._stream.receive())
        except BaseException:
            self._on_end()
            raise

    def __aiter__(self) -> "_Watched":
        return self

    async def __anext__(self) -> Any:
        try:
            return self._on_receipt(await self._stream.__anext__())
        except BaseException:
            self._on_end()
            raise

    async def __aenter__(self) -> "_Watched":
        await self._stream.__aenter__()
        return self

    async def __aexit__(self, *error: Any) -> Any:
        with suppress(Exception):
            self._on_end()
        return await self._stream.__aexit__(*error)
