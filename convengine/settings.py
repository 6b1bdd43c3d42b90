"""Django settings. Deployment values come from the environment."""

import warnings
from pathlib import Path
from typing import Any

from django.core.exceptions import ImproperlyConfigured

from convengine import embedding
from convengine.server.deployment import environment
from convengine.server.deployment.content_policy import STRICT
from convengine.server.deployment.folders import (
    COMMAND_APPS,
    DATABASE_FILE,
    SECRET_FILE,
    demo_extension,
    find_shipped,
    is_checkout,
    is_demonstration,
    project_folder,
    read_project,
)
from convengine.server.sign_in import settings as sign_in

BASE_DIR = project_folder()
environment.load_file(BASE_DIR / ".env")
VAR_DIR = Path(environment.text("CE_VAR_DIR") or BASE_DIR / "var")
# The folder of the SQLite database and of collected static files. Outside of a project, the database makes its own.
if read_project(BASE_DIR) is not None or is_checkout() or environment.text("CE_VAR_DIR"):
    try:
        (VAR_DIR / "static").mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ImproperlyConfigured(f"CE_VAR_DIR: the folder {VAR_DIR} cannot be made: {error.strerror}.") from error

DEBUG = environment.boolean("CE_DEBUG")
# The demo has a key of its own, so that its sessions survive a restart. `serve` refuses it.
_DEMO_KEY = VAR_DIR / SECRET_FILE
SECRET_KEY = environment.text("CE_SECRET_KEY")
if not SECRET_KEY and DEBUG:
    SECRET_KEY = "only-for-development"  # noqa: S105
if not SECRET_KEY and _DEMO_KEY.is_file():
    SECRET_KEY = _DEMO_KEY.read_text().strip()
if not SECRET_KEY:
    raise ImproperlyConfigured("CE_SECRET_KEY must be set to a long random string (or CE_DEBUG=true for development).")
ALLOWED_HOSTS = environment.words("CE_ALLOWED_HOSTS", "localhost,127.0.0.1,[::1]")
CSRF_TRUSTED_ORIGINS = environment.words("CE_CSRF_TRUSTED_ORIGINS")

SECURE_SSL_REDIRECT = environment.boolean("CE_HTTPS_REDIRECT")
# What a monitor on the same machine asks without HTTPS.
SECURE_REDIRECT_EXEMPT = ["^livez$", "^readyz$", "^metrics$"]
SECURE_HSTS_SECONDS = environment.integer("CE_HSTS_SECONDS", 0)
SECURE_HSTS_INCLUDE_SUBDOMAINS = environment.boolean("CE_HSTS_SUBDOMAINS")
SECURE_HSTS_PRELOAD = environment.boolean("CE_HSTS_PRELOAD")
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = environment.boolean("CE_SECURE_COOKIES")
SECURE_CSP = STRICT
SECURE_PROXY_SSL_HEADER = environment.https_header("CE_PROXY_SSL_HEADER")

INSTALLED_APPS = [
    *embedding.BEFORE_ADMIN,
    # `convengine.urls` loads the pages of the admin: commands that show no page start without them.
    "django.contrib.admin.apps.SimpleAdminConfig",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    *embedding.LIBRARIES,
    *embedding.APPS,
    *COMMAND_APPS,
]

MIDDLEWARE = [
    "convengine.server.probes.middleware.ProbeMiddleware",
    "convengine.server.api.middleware.ApiMiddleware",
    "convengine.server.observability.hosts.HostMiddleware",
    "corsheaders.middleware.CorsMiddleware",
    "django.middleware.security.SecurityMiddleware",
    "convengine.server.deployment.content_policy.ContentPolicyMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "convengine.server.api.clean_input.CleanInputMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "simple_history.middleware.HistoryRequestMiddleware",
    "config_admin.drafts.middleware.DraftMiddleware",
]

