"""Requests for a host that is not served here: one line in the log, and status 400.

Django would log a traceback for each, and probes of the internet send thousands a day.
"""

from collections.abc import Callable

import structlog
from django.core.exceptions import DisallowedHost
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase

from convengine.engine.text.compare import shorten_line

log = structlog.get_logger(__name__)
#: Maximum characters of a header in the log.
_LONGEST = 100


class HostMiddleware:
    """Refuses them before anything else reads the host."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        try:
            request.get_host()
        except DisallowedHost:
            host = shorten_line(request.META.get("HTTP_HOST", ""), _LONGEST)
            log.warning("host not served here", host=host, path=request.path_info)
            text = "This server does not serve this host. Its operator lists host names in CE_ALLOWED_HOSTS.\n"
            response = HttpResponse(text, status=400, content_type="text/plain; charset=utf-8")
            # Django would log a second line for the status.
            response._has_been_logged = True  # type: ignore[attr-defined]
            return response
        return self.get_response(request)
