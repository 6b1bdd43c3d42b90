"""API key authentication: the key, its workspace, and its scopes (R53)."""

from collections.abc import Sequence
from typing import Any

from django.db import connection
from rest_framework import exceptions
from rest_framework.authentication import BaseAuthentication
from rest_framework.permissions import BasePermission
from rest_framework.request import Request
from rest_framework.throttling import SimpleRateThrottle

from convengine.engine.turn.codec import loads
from convengine.server.api.models import CeApiKey
from convengine.server.database.sql import dialect
from convengine.server.deployment import conf

_SCHEME = "Api-Key"


class ApiKeyAuthentication(BaseAuthentication):
    """`Authorization: Api-Key …`. The key is `request.auth`; there is no user."""

    def authenticate(self, request: Request) -> tuple[None, CeApiKey] | None:
        """Raises AuthenticationFailed for a key that is unknown, revoked or expired."""
        header = request.META.get("HTTP_AUTHORIZATION", "")
        scheme, _, secret = header.partition(" ")
        if scheme.lower() != _SCHEME.lower() or not secret.strip():
            return None
        return None, key_of(secret.strip())

    def authenticate_header(self, request: Request) -> str:
        """The header of a 401 answer."""
        return _SCHEME


def key_of(secret: str) -> CeApiKey:
    """The key with that secret. Raises AuthenticationFailed for an unknown, revoked or expired one."""
    key, expired = _find_key(secret.partition(".")[0])
    if key is None or not key.is_valid(secret):
        raise exceptions.AuthenticationFailed("Unknown API key.")
    if key.revoked:
        raise exceptions.AuthenticationFailed("This API key was revoked.")
    if expired:
        raise exceptions.AuthenticationFailed("This API key has expired.")
    return key


def _find_key(prefix: str) -> tuple[CeApiKey | None, bool]:
    """The key of a prefix, and whether it has expired. Plain SQL, because the ORM takes five times as long."""
    columns = ("id", "prefix", "hashed_key", "revoked", "workspace_id", "scopes")
    read = ", ".join((*columns[:-1], "CAST(scopes AS text)"))
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT expiry_date <= {dialect().now()}, {read} FROM ce_api_key WHERE prefix = %s", [prefix])
        row = cursor.fetchone()
    if row is None:
        return None, False
    expired, *values, scopes = row
    return CeApiKey.from_db(None, columns, [*values, loads(scopes)]), bool(expired)


class HasScope(BasePermission):
    """Requires one of the view's scopes."""

    def has_permission(self, request: Request, view: Any) -> bool:
        """Raises NotAuthenticated when there is no key at all."""
        if not isinstance(request.auth, CeApiKey):
            raise exceptions.NotAuthenticated("Send your API key as `Authorization: Api-Key <key>`.")
        if wanted := getattr(view, "scope", None):
            need_scope(request.auth, (wanted,) if isinstance(wanted, str) else wanted)
        return True


def need_scope(key: CeApiKey, wanted: Sequence[str]) -> None:
    """Raises PermissionDenied for a key without these scopes."""
    if not set(wanted).intersection(key.scopes):
        raise exceptions.PermissionDenied(f"This API key does not have the scope {' or '.join(wanted)}.")


class KeyThrottle(SimpleRateThrottle):
    """Limits the calls of each key; off unless the deployment sets a rate."""

    scope = "key"
    THROTTLE_RATES: dict[str, str | None] = {}

    def get_rate(self) -> str | None:
        """The deployment's rate, such as 600/min, or null."""
        return conf.get("THROTTLE_RATE") or None

    def get_cache_key(self, request: Request, view: Any) -> str | None:
        """One bucket per key."""
        return f"throttle:{request.auth.pk}" if isinstance(request.auth, CeApiKey) else None
