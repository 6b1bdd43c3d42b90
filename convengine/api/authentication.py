"""Who calls: an API key, its workspace, and what it may do (R53)."""

import hashlib
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from django.db import connection
from rest_framework import exceptions
from rest_framework.authentication import BaseAuthentication
from rest_framework.permissions import BasePermission
from rest_framework.request import Request
from rest_framework.throttling import SimpleRateThrottle

from convengine import conf
from convengine.api.models import CeApiKey
from convengine.codec import loads
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
        return None, self._key(secret.strip())

    def _key(self, secret: str) -> CeApiKey:
        return key_of(secret)

    def authenticate_header(self, request: Request) -> str:
        """What a 401 asks for."""
        return _SCHEME


class TurnAuthentication(ApiKeyAuthentication):
    """The same for turns. A key that this process verified before is looked at by the statement that begins the turn.

    Until that statement has run, `request.auth` is what was remembered; see `KeyHolds`.
    """

    def _key(self, secret: str) -> CeApiKey:
        return _known.get(_digest(secret)) or key_of(secret)


@dataclass(frozen=True)
class KeyHolds:
    """The condition of a turn: its key is still as it was remembered when the request came."""

    key: CeApiKey

    @property
    def sql(self) -> str:
        """True while the row says the same."""
        return (
            "EXISTS (SELECT 1 FROM ce_api_key k WHERE k.id = %s AND k.hashed_key = %s AND k.revoked = %s "
            f"AND (k.expiry_date IS NULL OR k.expiry_date > {dialect().now()}) "
            "AND k.workspace_id = %s AND CAST(k.scopes AS text) = %s)"
        )

    @property
    def params(self) -> tuple[Any, ...]:
        """What the row said."""
        return self.key.pk, self.key.hashed_key, False, self.key.workspace_id, self.key.scopes_text

    @property
    def opener(self) -> str:
        """Whose conversation it is that this call begins."""
        return str(self.key.prefix)

    def check(self) -> None:
        """Raises KeyChanged with the key as it is now, and AuthenticationFailed when it is valid no more."""
        try:
            found = _valid(self.key.prefix, lambda key: key.hashed_key == self.key.hashed_key)
        except exceptions.AuthenticationFailed:
            _forget(self.key)
            raise
        if KeyHolds(found).params != self.params:
            _forget(self.key)
            raise KeyChanged(found)


class KeyChanged(Exception):
    """A key was remembered otherwise than it is by now."""

    def __init__(self, key: CeApiKey) -> None:
        self.key = key
        super().__init__(str(key.pk))


#: Keys that were verified, by a digest of the secret; the newest so many.
_known: OrderedDict[bytes, CeApiKey] = OrderedDict()
_REMEMBERED = 1024


def _digest(secret: str) -> bytes:
    return hashlib.sha256(secret.encode()).digest()


def key_of(secret: str) -> CeApiKey:
    """The key with that secret, remembered from now on.

    Raises AuthenticationFailed for one that is unknown, revoked or out of date.
    """
    key = _known[_digest(secret)] = _valid(secret.partition(".")[0], lambda key: key.is_valid(secret))
    if len(_known) > _REMEMBERED:
        _known.popitem(last=False)
    return key


def _forget(key: CeApiKey) -> None:
    for digest, known in list(_known.items()):
        if known.pk == key.pk:
            _known.pop(digest, None)


def _valid(prefix: str, is_it: Callable[[CeApiKey], bool]) -> CeApiKey:
    """The key of a prefix, if it is the one that is meant and may be used. Raises AuthenticationFailed."""
    key, expired = _found(prefix)
    if key is None or not is_it(key):
        raise exceptions.AuthenticationFailed("This API key is not known.")
    if key.revoked:
        raise exceptions.AuthenticationFailed("This API key was revoked.")
    if expired:
        raise exceptions.AuthenticationFailed("This API key is out of date.")
    return key


def _found(prefix: str) -> tuple[CeApiKey | None, bool]:
    """The key of that prefix, and whether its time is over. By hand: the ORM takes five times as long."""
    columns = ("id", "prefix", "hashed_key", "revoked", "workspace_id", "scopes")
    read = ", ".join((*columns[:-1], "CAST(scopes AS text)"))
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT expiry_date <= {dialect().now()}, {read} FROM ce_api_key WHERE prefix = %s", [prefix])
        row = cursor.fetchone()
    if row is None:
        return None, False
    expired, *values, scopes = row
    key = CeApiKey.from_db(None, columns, [*values, loads(scopes)])
    key.scopes_text = scopes
    return key, bool(expired)


class HasScope(BasePermission):
    """The key carries the scope that the view names, or one of them."""

    def has_permission(self, request: Request, view: Any) -> bool:
        """Raises NotAuthenticated when there is no key at all."""
        if not isinstance(request.auth, CeApiKey):
            raise exceptions.NotAuthenticated("Send your API key as `Authorization: Api-Key <key>`.")
        if wanted := getattr(view, "scope", None):
            need_scope(request.auth, (wanted,) if isinstance(wanted, str) else wanted)
        return True


def need_scope(key: CeApiKey, wanted: Sequence[str]) -> None:
    """Raises PermissionDenied for a key that carries none of these scopes."""
    if not set(wanted).intersection(key.scopes):
        raise exceptions.PermissionDenied(f"This API key does not have the scope {' or '.join(wanted)}.")


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
