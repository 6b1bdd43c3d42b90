"""Read the body of a request in the event loop, within its limits of size and time, before a thread is taken."""

import io
import tempfile
from collections.abc import Awaitable, Callable, Iterable, Mapping
from contextlib import ExitStack
from typing import IO, Any

from convengine.server.gateway.limits import Caller, Transfers

Receive = Callable[[], Awaitable[Mapping[str, Any]]]
#: A larger body is in a file.
_IN_MEMORY = 64 * 1024


class BodyIncomplete(Exception):
    """The connection ended, or a chunk was wrong, before the request was complete."""


class BodyTooLarge(Exception):
    """The body is larger than allowed; `size` is null if it was not announced."""

    def __init__(self, size: int | None) -> None:
        super().__init__()
        self.size = size


def announced_size(headers: Iterable[tuple[bytes, bytes]], http_version: str = "1.1") -> int | None:
    """The announced size of the body: 0 without one. Returns None for one that comes in chunks.

    A request of HTTP/2 may have a body although no header says so.
    """
    size: int | None = None if http_version.startswith("2") else 0
    for name, value in headers:
        if name == b"transfer-encoding":
            return None
        if name == b"content-length":
            size = int(value) if value.isdigit() else None
    return size


async def read_body(
    receive: Receive, size: int | None, limit: int, transfers: Transfers, caller: Caller, resources: ExitStack
) -> tuple[IO[bytes], int]:
    """The body and its size. `resources` closes its file.

    Raises BodyTooLarge, BodyIncomplete, TimeoutError, TooManyUnfinished.
    """
    if size == 0:
        return io.BytesIO(), 0
    if size is not None and size > limit:
        raise BodyTooLarge(size)
    body: IO[bytes] = io.BytesIO()
    count = 0
    held = resources.enter_context(transfers.hold_bytes())
    async with transfers.start(caller) as transfer:
        while True:
            message = await receive()
            if message["type"] == "http.disconnect":
                raise BodyIncomplete
            part: bytes = message.get("body", b"")
            count += len(part)
            if count > limit:
                raise BodyTooLarge(None)
            held.add(len(part))
            if count > _IN_MEMORY and isinstance(body, io.BytesIO):
                file = resources.enter_context(tempfile.TemporaryFile())  # noqa: SIM115
                file.write(body.getvalue())
                body = file
            body.write(part)
            if not message.get("more_body"):
                body.seek(0)
                return body, count
            transfer.advance(len(part))
