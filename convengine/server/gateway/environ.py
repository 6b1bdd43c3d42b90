"""The WSGI environment of an ASGI request."""

import sys
from collections.abc import Mapping
from functools import lru_cache
from typing import IO, Any
from urllib.parse import unquote_to_bytes

#: The key, in scopes and environments, that says that this server serves event streams, too.
SERVES_STREAMS = "convengine.serves_streams"
_CONTENT = {b"content-type": "CONTENT_TYPE", b"content-length": "CONTENT_LENGTH"}


def build_environ(scope: Mapping[str, Any], body: IO[bytes], length: int) -> dict[str, Any]:
    """The environment of a request whose whole body was read.

    A header whose name has an underscore is dropped: it would look like another one whose name has a hyphen.
    """
    server, client = scope.get("server") or ("localhost", 80), scope.get("client") or ("", 0)
    environ: dict[str, Any] = {
        "REQUEST_METHOD": scope["method"],
        "SCRIPT_NAME": "",
        "PATH_INFO": _decode_path(scope),
        "QUERY_STRING": scope["query_string"].decode("latin-1"),
        "SERVER_NAME": server[0],
        "SERVER_PORT": str(server[1]),
        "SERVER_PROTOCOL": f"HTTP/{scope['http_version']}",
        "REMOTE_ADDR": client[0],
        "wsgi.version": (1, 0),
        "wsgi.url_scheme": scope.get("scheme", "http"),
        "wsgi.input": body,
        "wsgi.errors": sys.stderr,
        "wsgi.multithread": True,
        "wsgi.multiprocess": True,
        "wsgi.run_once": False,
        "wsgi.input_terminated": True,
        SERVES_STREAMS: bool(scope.get(SERVES_STREAMS)),
    }
    for name, value in scope["headers"]:
        if (variable := _variable(name)) is None:
            continue
        text = value.decode("latin-1")
        if variable in environ:
            text = f"{environ[variable]}{';' if variable == 'HTTP_COOKIE' else ','}{text}"
        environ[variable] = text
    # What was read counts, also for a body that was sent in chunks.
    if length or "CONTENT_LENGTH" in environ:
        environ["CONTENT_LENGTH"] = str(length)
    return environ


@lru_cache(maxsize=512)
def _variable(name: bytes) -> str | None:
    """The variable of a header. Returns None for one that is dropped."""
    name = name.lower()
    if b"_" in name or name == b"transfer-encoding":
        return None
    return _CONTENT.get(name) or "HTTP_" + name.decode("latin-1").upper().replace("-", "_")


def _decode_path(scope: Mapping[str, Any]) -> str:
    """The path as WSGI wants it: its bytes, each as one character."""
    raw: bytes | None = scope.get("raw_path")
    if raw is None:
        return str(scope["path"]).encode("utf-8", "surrogateescape").decode("latin-1")
    path = raw.partition(b"?")[0]
    return (unquote_to_bytes(path) if b"%" in path else path).decode("latin-1")
