"""Who may watch a conversation, and from which event. Readers need the rights of the audit endpoints."""

import uuid
from functools import partial
from typing import cast

from django.core.handlers.asgi import ASGIRequest
from django.db import Error
from rest_framework.exceptions import APIException
from rest_framework.request import Request

from audit.access_log.write import log_access
from audit.api.access_scope import (
    SCOPE_OWN,
    SCOPE_WORKSPACE,
    find_readable_conversation,
    require_signed_in_reader,
)
from audit.api.parameters import read_uuid
from audit.live import read_events
from audit.live.cursor import StreamCursor
from audit.live.stream import StreamRequest
from audit.models import CeAccessLog
from convengine.engine.errors import ConvEngineError, RequestInvalid
from convengine.server.api.authentication import ApiKeyAuthentication, need_scope

_TRUE, _FALSE = frozenset({"", "1", "true", "yes", "on"}), frozenset({"0", "false", "no", "off"})


def admit(request: ASGIRequest, conversation_id: str) -> StreamRequest:
    """Check the rights and the parameters. Raises ConvEngineError, APIException.

    SuspiciousOperation for a host that is not served here.
    """
    request.get_host()
    pk = read_uuid(conversation_id, "conversationId")
    sees_prompts, caller, is_key = _check_rights(request, pk)
    stages = (name.strip() for text in request.GET.getlist("stages") for name in text.split(","))
    verbose = request.GET.get("verbose", "").lower()
    if verbose not in _TRUE | _FALSE:
        raise RequestInvalid(fields={"verbose": [f"{verbose!r} is neither 1 nor 0."]})
    if not is_key:
        log_access(request, CeAccessLog.Kind.STREAM, pk)
    event_id = str(request.headers.get("Last-Event-ID") or request.GET.get("after", ""))
    cursor = _read_cursor(request, event_id, str(pk))
    find_refusal = partial(_find_refusal, request, pk, sees_prompts)
    wanted = frozenset(filter(None, stages)), verbose in _TRUE
    return StreamRequest(str(pk), cursor, *wanted, sees_prompts, not event_id, caller, is_key, find_refusal)


def _check_rights(request: ASGIRequest, pk: uuid.UUID) -> tuple[bool, str, bool]:
    """Whether the reader may see prompts, who it is, and whether that is a key.

    Raises ConvEngineError, APIException.
    """
    user_and_key = ApiKeyAuthentication().authenticate(cast(Request, request))
    if user_and_key is None:
        user = require_signed_in_reader(request)
        find_readable_conversation(pk, None)
        return True, f"user {user.pk}", False
    key = user_and_key[1]
    need_scope(key, (SCOPE_WORKSPACE, SCOPE_OWN))
    find_readable_conversation(pk, key)
    return SCOPE_WORKSPACE in key.scopes, f"key {key.pk}", True


def _find_refusal(request: ASGIRequest, pk: uuid.UUID, saw_prompts: bool) -> str:
    try:
        sees_prompts, *_ = _check_rights(request, pk)
    except APIException:
        return "FORBIDDEN"
    except ConvEngineError as error:
        return error.code
    except Error:
        # If the check is impossible now, it may be possible later.
        return ""
    return "FORBIDDEN" if saw_prompts and not sees_prompts else ""


def _read_cursor(request: ASGIRequest, text: str, conversation_id: str) -> StreamCursor:
    """The position after the last seen event; without one, after everything that is stored."""
    if not text:
        return read_events.newest_cursor(conversation_id)
    cursor = StreamCursor.read(text)
    if cursor is None:
        hint = f"{text!r} is not an event ID such as 3.17. 0.0 is the beginning."
        raise RequestInvalid(fields={"Last-Event-ID" if "Last-Event-ID" in request.headers else "after": [hint]})
    return read_events.complete_cursor(conversation_id, cursor)
