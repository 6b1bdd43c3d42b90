"""Read environment variables. An invalid value gives one line with the variable, the problem and the allowed values."""

import json
import os
import re
from pathlib import Path
from typing import Any
from urllib.parse import SplitResult, parse_qs, unquote, urlsplit
from zoneinfo import ZoneInfo, available_timezones

from django.core.exceptions import ImproperlyConfigured

from convengine.engine.text.wording import did_you_mean, find_nearest

_LINE = re.compile(r"(?:export\s+)?([A-Za-z_][A-Za-z0-9_]*)\s*=\s*(.*)")
#: A value in quotes, and perhaps a comment behind it.
_QUOTED = re.compile(r"""(["'])(.*?)\1(?:\s+#.*)?""")
#: Prefixes of variables whose names the deployment chooses.
_FREE = ("CE_CFG__", "CE_CHANNEL_SECRET_", "CE_MCP_SECRET_", "CE_TEST_")
#: All variables that something reads. A variable is also added when it is read: those of secrets have free names.
_KNOWN = {
    "CE_ACCESS_LOG",
    "CE_DATABASE_POOLER", "CE_REPLICA_MAX_LAG_SECONDS", "CE_REPLICA_URL", "CE_SENTINEL_MASTER",
    "CE_ALLOWED_HOSTS", "CE_ALLOW_UNSAFE_SQL_TOOLS", "CE_ANCHOR_COMMAND", "CE_ANCHOR_FILE", "CE_ANSWER_CONTEXT",
    "CE_AUDIT_RATE_LIMIT_ENABLED", "CE_AUDIT_RATE_LIMIT_MAX_EVENTS", "CE_AUDIT_RATE_LIMIT_MAX_TRACKED_BUCKETS",
    "CE_AUDIT_RATE_LIMIT_PER_CONVERSATION", "CE_AUDIT_RATE_LIMIT_PER_STAGE", "CE_AUDIT_RATE_LIMIT_WINDOW_MS",
    "CE_BACKUP_FOLDER", "CE_BROKER_URL", "CE_BUS_URL", "CE_CHANNEL_HOSTS", "CE_CHAT", "CE_CHAT_ORIGINS", "CE_CHAT_RATE",
    "CE_CHAT_TOKEN_DAY_RATE", "CE_CHAT_TOKEN_RATE",
    "CE_CHROMIUM", "CE_CORS_ALLOWED_ORIGINS", "CE_CSRF_TRUSTED_ORIGINS",
    "CE_DATABASE_POOL_SIZE", "CE_DATABASE_PREPARE", "CE_DEBUG", "CE_DEMO", "CE_EMAIL_HOST", "CE_EMAIL_PASSWORD",
    "CE_EMAIL_PORT", "CE_EMAIL_TLS", "CE_EMAIL_USER", "CE_EXTENSIONS", "CE_FILES_ROOT", "CE_HSTS_PRELOAD",
    "CE_HSTS_SECONDS", "CE_HSTS_SUBDOMAINS", "CE_HTTPS_REDIRECT", "CE_HTTP_CONNECTIONS",
    "CE_IDEMPOTENCY_HOURS", "CE_JOBS_IN_PROCESS", "CE_JOB_LEASE_SECONDS", "CE_JOB_TICK_SECONDS",
    "CE_LLM_ALLOWED_MODELS", "CE_LLM_ANSWERS",
    "CE_LLM_API_KEY", "CE_LLM_BASE_URL", "CE_LLM_CONNECTIONS", "CE_LLM_MODEL", "CE_LLM_PRICES", "CE_LLM_PROVIDER",
    "CE_LOG_FORMAT", "CE_LOG_LEVEL", "CE_MAX_IMPORT_BYTES", "CE_MAX_INPUT_PARAMS_BYTES", "CE_MAX_MESSAGE_BYTES",
    "CE_MAX_REQUEST_BYTES", "CE_MAX_STREAMS", "CE_MAX_STREAMS_PER_KEY", "CE_MAX_STREAMS_PER_PERSON",
    "CE_MCP_API_KEY", "CE_MCP_HTTP_HOSTS", "CE_LLM_PRIVATE_HOSTS", "CE_MCP_PRIVATE_HOSTS",
    "CE_LLM_FALLBACK", "CE_MAX_HELD_BYTES", "CE_MAX_QUEUED", "CE_MAX_UNFINISHED", "CE_MAX_UNFINISHED_PER_ADDRESS",
    "CE_MAX_UNFINISHED_PER_KEY", "CE_MAX_WAITING_FOR_LEASES", "CE_MAX_WAITING_FOR_MODELS", "CE_MAX_WAITING_FOR_TOOLS",
    "CE_THREADS", "CE_TRANSFER_BYTES_PER_SECOND", "CE_TRANSFER_SECONDS",
    "CE_LOCAL_SIGN_IN", "CE_OIDC_CLIENT_ID", "CE_OIDC_CLIENT_SECRET", "CE_OIDC_GROUPS_CLAIM", "CE_OIDC_ISSUER",
    "CE_OIDC_LABEL", "CE_OIDC_SCOPES", "CE_SAML_ENTITY_ID", "CE_SAML_METADATA", "CE_SECOND_FACTOR",
    "CE_MCP_STDIO_COMMANDS", "CE_METRICS_TOKEN", "CE_NOTIFICATION_FROM", "CE_NOTIFICATION_RECIPIENTS",
    "CE_NOTIFICATION_WEBHOOKS", "CE_PROJECT_DIR", "CE_PROXY_SSL_HEADER", "CE_SECRET_KEY", "CE_SECURE_COOKIES",
    "CE_SECURITY_CONTACTS",
    "CE_STOP_SECONDS", "CE_STREAMS_URL", "CE_STREAM_POLL_MS", "CE_STREAM_SECONDS", "CE_TAKES_TURNS", "CE_THROTTLE_RATE",
    "CE_TIME_ZONE",
    "CE_TOOL_DATABASE_URLS", "CE_TRUSTED_PROXIES", "CE_TURN_TIMEOUT_SECONDS", "CE_VAR_DIR",
    "CE_DOCUMENT_PRIVATE_HOSTS", "CE_WEBHOOK_PRIVATE_HOSTS", "CE_WRITE_MANUAL",
}  # fmt: skip

