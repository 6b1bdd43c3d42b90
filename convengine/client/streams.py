"""What both clients know of event streams: where they are, how to read them, and when to connect again."""

import json
from collections.abc import Mapping
from urllib.parse import urlsplit

from httpx2 import ServerSentEvent

from convengine.client.answers import StreamEvent
from convengine.client.errors import ConnectionFailed

#: Reasons of `STREAM_CLOSED` after which a new connection goes on.
_PASSING = frozenset({"TIME_OVER", "STREAM_TOO_SLOW"})
CLOSED = "STREAM_CLOSED"


def read_event(sent: ServerSentEvent) -> StreamEvent:
    return StreamEvent(sent.event, json.loads(sent.data), sent.id)


def may_go_on(event: StreamEvent) -> bool:
    """Whether a stream that ended with this event continues on a new connection."""
    return event.data.get("reason") in _PASSING


def make_query(after: str, stages: tuple[str, ...], *, verbose: bool) -> dict[str, str]:
    query = {"verbose": "1" if verbose else "0"}
    if after:
        query["after"] = after
    if stages:
        query["stages"] = ",".join(stages)
    return query


def find_stream_address(base_url: str, current_url: str, headers: Mapping[str, str]) -> str:
    """The address that the server redirects to, if the key may be sent there: another port of the same host.

    Raises ConnectionFailed for another host, and where the address `current_url` came from a redirect itself.
    """
    address = headers.get("Location", "")
    if urlsplit(current_url).netloc:
        raise ConnectionFailed(f"{current_url} serves no event streams: it redirects to {address}.")
    parts, base = urlsplit(address), urlsplit(base_url)
    if parts.hostname != base.hostname or (base.scheme == "https" and parts.scheme != "https"):
        raise ConnectionFailed(f"Event streams are served at {address}. Make a client for that server to watch them.")
    return f"{parts.scheme}://{parts.netloc}{parts.path}"
