"""Read environment variables. An invalid value gives one line with the variable, the problem and the allowed values."""

import json
import os
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

from django.core.exceptions import ImproperlyConfigured

TRUE = {"true", "1", "yes", "on"}
FALSE = {"false", "0", "no", "off", ""}


def text(name: str, default: str = "") -> str:
    """A text variable."""
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
    if not value.isdigit() or int(value) < minimum:
        raise ImproperlyConfigured(f"{name} must be a whole number of at least {minimum}.")
    return int(value)


def words(name: str, default: str = "") -> list[str]:
    """A comma-separated list."""
    return [word.strip() for word in text(name, default).split(",") if word.strip()]


def one_of(name: str, default: str, *allowed: str) -> str:
    """One of the allowed words, ignoring case."""
    value = text(name, default)
    for word in allowed:
        if word.lower() == value.lower():
            return word
    raise ImproperlyConfigured(f"{name} must be one of {', '.join(allowed)}.")


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
            if not os.environ.get(str(variable)):
                raise ImproperlyConfigured(f"CE_HTTP_CONNECTIONS: the variable {variable} of {name} is not set.")
            declared["secret_value"] = os.environ[str(variable)]
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
    """`CE_CFG__TYPE__KEY` variables: the deployment's defaults of live settings (settings 1).

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


def broker(url: str) -> str:
    """The address of the job broker; blank for none, `embedded` for one that `serve` starts."""
    if url and url != "embedded" and urlsplit(url).scheme not in ("redis", "rediss", "redis+socket"):
        raise ImproperlyConfigured(
            "CE_BROKER_URL and CE_BUS_URL must begin with redis://, rediss:// or redis+socket://, or be `embedded`."
        )
    return url


def bus(url: str, broker_url: str) -> str:
    """The address of the event bus; that of the broker unless `none` or another is set."""
    chosen_url = broker(broker_url if not url else "" if url == "none" else url)
    return "" if chosen_url == "embedded" else chosen_url


def database(url: str, default_file: str) -> dict[str, Any]:
    """Django's dictionary for a database URL: postgresql://…, sqlite:///file; blank is SQLite in `default_file`."""
    parts = urlsplit(url or f"sqlite:///{default_file}")
    if parts.scheme == "sqlite":
        name = unquote(parts.path)
        name = name[1:] if url else default_file
        return {
            "ENGINE": "django.db.backends.sqlite3",
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
                **query,
                # Statements are prepared once per connection.
                "server_side_binding": True,
                "prepare_threshold": 5 if boolean("CE_DATABASE_PREPARE", True) else None,
                "pool": {"min_size": 1, "max_size": integer("CE_DATABASE_POOL_SIZE", 2, 1), "timeout": 30},
            },
            "CONN_MAX_AGE": 0,
            "DISABLE_SERVER_SIDE_CURSORS": True,
        }
    raise ImproperlyConfigured("DATABASE_URL must begin with postgresql:// or sqlite:///.")
