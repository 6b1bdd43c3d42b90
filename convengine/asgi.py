"""The ASGI application of the demo: event streams, and everything that WSGI serves."""

from collections.abc import Iterator, Mapping
from contextlib import closing
from typing import Any

from asgiref.sync import ThreadSensitiveContext
from asgiref.wsgi import WsgiToAsgi

from convengine.server.app_interfaces import live_streams
from convengine.wsgi import application as wsgi

STREAMS = "/api/v1/conversation/stream/"


def _answer_and_close(environ: dict[str, Any], start_response: Any) -> Iterator[bytes]:
    """The answer of WSGI. It is closed after sending, and only then releases its resources."""
    answer: Any = wsgi(environ, start_response)
    with closing(answer):
        yield from answer


_pages: Any = WsgiToAsgi(_answer_and_close)  # type: ignore[no-untyped-call]


async def application(scope: Mapping[str, Any], receive: Any, send: Any) -> None:
    """Streams stay in the event loop; each other call gets its own thread."""
    if scope["type"] != "http":
        return
    if str(scope["path"]).startswith(STREAMS):
        await live_streams().serve_streams(scope, receive, send)
        return

    async def send_message(message: Mapping[str, Any]) -> None:
        await send(message)

    async with ThreadSensitiveContext():
        await _pages(dict(scope), receive, send_message)
