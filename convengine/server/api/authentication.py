"""API key authentication: the key, its workspace, its scopes, and how often it may call."""

import math
from collections.abc import Sequence
from typing import Any

import structlog
from django.contrib.auth import get_user_model
from django.db import DatabaseError, connection
from rest_framework import exceptions
from rest_framework.authentication import BaseAuthentication
from rest_framework.permissions import BasePermission
from rest_framework.request import Request
from rest_framework.throttling import BaseThrottle

from convengine.engine.errors import DuplicateCredentials
from convengine.engine.turn.codec import loads
from convengine.server.admin_site.rights import SCOPE_RIGHTS
from convengine.server.api.conversation_token import ConversationToken, is_token
from convengine.server.api.models import CeApiKey
from convengine.server.database import throttle
from convengine.server.database.sql import describe_fault, dialect
from convengine.server.database.throttle import Delay
from convengine.server.deployment import conf
from convengine.server.deployment.client_address import find_client_address

log = structlog.get_logger(__name__)
_SCHEME = "Api-Key"
_SCHEMES = frozenset({"api-key", "bearer"})
_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86400}
#: Wrong keys from one address.
_WRONG_KEYS = Delay(20, 300)


class ApiKeyAuthentication(BaseAuthentication):
    """`Authorization: Api-Key …` or `Bearer …`. The key is `request.auth`, also of a token; there is no user."""

    def authenticate(self, request: Request) -> tuple[None, CeApiKey] | None:
        """Raises AuthenticationFailed for a key that is unknown, revoked or expired, and DuplicateCredentials.

        Of a conversation token, the errors of `authenticate_token`.
        """
        header = request.META.get("HTTP_AUTHORIZATION", "")
        # Servers join headers of the same name. A proxy may have checked another one than we would read.
        if "," in header:
            raise DuplicateCredentials
        scheme, _, secret = header.partition(" ")
        if scheme.lower() not in _SCHEMES or not secret.strip():
            return None
        secret = secret.strip()
        if is_token(secret):
            return None, authenticate_token(secret, request)
        return None, authenticate_key(secret, find_client_address(request.META))

    def authenticate_header(self, request: Request) -> str:
        """The header of a 401 answer."""
        return _SCHEME


def authenticate_key(secret: str, address: str) -> CeApiKey:
    """The key with that secret, for a caller at that address.

    Raises AuthenticationFailed like `key_of`, and Throttled after many wrong keys of the address.
    """
    try:
        return key_of(secret)
    except exceptions.AuthenticationFailed:
        _count_wrong_key(address)
        raise


def authenticate_token(text: str, request: Request) -> CeApiKey:
    """The key that made a token, with the token.

    Raises AuthenticationFailed for an invalid or ended token, also when its key was revoked, and PermissionDenied for a
    page that the token is not for.
    """
    token = ConversationToken.read(text)
    token.check_page(request)
    key = require_key(token.key_prefix, "turns")
    key.token, key.scopes = token, ["turns"]
    return key


def _count_wrong_key(address: str) -> None:
    """Raises Throttled after many wrong keys of an address. Right keys of the address are served."""
    try:
        wait = throttle.count_attempt(f"wrong key from:{address}", _WRONG_KEYS)
    except DatabaseError as error:
        log.warning("wrong keys cannot be counted", error=describe_fault(error))
        return
    if wait:
        raise exceptions.Throttled(wait, "Too many calls with wrong API keys.")


def key_of(secret: str) -> CeApiKey:
    """The key with that secret, with the scopes that its creator may give now.

    Raises AuthenticationFailed for an unknown, revoked or expired one, and for one whose creator was deactivated.
    """
    key, expired = _find_key(secret.partition(".")[0])
    if key is None or not key.is_valid(secret):
        raise exceptions.AuthenticationFailed("Unknown API key.")
    _require_valid(key, expired=expired)
    return key


def require_key(prefix: str, scope: str) -> CeApiKey:
    """The key of a prefix, without its secret: of an earlier call, of a token, or of all visitors of the chat.

    Raises AuthenticationFailed if it would not be accepted now, and PermissionDenied if it has lost the scope.
    """
    key, expired = _find_key(prefix)
    if key is None:
        raise exceptions.AuthenticationFailed("This API key does not exist any more.")
    _require_valid(key, expired=expired)
    need_scope(key, (scope,))
    return key


