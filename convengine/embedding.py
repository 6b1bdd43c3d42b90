"""What a Django project needs of ConvEngine: `add_to(globals())` at the end of its settings (docs/install.md)."""

from collections.abc import Callable, MutableMapping, Sequence
from typing import Any

from django.apps import AppConfig
from django.http import HttpRequest
from django.templatetags.static import static

from convengine.server.deployment.folders import find_shipped

#: Unfold replaces templates of Django's admin, so it stands before it.
BEFORE_ADMIN = ["unfold", "unfold.contrib.filters", "unfold.contrib.forms", "unfold.contrib.simple_history"]
LIBRARIES = [
    "django.contrib.humanize", "rest_framework", "rest_framework_api_key", "drf_spectacular", "drf_spectacular_sidecar",
    "simple_history", "corsheaders",
]  # fmt: skip
APPS = [
    "convengine.server", "convengine.server.sessions", "convengine.server.api", "convengine.server.executors",
    "convengine.server.jobs", "convengine.server.webhooks", "convengine.server.queued", "convengine.server.channels",
    "convengine.server.phrase_models", "config_admin", "audit",
]  # fmt: skip
#: The record's indexes hold columns that PostgreSQL reads from them. SQLite does without.
SILENCED_CHECKS = ["models.W040"]
_ADMIN = "django.contrib.admin"
#: The IDs of calls, and one shape for failures; it leaves calls outside of the API alone.
_CALLS = "convengine.server.api.middleware.ApiMiddleware"
#: Answers probes before anything looks at the host.
_PROBES = "convengine.server.probes.middleware.ProbeMiddleware"
#: Lets pages of other origins call the chat.
_CORS = "corsheaders.middleware.CorsMiddleware"
#: Pages get only texts that a database stores; before sessions, which look for a text from a cookie.
_CLEAN = "convengine.server.api.clean_input.CleanInputMiddleware"
_HISTORY = "simple_history.middleware.HistoryRequestMiddleware"
#: Pages of the configuration work in the draft that the user opened.
_DRAFTS = "config_admin.drafts.middleware.DraftMiddleware"
#: The headers that pages of other origins may send, and read.
CORS_ALLOW_HEADERS = (
    *("accept", "authorization", "content-type", "idempotency-key", "if-match", "if-none-match", "last-event-id"),
    *("x-convengine-compat", "x-request-id"),
)
CORS_EXPOSE_HEADERS = (
    *("ETag", "Location", "RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset", "Retry-After"),
    *("X-Conversation-Token", "X-Idempotent-Replay", "X-Request-ID"),
)

SPECTACULAR_SETTINGS: dict[str, Any] = {
    "TITLE": "ConvEngine",
    "DESCRIPTION": "Turn API and audit of a data-driven conversation engine.",
    "VERSION": "1",
    "OAS_VERSION": "3.1.1",
    "COMPONENT_SPLIT_REQUEST": True,
    "COMPONENT_SPLIT_PATCH": False,
    "SERVE_INCLUDE_SCHEMA": False,
    "POSTPROCESSING_HOOKS": [
        "drf_spectacular.hooks.postprocess_schema_enums",
        "convengine.server.api.schema.complete_document",
    ],
    "ENUM_NAME_OVERRIDES": {
        "ErrorCode": "convengine.server.api.serializers.ERROR_CODES",
        "TextPayloadType": ["TEXT"],
        "JsonPayloadType": ["JSON"],
        "ErrorPayloadType": ["ERROR"],
        "VerboseLevel": "convengine.server.api.serializers.VERBOSE_LEVELS",
        "Lifecycle": "convengine.engine.turn.enums.Lifecycle.choices",
        "SessionStatus": "convengine.server.api.session_serializers.SESSION_STATUSES",
        "MessageStatus": "convengine.server.api.wire.MESSAGE_STATUSES",
        "SessionDecision": "convengine.server.api.session_serializers.DECISIONS",
        "StageFamily": "audit.api.stages_view.FAMILIES",
        "SentenceTone": "audit.timeline.serializers.TONES",
        "MessageRole": "audit.timeline.serializers.MESSAGE_ROLES",
        "ValueRole": "audit.timeline.serializers.VALUE_ROLES",
        "Speaker": "convengine.server.api.transcript_view.SPEAKERS",
        "FeedbackType": "audit.feedback.view.FEEDBACK_TYPES",
        "ReplayMode": "audit.replay.view.MODES",
        "ReplayStatus": "audit.replay.view.STATUSES",
        "ReplayMissPolicy": "audit.replay.view.MISS_POLICIES",
        "WhatIfKind": "audit.what_if.api.GROUPS",
        "WhatIfBase": "audit.what_if.api.BASES",
        "WhatIfStatus": "audit.what_if.api.STATUSES",
        "AlertStatus": "audit.alerts.api.STATUSES",
        "AlertEnd": "audit.alerts.api.ENDS",
        "InboxKind": "audit.inbox.api.KINDS",
        "InboxStatus": "audit.inbox.api.STATUSES",
        "InboxAction": "audit.inbox.api.DECISIONS",
        "ImportMode": "config_admin.api.serializers.IMPORT_MODES",
    },
    "SWAGGER_UI_DIST": "SIDECAR",
    "SWAGGER_UI_FAVICON_HREF": "SIDECAR",
}


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
    "LOGIN": {"form": "convengine.server.admin_site.sign_in.SignInForm"},
    "SIDEBAR": {"navigation": "convengine.server.admin_site.layout.sidebar"},
    "DASHBOARD_CALLBACK": "config_admin.workplace.home.dashboard",
}


