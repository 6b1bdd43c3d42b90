"""Django settings. Deployment values come from the environment (settings 3)."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from django.core.exceptions import ImproperlyConfigured
from django.http import HttpRequest
from django.templatetags.static import static

from convengine.server.deployment import environment

BASE_DIR = Path(__file__).resolve().parent.parent
VAR_DIR = Path(environment.text("CE_VAR_DIR") or BASE_DIR / "var")
# The folder of the SQLite database and of collected static files.
(VAR_DIR / "static").mkdir(parents=True, exist_ok=True)

DEBUG = environment.boolean("CE_DEBUG")
# The demo has a key of its own, so that its sessions survive a restart (R49).
_DEMO_KEY = VAR_DIR / "secret_key"
SECRET_KEY = environment.text("CE_SECRET_KEY")
if not SECRET_KEY and _DEMO_KEY.is_file():
    SECRET_KEY = _DEMO_KEY.read_text().strip()
if not SECRET_KEY and DEBUG:
    SECRET_KEY = "only-for-development"  # noqa: S105
if not SECRET_KEY:
    raise ImproperlyConfigured("CE_SECRET_KEY must be set to a long random text (or CE_DEBUG=true for development).")
ALLOWED_HOSTS = environment.words("CE_ALLOWED_HOSTS", "localhost,127.0.0.1,[::1]")
CSRF_TRUSTED_ORIGINS = environment.words("CE_CSRF_TRUSTED_ORIGINS")

INSTALLED_APPS = [
    "unfold",
    "unfold.contrib.filters",
    "unfold.contrib.forms",
    "unfold.contrib.simple_history",
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.humanize",
    "django.contrib.staticfiles",
    "rest_framework",
    "rest_framework_api_key",
    "drf_spectacular",
    "drf_spectacular_sidecar",
    "simple_history",
    "convengine.server",
    "convengine.server.sessions",
    "convengine.server.api",
    "convengine.server.executors",
    "convengine.server.jobs",
    "config_admin",
    "audit",
]

MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "simple_history.middleware.HistoryRequestMiddleware",
]

#: The middleware of API calls on WSGI: nobody is logged in there, and nothing is shown in a frame.
API_MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "django.middleware.common.CommonMiddleware",
]

ROOT_URLCONF = "convengine.urls"
WSGI_APPLICATION = "convengine.wsgi.application"
ASGI_APPLICATION = "convengine.asgi.application"

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
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
    "default": environment.database(environment.text("DATABASE_URL"), str(VAR_DIR / "convengine.sqlite3")),
}
# A turn owns its transactions: a transaction per request would roll back the audit of a failed turn (R23).
ATOMIC_REQUESTS = False
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
TIME_ZONE = environment.text("CE_TIME_ZONE", "UTC")
USE_I18N = True
FORMAT_MODULE_PATH = ["convengine.server.formats"]
USE_TZ = True

STATIC_URL = "static/"
STATIC_ROOT = VAR_DIR / "static"
STATICFILES_DIRS = [BASE_DIR / "static"]
# Static files come from the packages, without collecting them before a start.
WHITENOISE_USE_FINDERS = True
WHITENOISE_AUTOREFRESH = False

SIMPLE_HISTORY_REVERT_DISABLED = True

REST_FRAMEWORK: dict[str, Any] = {
    "DEFAULT_AUTHENTICATION_CLASSES": ["convengine.server.api.authentication.ApiKeyAuthentication"],
    "DEFAULT_PERMISSION_CLASSES": ["convengine.server.api.authentication.HasScope"],
    "DEFAULT_PARSER_CLASSES": ["convengine.server.api.parsers.OrjsonParser"],
    "DEFAULT_RENDERER_CLASSES": ["convengine.server.api.parsers.OrjsonRenderer"],
    "DEFAULT_CONTENT_NEGOTIATION_CLASS": "convengine.server.api.parsers.OnlyRenderer",
    "DEFAULT_SCHEMA_CLASS": "drf_spectacular.openapi.AutoSchema",
    "EXCEPTION_HANDLER": "convengine.server.api.errors.handle",
    "UNAUTHENTICATED_USER": None,
}
SPECTACULAR_SETTINGS = {
    "TITLE": "ConvEngine",
    "DESCRIPTION": "Turn API and audit of a data-driven conversation engine.",
    "VERSION": "1",
    "OAS_VERSION": "3.1.1",
    "COMPONENT_SPLIT_REQUEST": True,
    "COMPONENT_SPLIT_PATCH": False,
    "SERVE_INCLUDE_SCHEMA": False,
    "POSTPROCESSING_HOOKS": [
        "drf_spectacular.hooks.postprocess_schema_enums",
        "convengine.server.api.schema.close_turn_request",
    ],
    "SWAGGER_UI_DIST": "SIDECAR",
    "SWAGGER_UI_FAVICON_HREF": "SIDECAR",
}

LOGIN_URL = "admin:login"
LOGIN_REDIRECT_URL = "admin:index"


def _static_address(name: str) -> Callable[[HttpRequest], str]:
    """The address of a static file, found only when a page needs it."""
    return lambda request: static(f"convengine/{name}")


UNFOLD: dict[str, Any] = {
    "SITE_TITLE": "ConvEngine",
    "SITE_HEADER": "ConvEngine",
    "SITE_SYMBOL": "forum",
    "SITE_URL": None,
    "SHOW_VIEW_ON_SITE": False,
    "SITE_FAVICONS": [{"rel": "icon", "type": "image/svg+xml", "href": _static_address("icon.svg")}],
    "STYLES": [_static_address(name) for name in ("admin.css", "work.css", "manual.css")],
    "SCRIPTS": [_static_address(name) for name in ("admin.js", "finder.js", "manual.js", "sending.js")],
    "SIDEBAR": {"navigation": "convengine.server.admin_site.layout.sidebar"},
    "DASHBOARD_CALLBACK": "config_admin.workplace.home.dashboard",
}

# The mail server for tools.
EMAIL_HOST = environment.text("CE_EMAIL_HOST", "localhost")
EMAIL_PORT = environment.integer("CE_EMAIL_PORT", 25, 1)
EMAIL_HOST_USER = environment.text("CE_EMAIL_USER")
EMAIL_HOST_PASSWORD = environment.text("CE_EMAIL_PASSWORD")
EMAIL_USE_TLS = environment.boolean("CE_EMAIL_TLS")
EMAIL_TIMEOUT = 10

CONVENGINE: dict[str, Any] = {
    "EXTENSIONS": environment.words("CE_EXTENSIONS"),
    "MODELS": environment.models(),
    "TOOL_DATABASES": environment.document("CE_TOOL_DATABASE_URLS"),
    "HTTP_CONNECTIONS": environment.http_connections(),
    "FILES_ROOT": environment.text("CE_FILES_ROOT"),
    "NOTIFICATION_RECIPIENTS": environment.words("CE_NOTIFICATION_RECIPIENTS"),
    "NOTIFICATION_FROM": environment.text("CE_NOTIFICATION_FROM"),
    "NOTIFICATION_WEBHOOKS": environment.words("CE_NOTIFICATION_WEBHOOKS"),
    "UNSAFE_SQL_TOOLS": environment.boolean("CE_ALLOW_UNSAFE_SQL_TOOLS"),
    "BROKER_URL": environment.broker(environment.text("CE_BROKER_URL")),
    "JOBS_IN_PROCESS": environment.boolean("CE_JOBS_IN_PROCESS"),
    "BUS_URL": environment.bus(environment.text("CE_BUS_URL"), environment.text("CE_BROKER_URL")),
    "STREAMS_URL": environment.text("CE_STREAMS_URL"),
    "MAX_STREAMS": environment.integer("CE_MAX_STREAMS", 200, 1),
    "MAX_STREAMS_PER_PERSON": environment.integer("CE_MAX_STREAMS_PER_PERSON", 5, 1),
    "STREAM_SECONDS": environment.integer("CE_STREAM_SECONDS", 1800, 1),
    "STREAM_POLL_MS": environment.integer("CE_STREAM_POLL_MS", 500, 50),
    "JOB_TICK_SECONDS": environment.integer("CE_JOB_TICK_SECONDS", 10, 1),
    "JOB_LEASE_SECONDS": environment.integer("CE_JOB_LEASE_SECONDS", 120, 1),
    "SETTING_DEFAULTS": environment.live_setting_defaults(),
    "MCP_STDIO_COMMANDS": environment.words("CE_MCP_STDIO_COMMANDS"),
    "MCP_HTTP_HOSTS": environment.words("CE_MCP_HTTP_HOSTS"),
    "MCP_SECRETS": environment.read_prefixed_variables("CE_MCP_SECRET_"),
    "MAX_MESSAGE_BYTES": environment.integer("CE_MAX_MESSAGE_BYTES", 16 * 1024, 1),
    "MAX_INPUT_PARAMS_BYTES": environment.integer("CE_MAX_INPUT_PARAMS_BYTES", 64 * 1024, 1),
    "MAX_REQUEST_BYTES": environment.integer("CE_MAX_REQUEST_BYTES", 1024 * 1024, 1),
    "MAX_IMPORT_BYTES": environment.integer("CE_MAX_IMPORT_BYTES", 32 * 1024 * 1024, 1),
    "TURN_TIMEOUT_SECONDS": environment.integer("CE_TURN_TIMEOUT_SECONDS", 110, 1),
    "THROTTLE_RATE": environment.text("CE_THROTTLE_RATE"),
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
