"""The REST API inside the process: the same addresses, keys, checks and answers, without a socket."""

from collections.abc import Callable, Mapping
from io import BytesIO
from typing import Any
from urllib.parse import urlencode

from django.conf import settings
from django.core.handlers.wsgi import WSGIHandler

from convengine.engine.turn.codec import dumps, loads

Json = Any


class Rest:
    """API calls in this process. Django's handler ends each like a request, so connections are returned."""

    def __init__(self) -> None:
        self._application = WSGIHandler()

    def call(
        self,
        secret: str,
        method: str,
        path: str,
        query: Mapping[str, Json] | None = None,
        body: Json = None,
        idempotency_key: str | None = None,
    ) -> tuple[int, Json]:
        """Status and JSON of an answer to the owner of a key."""
        sent = b"" if body is None else dumps(body).encode()
        status: list[str] = []
        environ = {
            "REQUEST_METHOD": method,
            "SCRIPT_NAME": "",
            "PATH_INFO": path,
            "QUERY_STRING": urlencode(query or {}),
            "SERVER_NAME": _host(),
            "SERVER_PORT": "443",
            "SERVER_PROTOCOL": "HTTP/1.1",
            "CONTENT_TYPE": "application/json",
            "CONTENT_LENGTH": str(len(sent)),
            "HTTP_HOST": _host(),
            "HTTP_AUTHORIZATION": f"Api-Key {secret}",
            **({"HTTP_IDEMPOTENCY_KEY": idempotency_key} if idempotency_key else {}),
            "wsgi.input": BytesIO(sent),
            # The request never leaves the process.
            "wsgi.url_scheme": "https",
        }

        def begin(line: str, headers: Any, error: Any = None, /) -> Callable[[bytes], object]:
            status.append(line)
            return lambda data: None

        response = self._application(environ, begin)
        try:
            text = b"".join(response)
        finally:
            response.close()
        return int(status[0].split(" ")[0]), loads(text)


def _host() -> str:
    """A host that Django accepts."""
    allowed = str(next(iter(settings.ALLOWED_HOSTS), "localhost"))
    return "localhost" if allowed == "*" else allowed.lstrip(".")
