"""An HTTP transport with limits on the size and the time of a response."""

import time
from collections.abc import Iterator

import httpx2

#: Maximum bytes of one response.
MAX_BYTES = 10 * 1024 * 1024


class AnswerTooLarge(httpx2.TransportError):
    """The response is too large."""


class BoundedTransport(httpx2.BaseTransport):
    """Wraps another transport and limits each response.

    The client's own time limit applies to a single read, so a service that sends one byte a second would never be too
    slow.
    """

    def __init__(self, inner: httpx2.BaseTransport, max_bytes: int = MAX_BYTES) -> None:
        self._inner = inner
        self._max_bytes = max_bytes

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send the request; its read limit applies to the whole response."""
        seconds = request.extensions.get("timeout", {}).get("read")
        deadline = None if seconds is None else time.monotonic() + seconds
        response = self._inner.handle_request(request)
        if isinstance(response.stream, httpx2.SyncByteStream):
            response.stream = _Bounded(response.stream, deadline, self._max_bytes)
        return response

    def close(self) -> None:
        self._inner.close()


class _Bounded(httpx2.SyncByteStream):
    def __init__(self, stream: httpx2.SyncByteStream, deadline: float | None, max_bytes: int) -> None:
        self._stream = stream
        self._deadline = deadline
        self._max_bytes = max_bytes

    def __iter__(self) -> Iterator[bytes]:
        read = 0
        for piece in self._stream:
            read += len(piece)
            if read > self._max_bytes:
                raise AnswerTooLarge(f"The answer is larger than {self._max_bytes} bytes.")
            if self._deadline is not None and time.monotonic() > self._deadline:
                raise httpx2.ReadTimeout("The answer did not end in time.")
            yield piece

    def close(self) -> None:
        self._stream.close()