#: The middleware of API calls on WSGI: nobody is logged in there, and nothing is shown in a frame.
API_MIDDLEWARE = [
    "convengine.server.api.middleware.ApiMiddleware",
    "convengine.server.observability.hosts.HostMiddleware",
    "corsheaders.middleware.CorsMiddleware",
    "django.middleware.security.SecurityMiddleware",
    "django.middleware.common.CommonMiddleware",
]

#: Pages of other origins that browsers let call the API; none by default.
CORS_ALLOWED_ORIGINS = environment.words("CE_CORS_ALLOWED_ORIGINS")
CORS_URLS_REGEX = r"^/api/"
CORS_ALLOW_HEADERS = embedding.CORS_ALLOW_HEADERS
CORS_EXPOSE_HEADERS = embedding.CORS_EXPOSE_HEADERS

ROOT_URLCONF = "convengine.urls"
WSGI_APPLICATION = "convengine.wsgi.application"
ASGI_APPLICATION = "convengine.asgi.application"

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [find_shipped("templates")],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ],
        },
    },
]

DATABASES: dict[str, dict[str, Any]] = {
    "default": environment.database(environment.text("DATABASE_URL"), str(VAR_DIR / DATABASE_FILE)),
}
# The pages of past turns read it; turns do not.
DATABASES |= environment.replica(environment.text("CE_REPLICA_URL"), DATABASES["default"])
DATABASE_ROUTERS = ["convengine.server.database.replica.RecordRouter"] if "replica" in DATABASES else []
# A turn owns its transactions: a transaction per request would roll back the audit of a failed turn.
ATOMIC_REQUESTS = False
SILENCED_SYSTEM_CHECKS = embedding.SILENCED_CHECKS
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

LOGGING_CONFIG = "convengine.server.deployment.logs.configure"
LOGGING = {
    "level": environment.one_of("CE_LOG_LEVEL", "INFO", "DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL"),
    "format": environment.one_of("CE_LOG_FORMAT", "json", "json", "text"),
}

AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator"},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
    {"NAME": "django.contrib.auth.password_validation.NumericPasswordValidator"},
]
LANGUAGE_CODE = "en"
TIME_ZONE = environment.time_zone("CE_TIME_ZONE", "UTC")
USE_I18N = True
FORMAT_MODULE_PATH = ["convengine.server.formats"]
USE_TZ = True

STATIC_URL = "static/"
STATIC_ROOT = VAR_DIR / "static"
STATICFILES_DIRS = [find_shipped("static")]
# Static files come from the packages, without collecting them before a start. So the folder above may be missing.
warnings.filterwarnings("ignore", "No directory at", UserWarning)
WHITENOISE_USE_FINDERS = True
WHITENOISE_AUTOREFRESH = False

SIMPLE_HISTORY_REVERT_DISABLED = True

# The views of the API set the rest themselves.
REST_FRAMEWORK: dict[str, Any] = {"UNAUTHENTICATED_USER": None}
SPECTACULAR_SETTINGS = embedding.SPECTACULAR_SETTINGS

LOGIN_URL = "admin:login"
LOGIN_REDIRECT_URL = "admin:index"

UNFOLD = embedding.UNFOLD

# The mail server for tools.
EMAIL_HOST = environment.text("CE_EMAIL_HOST", "localhost")
EMAIL_PORT = environment.integer("CE_EMAIL_PORT", 25, 1)
EMAIL_HOST_USER = environment.text("CE_EMAIL_USER")
EMAIL_HOST_PASSWORD = environment.text("CE_EMAIL_PASSWORD")
EMAIL_USE_TLS = environment.boolean("CE_EMAIL_TLS")
EMAIL_TIMEOUT = 10

