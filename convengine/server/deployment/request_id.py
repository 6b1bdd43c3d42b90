"""The ID of the API call that runs: sent by the caller or made here, in the answer, the log and the turn's record."""

import re
import uuid
from collections.abc import Iterator
from contextlib import contextmanager

import structlog

HEADER = "X-Request-ID"
_ALLOWED = re.compile(r"[A-Za-z0-9._:/+=@-]{1,128}")
_KEY = "request_id"


def make_request_id(sent: str | None) -> str:
    """The ID that the caller sent if it fits into a line of a log, otherwise a new one."""
    return sent if sent and _ALLOWED.fullmatch(sent) else str(uuid.uuid4())


@contextmanager
def bind_request_id(request_id: str) -> Iterator[None]:
    """Let every line of the log, and the turn, have this ID."""
    with structlog.contextvars.bound_contextvars(**{_KEY: request_id}):
        yield


def current_request_id() -> str | None:
    """The ID of the running call; null outside of calls."""
    request_id: str | None = structlog.contextvars.get_contextvars().get(_KEY)
    return request_id
