"""A request for operators: its metric, and its line in the log if the deployment wants one."""

import structlog
from django.http import HttpRequest
from django.http.response import HttpResponseBase

from convengine.server.deployment import conf
from convengine.server.observability import metrics
from convengine.server.observability.later import record_later

log = structlog.get_logger(__name__)
_API = "/api/v1/"
#: The addresses that take a turn.
_TURNS = ("/api/v1/conversation/message", "/api/v1/sessions/message")


def record_request(request: HttpRequest, response: HttpResponseBase, seconds: float) -> None:
    """Record how a request ended. The line has no query, because a search is a text of a user."""
    path, status = request.path_info, response.status_code
    area = "turns" if path in _TURNS else "api" if path.startswith(_API) else "pages"
    record_later(metrics.REQUEST_SECONDS.observe, seconds, area, f"{status // 100}xx")
    if conf.get("REQUEST_LOG"):
        log.info(
            "request",
            method=request.method,
            path=path,
            status=status,
            ms=round(seconds * 1000, 1),
            address=request.META.get("REMOTE_ADDR"),
        )