def add_to(settings: MutableMapping[str, Any]) -> None:
    """Add the apps, templates, static files and middleware to a project's settings, and silence a system check.

    The look of the admin (`UNFOLD`) and the headers of pages of other origins (`CORS_…_HEADERS`) are added where it has
    none of its own. Its users, REST settings, URLs, databases and log are not touched.
    """
    installed = settings["INSTALLED_APPS"] = list(settings.get("INSTALLED_APPS", ()))
    admin = _find_admin(installed)
    index = installed.index(admin) if admin else 0
    installed[index:index] = [app for app in BEFORE_ADMIN if app not in installed]
    installed += [app for app in [*([] if admin else [_ADMIN]), *LIBRARIES, *APPS] if app not in installed]
    ours = (_PROBES, _CALLS, _CLEAN, _DRAFTS)
    own = [layer for layer in settings.get("MIDDLEWARE", ()) if layer not in ours]
    cors, history = ([] if layer in own else [layer] for layer in (_CORS, _HISTORY))
    settings.setdefault("CORS_ALLOW_HEADERS", CORS_ALLOW_HEADERS)
    settings.setdefault("CORS_EXPOSE_HEADERS", CORS_EXPOSE_HEADERS)
    settings["MIDDLEWARE"] = [_PROBES, _CALLS, _CLEAN, *cors, *own, *history, _DRAFTS]
    for engine in settings.get("TEMPLATES", ()):
        if engine["BACKEND"] == "django.template.backends.django.DjangoTemplates":
            engine["DIRS"] = [*engine.get("DIRS", ()), find_shipped("templates")]
    settings["STATICFILES_DIRS"] = [*settings.get("STATICFILES_DIRS", ()), find_shipped("static")]
    settings["SILENCED_SYSTEM_CHECKS"] = [*settings.get("SILENCED_SYSTEM_CHECKS", ()), *SILENCED_CHECKS]
    # Our own navigation, and a link to the pages of the project's other apps.
    sidebar = {**UNFOLD["SIDEBAR"], "show_all_applications": True}
    settings["UNFOLD"] = {**UNFOLD, "SIDEBAR": sidebar, **settings.get("UNFOLD", {})}


def _find_admin(installed: Sequence[str]) -> str | None:
    """The app that is Django's admin; also a configuration of the project's own in its place. Returns None if none is.

    Configurations are imported only if no app has a name of Django's.
    """
    plain = (app for app in installed if app == _ADMIN or app.startswith(f"{_ADMIN}.apps."))
    classes = (app for app in installed if app.rpartition(".")[2][:1].isupper())
    return next(plain, None) or next((app for app in classes if AppConfig.create(app).name == _ADMIN), None)
