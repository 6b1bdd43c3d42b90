"""The deployment's named connections of HTTP tools: address, credentials, hosts."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from urllib.parse import SplitResult, quote, unquote, urlsplit

from convengine.engine.text.wording import join_names
from convengine.engine.tools.fault import ToolFault
from convengine.engine.turn.codec import dumps, loads
from convengine.json_value import Json
from convengine.server.deployment import conf
from convengine.server.deployment.environment import suggest_variable
from convengine.server.deployment.secrets import mask_secrets
from convengine.server.outgoing.addresses import is_listed

_PORTS = {"http": 80, "https": 443}
#: Begins with a scheme, or with the two slashes of a host.
_ADDRESS = re.compile(r"\s*(?:[a-z][a-z0-9+.-]*:)?[/\\]{2}", re.IGNORECASE)
#: Characters of a path that need no encoding.
_SAFE = "/%:@!$&'()*+,;=-._~"


class Auth(StrEnum):
    """The authentication of a connection."""

    NONE = "NONE"
    API_KEY = "API_KEY"
    BEARER_STATIC = "BEARER_STATIC"


class HttpConnectionInvalid(ValueError):
    """`CE_HTTP_CONNECTIONS` is invalid."""


@dataclass(frozen=True)
class HttpConnection:
    """One named target. Rows and code know its name, not its credentials or address."""

    name: str
    base: SplitResult
    auth: Auth = Auth.NONE
    #: API_KEY: the header; BEARER_STATIC: the word before the secret.
    header: str = "X-API-KEY"
    prefix: str = "Bearer"
    secret: str = ""
    #: Other hosts that code may call without the credentials: `host`, `host:port`, `*.domain`.
    hosts: frozenset[str] = frozenset()
    #: Hosts that may have loopback, link-local or private addresses.
    private_hosts: frozenset[str] = frozenset()

    def credentials(self) -> dict[str, str]:
        """The authentication headers."""
        if self.auth == Auth.API_KEY:
            return {self.header: self.secret}
        return {"Authorization": f"{self.prefix} {self.secret}"} if self.auth == Auth.BEARER_STATIC else {}

    def target(self, path: str) -> "HttpTarget":
        """The address of a path, or of a full address. Raises ToolFault PATH_REFUSED or HOST_REFUSED."""
        if _ADDRESS.match(path):
            return self._absolute(path)
        path, _, query = path.partition("?")
        joined = f"{self.base.path.rstrip('/')}/{path.lstrip('/')}" if path.strip("/") else self.base.path or "/"
        return HttpTarget(
            self, self.base.scheme, self.base.hostname or "", _port(self.base), _encode_path(joined), query, True
        )

    def _absolute(self, address: str) -> "HttpTarget":
        """The target of a full address. Only the connection's own address gets its credentials.

        Raises ToolFault HOST_REFUSED for a host that the connection does not list, and PATH_REFUSED.
        """
        parts = split_address(address)
        host, port = (parts.hostname or "").lower(), _port(parts)
        own = (parts.scheme, host, port) == (self.base.scheme, (self.base.hostname or "").lower(), _port(self.base))
        if not own and not is_listed(host, port, self.hosts):
            raise ToolFault("HOST_REFUSED", f"{host or address} is not the host of the connection {self.name}.")
        return HttpTarget(self, parts.scheme, host, port, _encode_path(parts.path or "/"), parts.query, own)

    def may_be_private(self, host: str, port: int) -> bool:
        """True when the deployment allows this host a private address."""
        return is_listed(host, port, self.private_hosts)


@dataclass(frozen=True)
class HttpTarget:
    connection: HttpConnection
    scheme: str
    host: str
    port: int
    path: str
    query: str
    #: True for the connection's own address, which gets its credentials.
    own: bool

    @property
    def authority(self) -> str:
        """Host and port for the Host header."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == _PORTS[self.scheme] else f"{host}:{self.port}"


def connection(name: str) -> HttpConnection:
    """The connection of a name. Raises ToolFault CONNECTION_UNKNOWN, and ConnectionInvalid."""
    known = connections(conf.get("HTTP_CONNECTIONS"))
    if name not in known:
        raise ToolFault(
            "CONNECTION_UNKNOWN",
            f"The connection {name} does not exist. Known: {join_names(known)}. "
            f"{suggest_variable('CE_HTTP_CONNECTIONS')}",
        )
    return known[name]


def connections(declared: Mapping[str, Json]) -> Mapping[str, HttpConnection]:
    """The connections that a deployment declares. Raises ConnectionInvalid, naming the connection and the key."""
    return _read(dumps(declared))


@lru_cache(maxsize=8)
def _read(declared: str) -> Mapping[str, HttpConnection]:
    return {name: _read_connection(name, value) for name, value in loads(declared).items()}


def _read_connection(name: str, declared: Json) -> HttpConnection:
    """The connection that a deployment declares under a name. Raises ConnectionInvalid."""
    if not isinstance(declared, Mapping):
        raise HttpConnectionInvalid(f"The HTTP connection {name} must be an object with base_url.")
    known = {"base_url", "auth", "header", "prefix", "secret", "secret_value", "hosts", "private_hosts"}
    if unknown := sorted(declared.keys() - known):
        raise HttpConnectionInvalid(
            f"The HTTP connection {name} has an unknown key {unknown[0]}. Known: {sorted(known)}."
        )
    try:
        base = split_address(str(declared.get("base_url") or ""))
    except ToolFault:
        base = None
    if base is None or base.query or base.fragment:
        raise HttpConnectionInvalid(f"The base_url of the HTTP connection {name} must look like https://host/path.")
    try:
        auth = Auth(str(declared.get("auth", "NONE")).strip().upper())
    except ValueError:
        raise HttpConnectionInvalid(
            f"The auth of the HTTP connection {name} must be one of {', '.join(Auth)}."
        ) from None
    secret = str(declared.get("secret_value") or "")
    if auth != Auth.NONE and not secret:
        raise HttpConnectionInvalid(
            f"The HTTP connection {name} needs a secret. Name the environment variable with the secret."
        )
    return HttpConnection(
        name,
        base,
        auth,
        str(declared.get("header") or "X-API-KEY"),
        str(declared.get("prefix") or "Bearer"),
        secret,
        _read_hosts(declared.get("hosts")),
        _read_hosts(declared.get("private_hosts")),
    )


def _read_hosts(value: Json) -> frozenset[str]:
    return frozenset(str(entry).strip().lower() for entry in value) if isinstance(value, list) else frozenset()


def split_address(address: str) -> SplitResult:
    """The parts of an http or https address.

    Raises ToolFault HOST_REFUSED for any other text, for one without a host, and for one with a user name.
    """
    try:
        parts = urlsplit(address)
        usable = parts.scheme in _PORTS and bool(parts.hostname) and parts.username is None and parts.port != 0
    except ValueError:
        usable = False
    if not usable:
        raise ToolFault(
            "HOST_REFUSED", f"{mask_secrets(address[:200])} is not an http or https address without a user name."
        )
    return parts


def _port(parts: SplitResult) -> int:
    return parts.port or _PORTS[parts.scheme]


def _encode_path(path: str) -> str:
    """The encoded path. Raises ToolFault PATH_REFUSED for a part `.` or `..`, which could leave the base path."""
    decoded = path
    for _ in range(3):
        decoded = unquote(decoded)
    if any(part in (".", "..") for part in decoded.replace("\\", "/").split("/")):
        raise ToolFault("PATH_REFUSED", "A path must not contain . or .. as a part. Check the arguments.")
    return quote(path, safe=_SAFE)
