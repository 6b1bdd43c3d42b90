"""Turns, API and admin (WSGI)."""

import gc
import os
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from django.core.wsgi import get_wsgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "convengine.settings")
# What is imported is no garbage, and collecting takes a third of a start.
gc.disable()
_pages = get_wsgi_application()
gc.enable()

from django.conf import settings  # noqa: E402 - only now is Django ready for these
from django.core.handlers.wsgi import WSGIHandler  # noqa: E402

from convengine.server.startup.process import prepare_process  # noqa: E402

_API = "/api/v1/"


def _handler(middleware: Sequence[str]) -> WSGIHandler:
    """A handler with its own middleware: a handler reads the setting once, when it is made."""
    usual = settings.MIDDLEWARE
    settings.MIDDLEWARE = list(middleware)
    try:
        return WSGIHandler()
    finally:
        settings.MIDDLEWARE = usual


_calls = _handler(getattr(settings, "API_MIDDLEWARE", settings.MIDDLEWARE))


def application(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
    """API calls skip the middleware of pages: sessions, cookies, messages."""
    handler = _calls if environ.get("PATH_INFO", "").startswith(_API) else _pages
    return handler(environ, start_response)


prepare_process()