#: Names of the variables that a `.env` file set in this process.
_FROM_FILE: set[str] = set()

TRUE = {"true", "1", "yes", "on"}
FALSE = {"false", "0", "no", "off", ""}


def load_file(file: Path) -> None:
    """Set the variables of a `.env` file, unless the environment has them already.

    Raises ImproperlyConfigured for a line that is not `NAME=value`, and for a file that cannot be read.
    """
    if not file.is_file():
        return
    try:
        lines = file.read_text("utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise ImproperlyConfigured(f"{file} cannot be read: {getattr(error, 'strerror', None) or error}.") from error
    for number, line in enumerate(lines, 1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        match = _LINE.fullmatch(line.strip())
        if match is None:
            raise ImproperlyConfigured(f"{file}, line {number}: write NAME=value.")
        name, value = match.groups()
        quoted = _QUOTED.fullmatch(value)
        value = quoted[2] if quoted else value.partition(" #")[0].strip()
        if name not in os.environ:
            os.environ[name] = value
            _FROM_FILE.add(name)


def read_inherited_variables() -> dict[str, str]:
    """The environment without what a `.env` file set: for processes that read the file themselves."""
    return {name: value for name, value in os.environ.items() if name not in _FROM_FILE}


def misspelt() -> dict[str, str]:
    """The `CE_…` variables that nothing reads, each with the most similar known name, or a blank one."""
    unknown = [
        name for name in os.environ if name.startswith("CE_") and name not in _KNOWN and not name.startswith(_FREE)
    ]
    return {name: find_nearest(name, _KNOWN - os.environ.keys(), 0.75) or "" for name in sorted(unknown)}


def describe_misspelt() -> list[str]:
    return [
        f"{name} is not a known variable." + (f" Did you mean {nearest}?" if nearest else "")
        for name, nearest in misspelt().items()
    ]


def suggest_variable(name: str) -> str:
    """What to do about something that rows name and the deployment does not have."""
    return f"Declare it in {name} (the manual's chapter Deployment)."


def text(name: str, default: str = "") -> str:
    _KNOWN.add(name)
    return os.environ.get(name, default).strip()


def boolean(name: str, default: bool = False) -> bool:
    """true/1/yes/on or false/0/no/off."""
    value = text(name, str(default)).lower()
    if value not in TRUE | FALSE:
        raise ImproperlyConfigured(f"{name} must be true or false.")
    return value in TRUE


def integer(name: str, default: int, minimum: int = 0) -> int:
    """A whole number of at least `minimum`."""
    value = text(name, str(default))
    # Some characters outside of ASCII are digits that `int` refuses, and so are very many digits.
    if not re.fullmatch(r"[0-9]{1,18}", value) or int(value) < minimum:
        raise ImproperlyConfigured(f"{name} must be a whole number of at least {minimum}.")
    return int(value)


def words(name: str, default: str = "") -> list[str]:
    """A comma-separated list."""
    return [word.strip() for word in text(name, default).split(",") if word.strip()]


def contacts(name: str) -> list[str]:
    """Addresses of people or pages, as URIs."""
    uris = words(name)
    if wrong := [uri for uri in uris if not re.fullmatch(r"mailto:[^@\s]+@[^@\s]+|https://\S+|tel:[+0-9-]+", uri)]:
        raise ImproperlyConfigured(
            f"{name}: {wrong[0]!r} must be an address such as mailto:security@example.com or https://example.com/report."
        )
    return uris


def rate(name: str) -> str:
    """A number of calls per second, minute, hour or day, such as 600/min; blank for none."""
    value = text(name)
    if value and not re.fullmatch(r"[0-9]+/[smhd][a-z]*", value):
        raise ImproperlyConfigured(f"{name} must be a number of calls per time, such as 600/min.")
    return value


def https_header(name: str) -> tuple[str, str] | None:
    """The header in which the proxy writes `https`, as Django reads it. Returns None if no header is set."""
    header = text(name)
    if not header:
        return None
    if not re.fullmatch(r"[A-Za-z][A-Za-z0-9-]*", header):
        raise ImproperlyConfigured(f"{name} must be the name of a header, such as X-Forwarded-Proto.")
    return f"HTTP_{header.upper().replace('-', '_')}", "https"


def one_of(name: str, default: str, *allowed: str) -> str:
    """One of the allowed words, ignoring case."""
    value = text(name, default)
    for word in allowed:
        if word.lower() == value.lower():
            return word
    raise ImproperlyConfigured(f"{name} must be one of {', '.join(allowed)}.")


def time_zone(name: str, default: str) -> str:
    """The name of a time zone, such as Europe/Berlin."""
    value = text(name, default) or default
    try:
        ZoneInfo(value)
    except (ValueError, KeyError, OSError):
        hint = did_you_mean(value, available_timezones()) or " Use a name such as Europe/Berlin."
    else:
        return value
    raise ImproperlyConfigured(f"{name}: there is no time zone {value!r}.{hint}")


def document(name: str) -> dict[str, Any]:
    """A JSON object; an absent variable is an empty one."""
    try:
        value = json.loads(text(name, "{}") or "{}")
    except ValueError:
        raise ImproperlyConfigured(f"{name} must be a JSON object.") from None
    if not isinstance(value, dict):
        raise ImproperlyConfigured(f"{name} must be a JSON object.")
    return value


def read_prefixed_variables(prefix: str) -> dict[str, str]:
    """The variables with a prefix, by the rest of their names."""
    return {name.removeprefix(prefix): value for name, value in os.environ.items() if name.startswith(prefix)}


def http_connections() -> dict[str, Any]:
    """`CE_HTTP_CONNECTIONS`; each connection's `secret` names the variable with its secret."""
    connections = document("CE_HTTP_CONNECTIONS")
    for name, declared in connections.items():
        if not isinstance(declared, dict) or "secret_value" in declared:
            raise ImproperlyConfigured(
                f"CE_HTTP_CONNECTIONS: {name} must be an object, its secret in another variable."
            )
        if variable := declared.get("secret"):
            if not text(str(variable)):
                raise ImproperlyConfigured(f"CE_HTTP_CONNECTIONS: the variable {variable} of {name} is not set.")
            declared["secret_value"] = text(str(variable))
    return connections


#: The address of OpenAI's own service, used without an address.
_OPENAI = "https://api.openai.com/v1"


def models() -> dict[str, dict[str, Any]]:
    """Connections to models by name: that of the single variables, then those of CE_LLM_CONNECTIONS.

    A model and an address, or a model and a key, are enough: the provider follows from them.
    """
    provider = one_of("CE_LLM_PROVIDER", "auto", "auto", "none", "openai", "openai_compatible", "stub")
    named = document("CE_LLM_CONNECTIONS")
    if provider == "none":
        return {}
    if provider == "stub":
        return {"stub": {"provider": "stub"}}
    url, key, model = text("CE_LLM_BASE_URL"), text("CE_LLM_API_KEY"), text("CE_LLM_MODEL")
    if provider == "auto" and not (url or key or model):
        return _with_keys(named)
    if not model:
        raise ImproperlyConfigured("CE_LLM_MODEL must name the model to ask (or set CE_LLM_PROVIDER=none).")
    if not url and (provider == "openai_compatible" or not key):
        raise ImproperlyConfigured(
            "CE_LLM_BASE_URL must be the address of the model service, such as http://127.0.0.1:8080/v1 (or "
            "CE_LLM_API_KEY the key of OpenAI's)."
        )
    default = {
        "base_url": url or _OPENAI,
        "api_key": key,
        "models": list(dict.fromkeys([model, *words("CE_LLM_ALLOWED_MODELS")])),
        "prices": document("CE_LLM_PRICES"),
        "answers": one_of("CE_LLM_ANSWERS", "schema", "schema", "object", "text"),
        "fallback": text("CE_LLM_FALLBACK"),
        "private_hosts": words("CE_LLM_PRIVATE_HOSTS"),
    }
    return {"openai" if url in ("", _OPENAI) else "default": default, **_with_keys(named)}


def _with_keys(named: dict[str, Any]) -> dict[str, Any]:
    """The connections with their keys, which may be in variables that `api_key_env` names."""
    resolved: dict[str, Any] = {}
    for name, value in named.items():
        variable = value.get("api_key_env") if isinstance(value, dict) else None
        if variable is None:
            resolved[name] = value
            continue
        if not text(str(variable)):
            raise ImproperlyConfigured(f"{variable} must be the key of the model connection {name}.")
        rest = {key: setting for key, setting in value.items() if key != "api_key_env"}
        resolved[name] = {**rest, "api_key": text(str(variable))}
    return resolved


def live_setting_defaults() -> dict[tuple[str, str], str]:
    """`CE_CFG__TYPE__KEY` variables: the deployment's defaults of live settings.

    The original's two session variables are also accepted, below the others.
    """
    defaults: dict[tuple[str, str], str] = {}
    for variable, key in (
        ("SESSION_TIMEOUT_MINUTES", "TIMEOUT_MINUTES"),
        ("ENABLE_SESSION_DRIFT_CLASSIFIER", "ENABLE_DRIFT_CLASSIFIER"),
    ):
        if variable in os.environ:
            defaults["SESSION", key] = os.environ[variable]
    for variable, value in os.environ.items():
        if variable.upper().startswith("CE_CFG__"):
            _, type_, key = (*variable.upper().split("__", 2), "", "")[:3]
            if not type_ or not key:
                raise ImproperlyConfigured(f"{variable} must be named CE_CFG__TYPE__KEY.")
            defaults[type_, key] = value
    return defaults


def _split_url(name: str, url: str) -> SplitResult:
    """The parts of the address in a variable. Raises ImproperlyConfigured, without the address and its password."""
    try:
        parts = urlsplit(url)
        _ = parts.port
    except ValueError:
        raise ImproperlyConfigured(
            f"The address in {name} cannot be read. Write special characters of a password by their numbers: / as "
            "%2F, # as %23, [ as %5B."
        ) from None
    return parts


def broker(url: str) -> str:
    """The address of the job broker; blank for none, `embedded` for one that `serve` starts."""
    # The addresses of several Sentinels are separated by semicolons.
    schemes = {_split_url("CE_BROKER_URL or CE_BUS_URL", part).scheme for part in url.split(";")}
    if url and url != "embedded" and schemes != {"sentinel"} and schemes - {"redis", "rediss", "redis+socket"}:
        raise ImproperlyConfigured(
            "CE_BROKER_URL and CE_BUS_URL must begin with redis://, rediss://, redis+socket:// or sentinel://, or be "
            "`embedded`."
        )
    return url


def bus(url: str, broker_url: str) -> str:
    """The address of the event bus; that of the broker unless `none` or another is set."""
    chosen_url = broker(broker_url if not url else "" if url == "none" else url)
    return "" if chosen_url == "embedded" else chosen_url


def database(url: str, default_file: str) -> dict[str, Any]:
    """Django's dictionary for a database URL: postgresql://…, sqlite:///file; blank is SQLite in `default_file`."""
    parts = _split_url("DATABASE_URL or CE_REPLICA_URL", url or f"sqlite:///{default_file}")
    if parts.scheme == "sqlite":
        name = unquote(parts.path)
        name = name[1:] if url else default_file
        return {
            "ENGINE": "convengine.server.database.sqlite3",
            "NAME": name,
            "OPTIONS": {
                # IMMEDIATE makes read-modify-write safe: select_for_update does nothing on SQLite.
                "transaction_mode": "IMMEDIATE",
                "timeout": 20,
                "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; PRAGMA foreign_keys=ON;",
            },
            # In-memory test databases share a cache that answers "table is locked" as soon as two threads write.
            "TEST": {"NAME": f"{name}.test"},
        }
    if parts.scheme in ("postgres", "postgresql"):
        query = {key: values[-1] for key, values in parse_qs(parts.query).items()}
        is_pooled = one_of("CE_DATABASE_POOLER", "none", "none", "transaction") == "transaction"
        if is_pooled and "options" in query:
            raise ImproperlyConfigured(
                "The address of a database behind a pooler cannot have `options`: another client would get them. "
                "Set them in PostgreSQL instead: ALTER ROLE … SET …"
            )
        return {
            # Checks each connection before use, so that no call gets a dead one after a restart of the database.
            "ENGINE": "convengine.server.database.postgresql",
            "NAME": unquote(parts.path.lstrip("/")),
            "USER": unquote(parts.username or ""),
            "PASSWORD": unquote(parts.password or ""),
            # A socket folder comes as ?host=/folder.
            "HOST": query.pop("host", parts.hostname or ""),
            "PORT": str(query.pop("port", parts.port or "")),
            # A pool, because a waiting turn must return its connection, and persistent ones could not be returned.
            "OPTIONS": {
                # A connection whose server is gone without a word ends after twenty seconds, also in jobs that wait.
                "connect_timeout": "3",
                "keepalives_idle": "10",
                "keepalives_interval": "5",
                "keepalives_count": "2",
                "tcp_user_timeout": "20000",
                **query,
                # Statements are prepared once per connection. A pooler gives each transaction another connection.
                "server_side_binding": True,
                "prepare_threshold": 5 if boolean("CE_DATABASE_PREPARE", True) and not is_pooled else None,
                "pool": {"min_size": 1, "max_size": integer("CE_DATABASE_POOL_SIZE", 2, 1), "timeout": 30},
            },
            "CONN_MAX_AGE": 0,
            "DISABLE_SERVER_SIDE_CURSORS": True,
        }
    raise ImproperlyConfigured("DATABASE_URL must begin with postgresql:// or sqlite:///.")


def replica(url: str, primary: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Django's dictionary for the replica by its alias; empty for a blank address."""
    if not url:
        return {}
    if not url.startswith(("postgresql://", "postgres://")) or primary["ENGINE"].endswith("sqlite3"):
        raise ImproperlyConfigured("CE_REPLICA_URL must begin with postgresql://, and so must DATABASE_URL.")
    values = database(url, "")
    # Its pages go to the primary at once when it is out.
    values["OPTIONS"]["pool"] = {**values["OPTIONS"]["pool"], "min_size": 0, "timeout": 2}
    values["OPTIONS"].setdefault("connect_timeout", 2)
    return {"replica": {**values, "TEST": {"MIRROR": "default"}}}
