"""What a key may read: all of its workspace, or its own conversations without prompts."""

import uuid
from importlib import import_module
from typing import Any

from django.conf import settings
from django.contrib.auth import get_user
from django.http import HttpRequest
from rest_framework.exceptions import NotAuthenticated, PermissionDenied
from rest_framework.request import Request

from convengine.engine.errors import ConversationNotFound
from convengine.server.admin_site.sign_in import is_unchecked, lacks_second_factor
from convengine.server.api.clean_input import drop_unstorable_cookies
from convengine.server.api.models import CeApiKey
from convengine.server.sessions.models import CeConversation

#: `audit`: everything of the workspace, like the group `qa`. `own_audit`: what the group `integrator` may read.
SCOPE_WORKSPACE, SCOPE_OWN = "audit", "own_audit"


def may_read(key: CeApiKey, row: CeConversation) -> bool:
    """Whether a key may read a conversation of its workspace. Its own ones include those that a key of the same person
    began, so that keys can be replaced.
    """
    if SCOPE_WORKSPACE in key.scopes or row.opened_by == key.prefix:
        return True
    # The columns of a key from a request do not include its maker.
    mine = CeApiKey.objects.filter(pk=key.pk, made_by__isnull=False).values("made_by")
    return CeApiKey.objects.filter(prefix=row.opened_by, made_by__in=mine).exists()


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
    if not (user.is_authenticated and user.is_active and user.is_staff) or is_unchecked(request.session):
        raise NotAuthenticated("Send your API key as `Authorization: Api-Key <key>`, or sign in.")
    if lacks_second_factor(user, request.session):
        raise NotAuthenticated("Sign in with a second factor: users who may publish need one.")
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
