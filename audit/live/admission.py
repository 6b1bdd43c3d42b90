"""Who may watch a conversation: the rights of the audit endpoints, for keys and for users (R53)."""

import uuid
from collections.abc import Callable
from dataclasses import dataclass
from typing import cast

from django.core.handlers.asgi import ASGIRequest
from django.db import Error
from rest_framework.exceptions import APIException
from rest_framework.request import Request

from audit.access_log.write import log_access
from audit.api import access_scope
from audit.api.access_scope import find_readable_conversation, require_signed_in_reader
from audit.api.parameters import read_uuid
from audit.live import read_events
from audit.live.cursor import StreamCursor
from audit.live.stream import StreamRequest
from audit.models import CeAccessLog
from convengine.engine.errors import ConvEngineError, RequestInvalid
from convengine.server.api.authentication import ApiKeyAuthentication, need_scope
from convengine.server.api.models import CeApiKey

_TRUE, _FALSE = frozenset({"", "1", "true", "yes", "on"}), frozenset({"0", "false", "no", "off"})


@dataclass(frozen=True)
class Admission:
    """A permitted reader."""

    request: StreamRequest
    cursor: StreamCursor
    #: The request names no event to continue from.
    is_new: bool
    #: The signed-in user; null for a key.
    user_id: int | None
    #: Returns why the reader must leave, or blank.
    find_refusal: Callable[[], str]
    #: Nothing is left and nothing will come: the reader need not connect again.
    is_over: bool


def admit(request: ASGIRequest, conversation_id: str) -> Admission:
    """Check the rights and the parameters. Raises ConvEngineError, APIException.

    SuspiciousOperation for a host that is not served here.
    """
    request.get_host()
    key = _read_key(request)
    pk = read_uuid(conversation_id, "conversationId")
    stream_request = StreamRequest(str(pk), _read_stages(request), _read_flag(request, "verbose"), _sees_prompts(key))
    user = None if key else require_signed_in_reader(request)
    found = find_readable_conversation(pk, key)
    if user:
        log_access(request, CeAccessLog.Kind.STREAM, found.pk)
    named = _read_event_id(request)
    cursor = _read_cursor(request, named, str(found.pk))
    behind = read_events.read_after(str(found.pk), cursor)

    def find_refusal() -> str:
        return _find_refusal(request, stream_request)

    return Admission(stream_request, cursor, not named, user.pk if user else None, find_refusal, bool(behind.ended))


def _find_refusal(request: ASGIRequest, stream_request: StreamRequest) -> str:
    try:
        key = _read_key(request)
        if key is None:
            require_signed_in_reader(request)
        find_readable_conversation(uuid.UUID(stream_request.conversation_id), key)
        if stream_request.prompts and not _sees_prompts(key):
            return "FORBIDDEN"
    except APIException:
        return "FORBIDDEN"
    except ConvEngineError as error:
        return error.code
    except Error:
        # If the check is impossible now, it may be possible later.
        return ""
    return ""


def _read_key(request: ASGIRequest) -> CeApiKey | None:
    found = ApiKeyAuthentication().authenticate(cast(Request, request))
    if found is None:
        return None
    key = found[1]
    need_scope(key, (access_scope.SCOPE_WORKSPACE, access_scope.SCOPE_OWN))
    return key


def _sees_prompts(key: CeApiKey | None) -> bool:
    return key is None or access_scope.SCOPE_WORKSPACE in key.scopes


def _read_event_id(request: ASGIRequest) -> str:
    return str(request.headers.get("Last-Event-ID") or request.GET.get("after", ""))


def _read_cursor(request: ASGIRequest, text: str, conversation_id: str) -> StreamCursor:
    """The position after the last seen event; without one, after everything that is stored."""
    if not text:
        return read_events.newest_cursor(conversation_id)
    cursor = StreamCursor.read(text)
    if cursor is None:
        hint = f"{text!r} is not an event ID such as 3.17. 0.0 is the beginning."
        raise RequestInvalid(fields={"Last-Event-ID" if "Last-Event-ID" in request.headers else "after": [hint]})
    return read_events.complete_cursor(conversation_id, cursor)


def _read_stages(request: ASGIRequest) -> frozenset[str]:
    return frozenset(name.strip() for text in request.GET.getlist("stages") for name in text.split(",") if name.strip())


def _read_flag(request: ASGIRequest, name: str) -> bool:
    text = request.GET.get(name, "").lower()
    if text not in _TRUE | _FALSE:
        raise RequestInvalid(fields={name: [f"{text!r} is neither 1 nor 0."]})
    return text in _TRUE
