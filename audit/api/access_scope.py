"""What a key may read: all of its workspace, or its own conversations without prompts."""

import uuid
from importlib import import_module
from typing import Any

from django.conf import settings
from django.contrib.auth import get_user
from django.http import HttpRequest
from rest_framework.exceptions import NotAuthenticated, PermissionDenied
from rest_framework.request import Request
from rest_framework.response import Response

from convengine.engine.errors import ConversationNotFound
from convengine.engine.prompts.stages import PROMPT_RENDERING
from convengine.engine.stages import base_name
from convengine.engine.turn.codec import dumps, loads
from convengine.json_value import Json
from convengine.server.api.clean_input import drop_unstorable_cookies
from convengine.server.api.models import CeApiKey
from convengine.server.sessions.models import CeConversation

#: `audit`: everything of the workspace, like the group `qa`. `own_audit`: what the group `integrator` may read.
SCOPE_WORKSPACE, SCOPE_OWN = "audit", "own_audit"
_MODEL_INPUT = "_LLM_INPUT"
_PROMPT_KEYS = frozenset(
    {"system_prompt", "user_prompt", "systemPrompt", "userPrompt", "derivation_hint", "rendered_template"}
)


def may_read(key: CeApiKey, row: CeConversation) -> bool:
    """Whether a key may read a conversation of its workspace. Its own ones include those that a key of the same person
    began, so that keys can be replaced.
    """
    if SCOPE_WORKSPACE in key.scopes or row.opened_by == key.prefix:
        return True
    # The columns of a key from a request do not include its maker.
    mine = CeApiKey.objects.filter(pk=key.pk, made_by__isnull=False).values("made_by")
    return CeApiKey.objects.filter(prefix=row.opened_by, made_by__in=mine).exists()


def strip_prompts(document: Json) -> Json:
    """Events, at any depth of an answer, without prompts."""
    if isinstance(document, list):
        return [strip_prompts(item) for item in document]
    if not isinstance(document, dict):
        return document
    if not isinstance(document.get("stage"), str):
        return {name: strip_prompts(item) for name, item in document.items()}
    if "payloadJson" in document:
        return {
            **document,
            "payloadJson": dumps(_strip_event_prompts(document["stage"], loads(document["payloadJson"]))),
        }
    return {**document, "payload": _strip_event_prompts(document["stage"], document.get("payload"))}


def _strip_event_prompts(stage: str, payload: Json) -> Json:
    """The payload of an event without a prompt."""
    if not isinstance(payload, dict):
        return payload
    name = base_name(stage)
    if name.endswith(_MODEL_INPUT) or name == PROMPT_RENDERING:
        return {"redacted": True, **({"_meta": payload["_meta"]} if "_meta" in payload else {})}
    # An event about a prompt that could not be rendered shows the prompt.
    stripped = _strip_prompt_keys(payload)
    return payload if stripped == payload else {**stripped, "redacted": True}


def _strip_prompt_keys(value: Json) -> Json:
    if isinstance(value, dict):
        return {name: _strip_prompt_keys(item) for name, item in value.items() if name not in _PROMPT_KEYS}
    return [_strip_prompt_keys(item) for item in value] if isinstance(value, list) else value


class OwnScopeMixin:
    """A view for keys with either scope."""

    scope = (SCOPE_WORKSPACE, SCOPE_OWN)

    def finalize_response(self, request: Request, response: Any, *args: Any, **kwargs: Any) -> Any:
        """The answer, without prompts for keys with `own_audit`."""
        if isinstance(response, Response) and not response.exception and not sees_prompts(request):
            response.data = strip_prompts(response.data)
        return super().finalize_response(request, response, *args, **kwargs)  # type: ignore[misc]


def sees_prompts(request: Request) -> bool:
    """Whether the key of a call may read prompts; true without a key, which gets nothing."""
    return not isinstance(request.auth, CeApiKey) or SCOPE_WORKSPACE in request.auth.scopes


#: The right of users, which the audit's pages require too.
VIEW_RIGHT = "audit.view_ceaudit"


def require_signed_in_reader(request: HttpRequest) -> Any:
    """The signed-in user with the right to view audit events. Raises NotAuthenticated, PermissionDenied."""
    drop_unstorable_cookies(request)
    engine = import_module(settings.SESSION_ENGINE)
    request.session = engine.SessionStore(request.COOKIES.get(settings.SESSION_COOKIE_NAME))
    user: Any = get_user(request)
    if not (user.is_authenticated and user.is_active and user.is_staff):
        raise NotAuthenticated("Send your API key as `Authorization: Api-Key <key>`, or sign in.")
    if not user.has_perm(VIEW_RIGHT):
        raise PermissionDenied("You do not have the permission to read audit events. Ask an administrator.")
    request.user = user
    return user


def find_readable_conversation(conversation_id: uuid.UUID, key: CeApiKey | None) -> CeConversation:
    """The conversation, if the key may read it; users may read all. Raises ConversationNotFound."""
    rows = CeConversation.objects.filter(pk=conversation_id)
    conversation = (rows.filter(workspace_id=key.workspace_id) if key else rows).first()
    if conversation is None or (key and not may_read(key, conversation)):
        raise ConversationNotFound()
    return conversation
