"""Who calls: an API key, its workspace, and what it may do (R53)."""

from typing import Any

from django.db import connection
from rest_framework import exceptions
from rest_framework.authentication import BaseAuthentication
from rest_framework.permissions import BasePermission
from rest_framework.request import Request
from rest_framework.throttling import SimpleRateThrottle

from convengine import conf
from convengine.api.models import CeApiKey
from convengine.codec import loaded
from convengine.sessions.sql import dialect

_SCHEME = "Api-Key"


class ApiKeyAuthentication(BaseAuthentication):
    """`Authorization: Api-Key …`. The key is `request.auth`; there is no user behind it."""

    def authenticate(self, request: Request) -> tuple[None, CeApiKey] | None:
        """Raises AuthenticationFailed for a key that is unknown, revoked or out of date."""
        header = request.META.get("HTTP_AUTHORIZATION", "")
        scheme, _, secret = header.partition(" ")
        if scheme.lower() != _SCHEME.lower() or not secret.strip():
            return None
        return None, key_of(secret.strip())

    def authenticate_header(self, request: Request) -> str:
        """What a 401 asks for."""
        return _SCHEME


def key_of(secret: str) -> CeApiKey:
    """The key with that secret. Raises AuthenticationFailed for one that is unknown, revoked or out of date."""
    key, expired = _found(secret.partition(".")[0])
    if key is None or not key.is_valid(secret):
        raise exceptions.AuthenticationFailed("This API key is not known.")
    if key.revoked:
        raise exceptions.AuthenticationFailed("This API key was revoked.")
    if expired:
        raise exceptions.AuthenticationFailed("This API key is out of date.")
    return key


def _found(prefix: str) -> tuple[CeApiKey | None, bool]:
    """The key of that prefix, and whether its time is over. By hand: the ORM takes five times as long, every turn."""
    columns = ("id", "prefix", "hashed_key", "revoked", "workspace_id", "scopes")
    sql = f"SELECT expiry_date <= {dialect().now()}, {', '.join(columns)} FROM ce_api_key WHERE prefix = %s"  # noqa: S608
    with connection.cursor() as cursor:
        cursor.execute(sql, [prefix])
        row = cursor.fetchone()
    if row is None:
        return None, False
    expired, *values, scopes = row
    return CeApiKey.from_db(None, columns, [*values, loaded(scopes)]), bool(expired)


class HasScope(BasePermission):
    """The key carries the scope that the view names."""

    def has_permission(self, request: Request, view: Any) -> bool:
        """Raises NotAuthenticated when there is no key at all."""
        if not isinstance(request.auth, CeApiKey):
            raise exceptions.NotAuthenticated("Send your API key as `Authorization: Api-Key <key>`.")
        wanted = getattr(view, "scope", None)
        if wanted and wanted not in request.auth.scopes:
            raise exceptions.PermissionDenied(f"This API key does not have the scope {wanted}.")
        return True


class KeyThrottle(SimpleRateThrottle):
    """So many calls in a while for each key; off unless the deployment sets a rate."""

    scope = "key"
    THROTTLE_RATES: dict[str, str | None] = {}

    def get_rate(self) -> str | None:
        """The deployment's rate, such as 600/min; null for none."""
        return conf.get("THROTTLE_RATE") or None

    def get_cache_key(self, request: Request, view: Any) -> str | None:
        """One bucket a key."""
        return f"throttle:{request.auth.pk}" if isinstance(request.auth, CeApiKey) else None
