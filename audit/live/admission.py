"""Who may watch a conversation, and from where: the rights of the audit endpoints, for keys and for people (R53)."""

import uuid
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any, cast

from django.conf import settings
from django.contrib.auth import get_user
from django.core.handlers.asgi import ASGIRequest
from django.db import Error
from django.http import HttpRequest
from rest_framework.exceptions import APIException, NotAuthenticated, PermissionDenied
from rest_framework.request import Request

from audit import reach
from audit.access.noting import noted
from audit.live import reading
from audit.live.place import Place
from audit.live.stream import Wanted
from audit.models import CeAccessLog
from audit.queries import conversation_of
from convengine.api.authentication import ApiKeyAuthentication, need_scope
from convengine.api.models import CeApiKey
from convengine.errors import ConvEngineError, ConversationNotFound, RequestInvalid
from convengine.sessions.models import CeConversation

#: The right of people, which the pages of the trail ask for too.
RIGHT = "audit.view_ceaudit"
_TRUE, _FALSE = frozenset({"", "1", "true", "yes", "on"}), frozenset({"0", "false", "no", "off"})


@dataclass(frozen=True)
class Admitted:
    """A reader who may come in."""

    wanted: Wanted
    place: Place
    #: No event was named to go on from.
    anew: bool
    #: The person who is signed in; null for a key.
    user_id: int | None
    #: Gives why the reader has to go, blank while it may stay.
    refused: Callable[[], str]
    #: Nothing is left to be told and nothing will come: whoever asks again need not.
    nothing_more: bool


def admit(request: ASGIRequest, conversation_id: str) -> Admitted:
    """Look at rights and at what is asked for. Raises ConvEngineError, APIException.

    SuspiciousOperation for a host that is not served here.
    """
    request.get_host()
    key = _key(request)
    wanted = Wanted(str(_uuid(conversation_id)), _stages(request), _flag(request, "verbose"), _sees_prompts(key))
    user = None if key else person(request)
    found = conversation_for(wanted.conversation_id, key)
    if user:
        noted(request, CeAccessLog.Kind.STREAM, found.pk)
    named = _named(request)
    place = _place(request, named, str(found.pk))
    behind = reading.beyond(str(found.pk), place)

    def refused() -> str:
        return _refused(request, wanted)

    return Admitted(wanted, place, not named, user.pk if user else None, refused, bool(behind.ended))


def _refused(request: ASGIRequest, wanted: Wanted) -> str:
    try:
        key = _key(request)
        if key is None:
            person(request)
        conversation_for(wanted.conversation_id, key)
        if wanted.prompts and not _sees_prompts(key):
            return "FORBIDDEN"
    except APIException:
        return "FORBIDDEN"
    except ConvEngineError as error:
        return error.code
    except Error:
        # Who may not be asked now may be asked in a while.
        return ""
    return ""


def _key(request: ASGIRequest) -> CeApiKey | None:
    found = ApiKeyAuthentication().authenticate(cast(Request, request))
    if found is None:
        return None
    key = found[1]
    need_scope(key, (reach.WHOLE, reach.OWN))
    return key


def _sees_prompts(key: CeApiKey | None) -> bool:
    return key is None or reach.WHOLE in key.scopes


def person(request: HttpRequest) -> Any:
    """Who is signed in and may view audit events. Raises NotAuthenticated, PermissionDenied."""
    engine = import_module(settings.SESSION_ENGINE)
    request.session = engine.SessionStore(request.COOKIES.get(settings.SESSION_COOKIE_NAME))
    user: Any = get_user(request)
    if not (user.is_authenticated and user.is_active and user.is_staff):
        raise NotAuthenticated("Send your API key as `Authorization: Api-Key <key>`, or sign in.")
    if not user.has_perm(RIGHT):
        raise PermissionDenied("You may not read audit events; ask somebody who gives out rights.")
    request.user = user
    return user


def conversation_for(conversation_id: str, key: CeApiKey | None) -> CeConversation:
    """What the key reads; people see all. Raises ConversationNotFound."""
    wanted = uuid.UUID(conversation_id)
    found = conversation_of(wanted, key.workspace_id) if key else CeConversation.objects.filter(pk=wanted).first()
    if found is None or (key and not reach.may_read(key, found)):
        raise ConversationNotFound()
    return found


def _uuid(text: str) -> uuid.UUID:
    try:
        return uuid.UUID(text)
    except ValueError:
        raise RequestInvalid(fields={"conversationId": [f"{text!r} is no UUID; take it from an answer."]}) from None


def _named(request: ASGIRequest) -> str:
    return str(request.headers.get("Last-Event-ID") or request.GET.get("after", ""))


def _place(request: ASGIRequest, text: str, conversation_id: str) -> Place:
    """Behind the event that the reader saw last; without one, behind everything that is stored."""
    if not text:
        return reading.newest(conversation_id)
    place = Place.read(text)
    if place is None:
        hint = f"{text!r} is no id of an event, such as 3.17; 0.0 is the beginning."
        raise RequestInvalid(fields={"Last-Event-ID" if "Last-Event-ID" in request.headers else "after": [hint]})
    return reading.completed(conversation_id, place)


def _stages(request: ASGIRequest) -> frozenset[str]:
    return frozenset(name.strip() for text in request.GET.getlist("stages") for name in text.split(",") if name.strip())


def _flag(request: ASGIRequest, name: str) -> bool:
    text = request.GET.get(name, "").lower()
    if text not in _TRUE | _FALSE:
        raise RequestInvalid(fields={name: [f"{text!r} is neither 1 nor 0."]})
    return text in _TRUE
