"""What the views of runs share: replays and what-if runs, of a key or of a signed-in user."""

from typing import Any, TypeVar

from django.conf import settings
from django.db import models
from rest_framework import serializers
from rest_framework.authentication import SessionAuthentication
from rest_framework.request import Request

from audit.api.access_scope import require_signed_in_reader
from audit.api.parameters import read_uuid
from convengine.engine.errors import ConversationNotFound
from convengine.server.api.authentication import ApiKeyAuthentication, HasScope
from convengine.server.api.base_view import ApiView
from convengine.server.api.models import CeApiKey

Row = TypeVar("Row", bound=models.Model)


class SignedInAuthentication(SessionAuthentication):
    """Authenticates a signed-in user with the right to view audit events. Changes need the CSRF token."""

    def authenticate(self, request: Request) -> tuple[Any, None] | None:
        """Raises NotAuthenticated for an expired session, PermissionDenied."""
        if settings.SESSION_COOKIE_NAME not in request.COOKIES:
            return None
        user = require_signed_in_reader(request._request)
        self.enforce_csrf(request)
        return user, None


class MayReadRuns(HasScope):
    """Allows a key with the scope, or a user, whose right was checked."""

    def has_permission(self, request: Request, view: Any) -> bool:
        """Raises NotAuthenticated, PermissionDenied."""
        # Without credentials it is null, or Django's AnonymousUser where the settings of the project say so.
        is_signed_in = bool(getattr(request.user, "is_authenticated", False))
        return is_signed_in or super().has_permission(request, view)


class RunView(ApiView):
    """A view of runs."""

    scope = "audit"
    authentication_classes = [ApiKeyAuthentication, SignedInAuthentication]
    permission_classes = [MayReadRuns]


def get_key(request: Request) -> CeApiKey | None:
    """The key of a call. Returns None for a signed-in user."""
    return request.auth if isinstance(request.auth, CeApiKey) else None


def name_owner(request: Request) -> str:
    """Whose run it is: one is under way at a time."""
    key = get_key(request)
    return f"key:{key.pk}" if key else f"user:{request.user.get_username()}"


def get_run(request: Request, model: type[Row], run_id: str, missing: str) -> Row:
    """Raises RequestInvalid, and ConversationNotFound, also for a run of another workspace."""
    key, runs = get_key(request), model._default_manager.filter(pk=read_uuid(run_id, "id"))
    run = (runs.filter(workspace_id=key.workspace_id) if key else runs).first()
    if run is None:
        raise ConversationNotFound(missing)
    return run


class BlankAsNullField(serializers.CharField):
    """A text of an answer. Returns None for a blank one."""

    def __init__(self, **options: Any) -> None:
        super().__init__(allow_null=True, **options)

    def to_representation(self, value: Any) -> Any:
        return super().to_representation(value) or None