# The rows of the demonstration refer to its code, whichever command reads them.
_OWN_CODE = demo_extension() if is_demonstration(VAR_DIR, DATABASES["default"]["NAME"]) else ""
_TURN_SECONDS = environment.integer("CE_TURN_TIMEOUT_SECONDS", 110, 1)
CONVENGINE: dict[str, Any] = {
    "PEOPLE_ADMIN": True,
    "EXTENSIONS": environment.words("CE_EXTENSIONS", _OWN_CODE),
    "MODELS": environment.models(),
    "TOOL_DATABASES": environment.document("CE_TOOL_DATABASE_URLS"),
    "HTTP_CONNECTIONS": environment.http_connections(),
    "FILES_ROOT": environment.text("CE_FILES_ROOT"),
    "NOTIFICATION_RECIPIENTS": environment.words("CE_NOTIFICATION_RECIPIENTS"),
    "NOTIFICATION_FROM": environment.text("CE_NOTIFICATION_FROM"),
    "NOTIFICATION_WEBHOOKS": environment.words("CE_NOTIFICATION_WEBHOOKS"),
    "DOCUMENT_PRIVATE_HOSTS": environment.words("CE_DOCUMENT_PRIVATE_HOSTS"),
    "WEBHOOK_PRIVATE_HOSTS": [word.lower() for word in environment.words("CE_WEBHOOK_PRIVATE_HOSTS")],
    "UNSAFE_SQL_TOOLS": environment.boolean("CE_ALLOW_UNSAFE_SQL_TOOLS"),
    "REPLICA_MAX_LAG_SECONDS": environment.integer("CE_REPLICA_MAX_LAG_SECONDS", 10),
    "SENTINEL_MASTER": environment.text("CE_SENTINEL_MASTER", "mymaster"),
    "BROKER_URL": environment.broker(environment.text("CE_BROKER_URL")),
    "JOBS_IN_PROCESS": environment.boolean("CE_JOBS_IN_PROCESS"),
    "TAKES_TURNS": environment.boolean("CE_TAKES_TURNS", default=True),
    "BUS_URL": environment.bus(environment.text("CE_BUS_URL"), environment.text("CE_BROKER_URL")),
    "STREAMS_URL": environment.text("CE_STREAMS_URL"),
    "MAX_STREAMS": environment.integer("CE_MAX_STREAMS", 200, 1),
    "MAX_STREAMS_PER_PERSON": environment.integer("CE_MAX_STREAMS_PER_PERSON", 5, 1),
    "MAX_STREAMS_PER_KEY": environment.integer("CE_MAX_STREAMS_PER_KEY", 100, 1),
    "STREAM_SECONDS": environment.integer("CE_STREAM_SECONDS", 1800, 1),
    "STREAM_POLL_MS": environment.integer("CE_STREAM_POLL_MS", 500, 50),
    "JOB_TICK_SECONDS": environment.integer("CE_JOB_TICK_SECONDS", 10, 1),
    "JOB_LEASE_SECONDS": environment.integer("CE_JOB_LEASE_SECONDS", 120, 1),
    "SETTING_DEFAULTS": environment.live_setting_defaults(),
    "MCP_STDIO_COMMANDS": environment.words("CE_MCP_STDIO_COMMANDS"),
    "MCP_HTTP_HOSTS": environment.words("CE_MCP_HTTP_HOSTS"),
    "MCP_PRIVATE_HOSTS": environment.words("CE_MCP_PRIVATE_HOSTS"),
    "CHANNEL_SECRETS": environment.read_prefixed_variables("CE_CHANNEL_SECRET_"),
    "CHANNEL_HOSTS": [word.lower() for word in environment.words("CE_CHANNEL_HOSTS")],
    "MCP_SECRETS": environment.read_prefixed_variables("CE_MCP_SECRET_"),
    "MAX_MESSAGE_BYTES": environment.integer("CE_MAX_MESSAGE_BYTES", 16 * 1024, 1),
    "MAX_INPUT_PARAMS_BYTES": environment.integer("CE_MAX_INPUT_PARAMS_BYTES", 64 * 1024, 1),
    "MAX_REQUEST_BYTES": environment.integer("CE_MAX_REQUEST_BYTES", 1024 * 1024, 1),
    "MAX_IMPORT_BYTES": environment.integer("CE_MAX_IMPORT_BYTES", 32 * 1024 * 1024, 1),
    "TURN_TIMEOUT_SECONDS": _TURN_SECONDS,
    "IDEMPOTENCY_HOURS": environment.integer("CE_IDEMPOTENCY_HOURS", 24, 1),
    "STOP_SECONDS": environment.integer("CE_STOP_SECONDS", _TURN_SECONDS + 10, 1),
    "THREADS": environment.integer("CE_THREADS", 4, 1),
    "MAX_QUEUED": environment.integer("CE_MAX_QUEUED", 500, 1),
    "TRANSFER_SECONDS": environment.integer("CE_TRANSFER_SECONDS", 5, 1),
    "TRANSFER_BYTES_PER_SECOND": environment.integer("CE_TRANSFER_BYTES_PER_SECOND", 8192, 1),
    "MAX_UNFINISHED": environment.integer("CE_MAX_UNFINISHED", 1000, 1),
    "MAX_UNFINISHED_PER_ADDRESS": environment.integer("CE_MAX_UNFINISHED_PER_ADDRESS", 100, 1),
    "MAX_UNFINISHED_PER_KEY": environment.integer("CE_MAX_UNFINISHED_PER_KEY", 100, 1),
    "MAX_HELD_BYTES": environment.integer("CE_MAX_HELD_BYTES", 256 * 1024 * 1024, 1024 * 1024),
    "MAX_WAITING_FOR_MODELS": environment.integer("CE_MAX_WAITING_FOR_MODELS", 128, 1),
    "MAX_WAITING_FOR_TOOLS": environment.integer("CE_MAX_WAITING_FOR_TOOLS", 64, 1),
    "MAX_WAITING_FOR_LEASES": environment.integer("CE_MAX_WAITING_FOR_LEASES", 32, 1),
    "ANCHOR_FILE": environment.text("CE_ANCHOR_FILE"),
    "ANCHOR_COMMAND": environment.text("CE_ANCHOR_COMMAND"),
    "BACKUP_FOLDER": environment.text("CE_BACKUP_FOLDER"),
    "SECURITY_CONTACTS": environment.contacts("CE_SECURITY_CONTACTS"),
    "METRICS_TOKEN": environment.text("CE_METRICS_TOKEN"),
    "REQUEST_LOG": environment.boolean("CE_ACCESS_LOG"),
    "ANSWER_CONTEXT": environment.one_of("CE_ANSWER_CONTEXT", "public", "all", "public", "none"),
    "THROTTLE_RATE": environment.rate("CE_THROTTLE_RATE"),
    "CHAT": environment.boolean("CE_CHAT"),
    "DEMO": environment.boolean("CE_DEMO"),
    "CHAT_ORIGINS": environment.words("CE_CHAT_ORIGINS"),
    "CHAT_RATE": environment.rate("CE_CHAT_RATE") or "60/min",
    "CHAT_TOKEN_RATE": environment.rate("CE_CHAT_TOKEN_RATE") or "30/min",
    "CHAT_TOKEN_DAY_RATE": environment.rate("CE_CHAT_TOKEN_DAY_RATE") or "3000/day",
    "TRUSTED_PROXIES": environment.integer("CE_TRUSTED_PROXIES", 0),
    "AUDIT_RATE_LIMIT": {
        "max_events": environment.integer("CE_AUDIT_RATE_LIMIT_MAX_EVENTS", 200),
        "window_ms": environment.integer("CE_AUDIT_RATE_LIMIT_WINDOW_MS", 1000, 1),
        "per_conversation": environment.boolean("CE_AUDIT_RATE_LIMIT_PER_CONVERSATION", True),
        "per_stage": environment.boolean("CE_AUDIT_RATE_LIMIT_PER_STAGE", True),
        "max_tracked_buckets": environment.integer("CE_AUDIT_RATE_LIMIT_MAX_TRACKED_BUCKETS", 20000, 1),
    }
    if environment.boolean("CE_AUDIT_RATE_LIMIT_ENABLED")
    else None,
}
# Apps, middleware and settings that only an installation with an identity provider or second factors has.
sign_in.add_to(globals())
