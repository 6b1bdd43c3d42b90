"""Probes are answered ahead of everything else: they name no host but an IP, have no session, and use no HTTPS."""

from collections.abc import Callable
from typing import Any

from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.urls import Resolver404, resolve

from convengine.server.probes import ADDRESSES, views

_VIEWS = (views.show_alive, views.show_ready, views.show_metrics)


class ProbeMiddleware:
    """The first layer. It answers only the addresses that lead to our own views."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        if request.path_info.endswith(ADDRESSES) and (view := _find_view(request)):
            response: HttpResponseBase = view(request)
            # Django would log each 503; the log says when it began.
            response._has_been_logged = True  # type: ignore[attr-defined]
            return response
        return self.get_response(request)


def _find_view(request: HttpRequest) -> Any:
    try:
        view = resolve(request.path_info, getattr(request, "urlconf", None)).func
    except Resolver404:
        return None
    return view if view in _VIEWS else None
