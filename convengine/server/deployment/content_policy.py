"""Content-Security-Policy of every page: what browsers load and run there.

The setting has the name and the form of Django 6, whose own middleware can replace this one.
"""

import base64
import hashlib
import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from urllib.parse import urlsplit

from django.conf import settings
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.template.loader import get_template
from django.urls import NoReverseMatch, reverse

from convengine.server.deployment import conf

Policy = Mapping[str, Sequence[str]]
HEADER = "Content-Security-Policy"
SELF, NONE = "'self'", "'none'"
#: Pages of our own: nothing inline, nothing from other hosts.
STRICT: Policy = {
    "default-src": [NONE],
    "script-src": [SELF],
    "style-src": [SELF],
    "img-src": [SELF, "data:"],
    "font-src": [SELF],
    "connect-src": [SELF],
    "form-action": [SELF],
    "base-uri": [NONE],
    "frame-ancestors": [NONE],
}
#: The admin and the manual: the theme evaluates the expressions of its attributes, and writes styles.
ADMIN: Policy = {
    **STRICT,
    "default-src": [SELF],
    "script-src": [SELF, "'unsafe-eval'"],
    "style-src": [SELF, "'unsafe-inline'"],
    # The map makes its picture from a drawing in the browser's memory.
    "img-src": [SELF, "data:", "blob:"],
    "object-src": [NONE],
}
#: Answers of the API are no pages.
API = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
#: Pages that need neither a static file nor a database.
_PLAIN_PAGE = "convengine/plain_error.html"


class ContentPolicyMiddleware:
    """Sets the policy of each answer that has none."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        response = self.get_response(request)
        if HEADER not in response.headers and (policy := _choose_policy(request, response)):
            response.headers[HEADER] = "; ".join(f"{name} {' '.join(sources)}" for name, sources in policy.items())
        return response


def _choose_policy(request: HttpRequest, response: HttpResponseBase) -> Policy:
    """Of a page of the theme, or of any other page; empty for no header, which the setting may wish."""
    if request.path_info.startswith(_list_admin_addresses()):
        framing = {"frame-ancestors": [SELF]} if response.headers.get("X-Frame-Options") == "SAMEORIGIN" else {}
        return {**ADMIN, "connect-src": [SELF, *_find_stream_source(request)], **framing}
    policy: Policy = getattr(settings, "SECURE_CSP", {**STRICT})
    styles = policy.get("style-src", policy.get("default-src"))
    if styles is None:
        return policy
    return {**policy, "style-src": [*(source for source in styles if source != NONE), *_hash_plain_styles()]}


@cache
def _list_admin_addresses() -> tuple[str, ...]:
    addresses = []
    for name in ("admin:index", "manual"):
        try:
            addresses.append(reverse(name))
        except NoReverseMatch:
            continue
    return tuple(addresses)


def _find_stream_source(request: HttpRequest) -> list[str]:
    """The origin of event streams, if another process serves them: pages follow its redirect."""
    address = str(conf.get("STREAMS_URL"))
    if not address:
        return []
    if address.startswith(":"):
        host = request.get_host()
        name = host.partition("]")[0] + "]" if host.startswith("[") else host.partition(":")[0]
        return [f"{request.scheme}://{name}{address}"]
    parts = urlsplit(address)
    return [f"{parts.scheme}://{parts.netloc}"] if parts.scheme and parts.netloc else []


@cache
def _hash_plain_styles() -> tuple[str, ...]:
    """The hashes of the styles in pages that have no stylesheet."""
    text = get_template(_PLAIN_PAGE).template.source  # type: ignore[attr-defined]
    styles = re.findall(r"<style>(.*?)</style>", text, re.DOTALL)
    return tuple(f"'sha256-{base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()}'" for style in styles)
