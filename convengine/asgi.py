"""The ASGI applications: `application` serves event streams as well, `without_streams` leaves them to others."""

from collections.abc import Mapping
from typing import Any

from convengine.server.gateway.application import Gateway
from convengine.server.gateway.environ import SERVES_STREAMS
from convengine.server.interfaces.live_streams import live_streams
from convengine.wsgi import application as wsgi

STREAMS = "/api/v1/conversation/stream/"

#: Turns, API and admin. A request takes a thread when it is complete.
without_streams = Gateway(wsgi)


async def application(scope: Mapping[str, Any], receive: Any, send: Any) -> None:
    """Streams stay in the event loop; all other calls go to the threads."""
    if scope["type"] == "http" and str(scope["path"]).startswith(STREAMS):
        await live_streams().serve_streams(scope, receive, send)
    else:
        await without_streams({**scope, SERVES_STREAMS: True}, receive, send)
