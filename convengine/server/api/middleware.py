"""Every answer of the API has the call's ID, the rate limit, and one shape for failures."""

import time
from collections.abc import Callable
from http import HTTPStatus

import structlog
from django.http import HttpRequest
from django.http.response import HttpResponse, HttpResponseBase

from convengine.engine.turn.codec import dumps
from convengine.server.deployment import conf, content_policy
from convengine.server.deployment.folders import is_own_module
from convengine.server.deployment.request_id import HEADER, bind_request_id, make_request_id
from convengine.server.observability import metrics
from convengine.server.observability.metric import record_later
from convengine.server.observability.tracing import tracing
from convengine.server.turns.failure import envelope

log = structlog.get_logger(__name__)
API = "/api/v1/"
#: The addresses that take a turn.
_TURNS = (f"{API}conversation/message", f"{API}sessions/message")
#: Codes of failures that Django answers itself.
_CODES = {403: "FORBIDDEN", 404: "NOT_FOUND", 405: "METHOD_NOT_ALLOWED", 413: "REQUEST_TOO_LARGE"}


class ApiMiddleware:
    """The outermost layer around calls of the API; of pages it only records how they ended."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        began = time.perf_counter()
        if not request.path_info.startswith(API):
            response = self.get_response(request)
            _record_request(request, response, time.perf_counter() - began)
            return response
        request_id = make_request_id(request.META.get("HTTP_X_REQUEST_ID"))
        with bind_request_id(request_id), tracing.continue_trace(request.headers):
            response = self.get_response(request)
            match = request.resolver_match
            if match is not None and not is_own_module(match.func.__module__):
                # A project may have addresses of its own under `/api/v1/`.
                return response
            if response.status_code >= 400 and "json" not in response.headers.get("Content-Type", "json"):
                response = _build_failure(response)
            _record_request(request, response, time.perf_counter() - began)
        response.headers[HEADER] = request_id
        # Answers are for their callers alone: nothing stores them, and browsers show them as nothing but data.
        private = "private, no-cache" if "ETag" in response.headers else "no-store"
        response.headers.setdefault("Cache-Control", private)
        response.headers.setdefault(content_policy.HEADER, content_policy.API)
        for name, value in getattr(request, "rate_limit", {}).items():
            response.headers[name] = value
        return response


def _record_request(request: HttpRequest, response: HttpResponseBase, seconds: float) -> None:
    """Record how a request ended. The line has no query, because a search is a text of a user."""
    path, status = request.path_info, response.status_code
    area = "turns" if path in _TURNS else "api" if path.startswith(API) else "pages"
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


def _build_failure(answered: HttpResponseBase) -> HttpResponse:
    """The failure in the API's shape, for one that Django would show as a page."""
    status = answered.status_code
    code = _CODES.get(status, "INTERNAL_ERROR" if status >= 500 else "VALIDATION_ERROR")
    body = dumps(envelope(code, f"{HTTPStatus(status).phrase}. This server does not accept the request."))
    if status >= 500:
        body = dumps(envelope(code, "An unexpected error occurred. The server log has the details."))
    failure = HttpResponse(body, status=status, content_type="application/json")
    for name, value in answered.headers.items():
        # Such as those of CORS, without which a browser hides the failure from its page.
        if not name.lower().startswith("content-"):
            failure.headers[name] = value
    return failure
