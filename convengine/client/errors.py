"""What a call may raise: one class for each kind of failure, with everything that the API says of it."""

from collections.abc import Mapping

import httpx2

from convengine.json_value import Json


class ApiError(Exception):
    """The API refused a call, or it failed."""

    def __init__(self, status: int, body: Mapping[str, Json], request_id: str = "", retry_after: float | None = None):
        self.status = status
        self.body = body
        #: One of the codes in docs/api.md.
        self.code = str(body.get("errorCode") or "INTERNAL_ERROR")
        self.message = str(body.get("message") or f"The server answered {status}.")
        #: The same call may succeed later without any change.
        self.recoverable = body.get("recoverable") is True
        #: The wrong fields, each with its errors.
        self.fields: Mapping[str, list[str]] = body.get("fields") or {}
        self.incident_id: str | None = body.get("incidentId")
        self.conversation_id: str | None = body.get("conversationId")
        #: `X-Request-ID` of the call: the server's log has it too.
        self.request_id = request_id
        #: Seconds after which to try again, if the server says so.
        self.retry_after = retry_after
        details = "".join(f" {name}: {' '.join(texts)}" for name, texts in self.fields.items())
        super().__init__(f"{self.code}: {self.message}{details}")


class InvalidRequest(ApiError):
    """400, 412, 413, 415, 422: the request must change; `fields` says where."""


class NotAuthenticated(ApiError):
    """401: the key is missing, unknown, revoked or expired."""


class Forbidden(ApiError):
    """403: the key lacks a scope."""


class NotFound(ApiError):
    """404: it does not exist for this key."""


class ConversationConflict(ApiError):
    """409: the conversation is closed, or another turn runs or came first."""


class Throttled(ApiError):
    """429: the key has reached a limit."""


class ServerFailed(ApiError):
    """5xx: the turn or the server failed."""


class ConnectionFailed(Exception):
    """The server could not be reached, or the connection broke."""


_CLASSES: Mapping[int, type[ApiError]] = {
    **dict.fromkeys((400, 405, 406, 412, 413, 415, 422), InvalidRequest),
    401: NotAuthenticated,
    403: Forbidden,
    404: NotFound,
    409: ConversationConflict,
    429: Throttled,
}


def make_error(response: httpx2.Response) -> ApiError:
    """The error of an answer, which may be no JSON."""
    try:
        body = response.json()
    except ValueError:
        body = None
    status, seconds = response.status_code, response.headers.get("Retry-After", "")
    kind = _CLASSES.get(status, ServerFailed if status >= 500 else ApiError)
    document, pause = body if isinstance(body, dict) else {}, float(seconds) if seconds.isdecimal() else None
    return kind(status, document, response.headers.get("X-Request-ID", ""), pause)
