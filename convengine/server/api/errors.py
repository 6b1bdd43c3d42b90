"""All failures in one form: the turn's body with a code, a text and, if it helps, the fields."""

import uuid
from typing import Any

import structlog
from django.db import InterfaceError, OperationalError
from rest_framework import exceptions
from rest_framework.response import Response

from convengine.engine.errors import ConvEngineError, ConversationPersistFailed, RequestInvalid
from convengine.server.database.sql import describe_fault
from convengine.server.turns.failure import envelope, error_body

log = structlog.get_logger(__name__)

_CODES: dict[type[exceptions.APIException], str] = {
    exceptions.NotAuthenticated: "NOT_AUTHENTICATED",
    exceptions.AuthenticationFailed: "NOT_AUTHENTICATED",
    exceptions.PermissionDenied: "FORBIDDEN",
    exceptions.NotFound: "NOT_FOUND",
    exceptions.Throttled: "THROTTLED",
    exceptions.ParseError: "VALIDATION_ERROR",
    exceptions.UnsupportedMediaType: "VALIDATION_ERROR",
    exceptions.MethodNotAllowed: "METHOD_NOT_ALLOWED",
    exceptions.NotAcceptable: "NOT_ACCEPTABLE",
}


def handle(exc: Exception, context: dict[str, Any]) -> Response:
    """The exception handler of the API: no details of an unexpected exception reach the caller."""
    request, view = context.get("request"), context.get("view")
    response = _build_known_error(exc, request)
    if response is None:
        # A neutral text and an id; the log has the details under that id.
        incident = str(uuid.uuid4())
        log.error("request failed", incident_id=incident, exc_info=exc)
        message = "An unexpected error occurred. The server log has the details under the incident ID."
        response = Response(envelope("INTERNAL_ERROR", message, incidentId=incident), status=500)
    # Whatever the caller accepts, as lines or a table.
    response.content_type = "application/json"
    if response.data["conversationId"] is None:
        response.data["conversationId"] = _find_conversation_id(request, context.get("kwargs") or {})
    if getattr(view, "scope", "") == "turns" and request and request.headers.get("X-ConvEngine-Compat") == "1":
        # As in the original, only the body says what went wrong.
        response.status_code = 200
    if getattr(view, "scope", "") == "sessions":
        response.data = {"ok": False, **response.data}
    return response


def _find_conversation_id(request: Any, kwargs: dict[str, Any]) -> str | None:
    """The conversation that the caller named, in path or body, if that is one UUID. Does not read the body again."""
    body = getattr(request, "_full_data", None)
    sent = [kwargs.get("conversation_id")]
    if isinstance(body, dict):
        sent += [body.get("conversationId"), body.get("conversation_id")]
    ids = {_normalize_uuid(value) for value in sent if value is not None}
    return ids.pop() if len(ids) == 1 else None


def _normalize_uuid(value: Any) -> str | None:
    try:
        return str(uuid.UUID(value)) if isinstance(value, str) else None
    except ValueError:
        return None


def _find_header_fields(exc: exceptions.APIException, request: Any) -> dict[str, Any]:
    """The faulty header, its value and the allowed values."""
    if isinstance(exc, exceptions.UnsupportedMediaType):
        sent = request.META.get("CONTENT_TYPE", "")
        return {"fields": {"Content-Type": [f"{sent!r} is not supported. Send application/json."]}}
    if isinstance(exc, exceptions.NotAcceptable):
        sent = request.headers.get("Accept", "")
        return {"fields": {"Accept": [f"{sent!r} is not supported. Accept application/json."]}}
    return {}


def _build_known_error(exc: Exception, request: Any) -> Response | None:
    if isinstance(exc, ConvEngineError):
        headers = {"Retry-After": "1"} if exc.status in (409, 503) and exc.recoverable else {}
        return Response(error_body(exc), status=exc.status, headers=headers)
    if isinstance(exc, exceptions.ValidationError):
        return Response(error_body(RequestInvalid(fields=_flatten_messages(exc.detail))), status=400)
    if isinstance(exc, exceptions.APIException):
        headers = {}
        if getattr(exc, "auth_header", None):
            headers["WWW-Authenticate"] = exc.auth_header  # type: ignore[attr-defined]
        if getattr(exc, "wait", None):
            headers["Retry-After"] = str(int(exc.wait) + 1)  # type: ignore[attr-defined]
        code = next((_CODES[kind] for kind in type(exc).__mro__ if kind in _CODES), "VALIDATION_ERROR")
        return Response(
            envelope(code, str(exc.detail), recoverable=code == "THROTTLED", **_find_header_fields(exc, request)),
            status=exc.status_code,
            headers=headers,
        )
    if isinstance(exc, (OperationalError, InterfaceError)):
        # Also before there is a turn, as when the key is read: the same call may succeed a moment later.
        log.error("the database failed", error=describe_fault(exc))
        return _build_known_error(ConversationPersistFailed(), request)
    return None


def _flatten_messages(detail: Any, prefix: str = "") -> dict[str, list[str]]:
    if isinstance(detail, dict):
        messages: dict[str, list[str]] = {}
        for name, inner in detail.items():
            messages.update(_flatten_messages(inner, f"{prefix}.{name}" if prefix else str(name)))
        return messages
    items = detail if isinstance(detail, list) else [detail]
    return {prefix or "body": [str(item) for item in items]}
