"""`/livez`, `/readyz` and `/metrics`."""

import hmac
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse, HttpResponseNotAllowed, JsonResponse

from convengine import __version__
from convengine.server.deployment import conf
from convengine.server.observability import metrics
from convengine.server.observability.folder import CONTENT_TYPE, Readings, write_metrics
from convengine.server.probes import ALL_THREADS_STAND
from convengine.server.probes.database_state import DatabaseState
from convengine.server.probes.readiness import readiness


def show_alive(request: HttpRequest) -> HttpResponse:
    """The process answers. It asks nothing else: a new process would not repair a database."""
    return _answer(request, {"status": "alive"})


def show_ready(request: HttpRequest) -> HttpResponse:
    """200 when turns work, otherwise 503; each part by its name. `?strict=true`: 503 for every part."""
    parts = readiness.check(all_threads_stand=request.META.get(ALL_THREADS_STAND, False))
    is_ready = all(part.is_ok for part in parts if part.is_required or request.GET.get("strict") == "true")
    status = "ready" if all(part.is_ok for part in parts) else "degraded"
    body = {"status": status if is_ready else "not ready", "parts": {part.name: part.text for part in parts}}
    return _answer(request, body, 200 if is_ready else 503)


def show_metrics(request: HttpRequest) -> HttpResponse:
    """The metrics, for callers with the token."""
    token = conf.get("METRICS_TOKEN")
    if not token:
        raise Http404("There are no metrics without CE_METRICS_TOKEN.")
    if request.method not in ("GET", "HEAD"):
        return HttpResponseNotAllowed(["GET", "HEAD"])
    sent = request.headers.get("Authorization", "")
    if not hmac.compare_digest(sent.encode(), f"Bearer {token}".encode()):
        text = "Send Authorization: Bearer with the value of CE_METRICS_TOKEN.\n"
        headers = {"WWW-Authenticate": "Bearer", "Cache-Control": "no-store"}
        return HttpResponse(text, status=401, content_type="text/plain; charset=utf-8", headers=headers)
    body = write_metrics(list_readings(readiness.read_state()))
    return HttpResponse(body, content_type=CONTENT_TYPE, headers={"Cache-Control": "no-store"})


def list_readings(state: DatabaseState) -> Readings:
    """The metrics that are read at the scrape."""
    return {
        metrics.BUILD_INFO: {(__version__,): 1.0},
        metrics.DATABASE_UP: {(): float(state.answers and state.is_writable is True)},
        metrics.RELEASE_NEWEST: {} if state.release is None else {(): float(state.release)},
        metrics.JOB_OVERDUE_SECONDS: {(name,): seconds for name, seconds in (state.overdue or {}).items()},
        metrics.JOB_FAILURES: {(name,): float(count) for name, count in (state.failures or {}).items()},
        metrics.ALERTS_FIRING: {} if state.alerts is None else {(): float(state.alerts)},
        metrics.WEBHOOK_OLDEST_SECONDS: {} if state.oldest_delivery is None else {(): state.oldest_delivery},
    }


def _answer(request: HttpRequest, body: dict[str, Any], status: int = 200) -> HttpResponse:
    if request.method not in ("GET", "HEAD"):
        return HttpResponseNotAllowed(["GET", "HEAD"])
    return JsonResponse(body, status=status, headers={"Cache-Control": "no-store"})