def _require_valid(key: CeApiKey, *, expired: bool) -> None:
    """Raises AuthenticationFailed, and removes the scopes that the creator of the key has no rights for now.

    A key without a creator was made on the command line: it has its scopes, and `audit` reads all conversations.
    """
    if key.revoked:
        raise exceptions.AuthenticationFailed("This API key was revoked.")
    if expired:
        raise exceptions.AuthenticationFailed("This API key has expired.")
    openers = (key.prefix,)
    reads_all = "audit" in key.scopes
    if key.made_by_id is not None:
        maker = get_user_model()._default_manager.filter(pk=key.made_by_id).first()
        # A project's own user may have `is_active` without a column.
        if maker is None or not maker.is_active:
            raise exceptions.AuthenticationFailed("The user who created this API key is not active.")
        key.scopes = [scope for scope in key.scopes if maker.has_perms(SCOPE_RIGHTS[scope])]
        reads_all = maker.has_perms(SCOPE_RIGHTS["audit"])
        if not reads_all:
            openers = tuple(CeApiKey.objects.filter(made_by=maker.pk).values_list("prefix", flat=True))
    key.openers = None if reads_all else openers


def _find_key(prefix: str) -> tuple[CeApiKey | None, bool]:
    """The key of a prefix, and whether it has expired. Plain SQL, because the ORM takes five times as long."""
    columns = ("id", "prefix", "hashed_key", "revoked", "workspace_id", "scopes", "made_by_id")
    read = ", ".join("CAST(scopes AS text)" if name == "scopes" else name for name in columns)
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT expiry_date <= {dialect().now()}, {read} FROM ce_api_key WHERE prefix = %s", [prefix])
        row = cursor.fetchone()
    if row is None:
        return None, False
    expired, *values, scopes, made_by = row
    # In the order of the model's fields.
    return CeApiKey.from_db(None, columns, [*values, loads(scopes), made_by]), bool(expired)


def get_api_key(request: Request) -> CeApiKey:
    """The key of a call, which `HasScope` has checked."""
    assert isinstance(request.auth, CeApiKey)
    return request.auth


class HasScope(BasePermission):
    """Requires one of the view's scopes; of a conversation token, a view that serves tokens."""

    def has_permission(self, request: Request, view: Any) -> bool:
        """Raises NotAuthenticated when there is no key at all."""
        if not isinstance(request.auth, CeApiKey):
            raise exceptions.NotAuthenticated("Send your API key as `Authorization: Api-Key <key>`.")
        if request.auth.token and not getattr(view, "serves_tokens", False):
            raise exceptions.PermissionDenied(
                "A conversation token takes turns of its conversation, reads its transcript and rates its answers. For "
                "all else, call with an API key from your own server."
            )
        if wanted := getattr(view, "scope", None):
            need_scope(request.auth, (wanted,) if isinstance(wanted, str) else wanted)
        return True


def need_scope(key: CeApiKey, wanted: Sequence[str]) -> None:
    """Raises PermissionDenied for a key without these scopes."""
    if not set(wanted).intersection(key.scopes):
        raise exceptions.PermissionDenied(
            f"This API key does not have the scope {' or '.join(wanted)}, or its creator no longer has permission for "
            "it."
            if key.made_by_id
            else f"This API key does not have the scope {' or '.join(wanted)}."
        )


class KeyThrottle(BaseThrottle):
    """Limits the calls of each key in all processes together, if the deployment sets a rate, and of each token."""

    def __init__(self) -> None:
        self._reset = 0.0

    def allow_request(self, request: Request, view: Any) -> bool:
        """Whether the caller has calls left. The answer's headers say how many."""
        if not isinstance(request.auth, CeApiKey):
            return True
        token = request.auth.token
        rate = conf.get("CHAT_RATE" if token else "THROTTLE_RATE")
        if not rate:
            return True
        limit, seconds = read_rate(rate)
        caller = f"conversation:{token.conversation_id}" if token else f"key:{request.auth.pk}"
        try:
            count, self._reset = throttle.count_call(caller, seconds)
        except DatabaseError as error:
            log.warning("calls cannot be counted", error=describe_fault(error))
            return True
        limits = {"Limit": limit, "Remaining": max(limit - count, 0), "Reset": math.ceil(self._reset)}
        request._request.rate_limit = {  # type: ignore[attr-defined]
            f"RateLimit-{name}": str(value) for name, value in limits.items()
        }
        return count <= limit

    def wait(self) -> float:
        """The seconds until the next window."""
        return self._reset


def read_rate(rate: str) -> tuple[int, int]:
    """The calls and the seconds of a rate such as 600/min."""
    calls, _, unit = rate.partition("/")
    return int(calls), _SECONDS[unit[:1]]
