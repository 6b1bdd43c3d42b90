"""Event streams, and with them everything else that WSGI serves: the one process of the demo (ASGI)."""

from collections.abc import Iterator, Mapping
from contextlib import closing
from typing import Any

from asgiref.sync import ThreadSensitiveContext
from asgiref.wsgi import WsgiToAsgi

from convengine import conf
from convengine.wsgi import application as wsgi

STREAMS = "/api/v1/conversation/stream/"
_streams = conf.load("STREAMS")


def _closed(environ: dict[str, Any], start_response: Any) -> Iterator[bytes]:
    """The answer of WSGI, closed when it was sent: only then does a call give back what it held."""
    answer: Any = wsgi(environ, start_response)
    with closing(answer):
        yield from answer


_pages: Any = WsgiToAsgi(_closed)  # type: ignore[no-untyped-call]


async def application(scope: Mapping[str, Any], receive: Any, send: Any) -> None:
    """Streams stay in the event loop; each other call gets a thread of its own for as long as it lasts."""
    if scope["type"] != "http":
        return
    if str(scope["path"]).startswith(STREAMS):
        await _streams(scope, receive, send)
        return

    async def sent(message: Mapping[str, Any]) -> None:
        await send(message)

    async with ThreadSensitiveContext():
        await _pages(dict(scope), receive, sent)
