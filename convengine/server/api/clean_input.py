"""What enters has only texts that a database stores: no NUL, and no half of a surrogate pair.

The API refuses them by the name of their field. On pages, and in texts of conversations, U+FFFD takes their place.
"""

from collections.abc import Callable, Iterable, Mapping
from math import isfinite
from typing import Any

from django.http import Http404, HttpRequest, QueryDict
from django.http.response import HttpResponseBase

from convengine.engine.errors import RequestInvalid
from convengine.engine.text.compare import storable
from convengine.server.deployment.folders import is_own_module

_API = "/api/v1/"
#: NUL in an address, and what takes its place. Bytes that are no UTF-8 are U+FFFD when a query is read.
_NUL, _REPLACEMENT = "%00", "%EF%BF%BD"
_REASON = "The text has NUL or half of a surrogate pair, which cannot be stored. Remove it."


class CleanInputMiddleware:
    """Cleans what pages read. Calls of the API have no part in it: their views and parsers do the same."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        drop_unstorable_cookies(request)
        return self.get_response(request)

    def process_view(self, request: HttpRequest, view: Any, args: Iterable[Any], options: Mapping[str, Any]) -> None:
        """Raises Http404 for an address with NUL."""
        match = request.resolver_match
        # A project has pages of its own beside the admin and ours.
        is_ours = match is not None and (match.app_name == "admin" or is_own_module(match.func.__module__))
        if request.path_info.startswith(_API) or not is_ours:
            return
        if "\0" in request.path_info:
            raise Http404
        clean_query(request)
        # A view without a token against forgery has no form, and reads the body itself.
        has_form = request.method == "POST" and not getattr(view, "csrf_exempt", False)
        if has_form and any(map(_has_nul, request.POST.lists())):
            cleaned = QueryDict(mutable=True, encoding=request.POST.encoding)
            for name, values in request.POST.lists():
                cleaned.setlist(storable(name), [storable(value) for value in values])
            cleaned._mutable = False
            request.POST = cleaned  # type: ignore[assignment]


def drop_unstorable_cookies(request: HttpRequest) -> None:
    """Let cookies with NUL be as if they were not sent. In quotes a cookie writes NUL as `\\000`."""
    if any("\0" in value for value in request.COOKIES.values()):
        request.COOKIES = {name: value for name, value in request.COOKIES.items() if "\0" not in value}


def clean_query(request: HttpRequest) -> None:
    """Let U+FFFD take the place of NUL in the query."""
    if _NUL in request.META.get("QUERY_STRING", ""):
        request.META["QUERY_STRING"] = request.META["QUERY_STRING"].replace(_NUL, _REPLACEMENT)
        request.GET = QueryDict(request.META["QUERY_STRING"], encoding=request.encoding)


def refuse_unstorable_parameters(request: HttpRequest, in_path: Mapping[str, Any]) -> None:
    """Raises RequestInvalid with the names of parameters whose texts cannot be stored."""
    if "\0" not in request.path_info and _NUL not in request.META.get("QUERY_STRING", ""):
        return
    given = [*((name, [value]) for name, value in in_path.items() if isinstance(value, str)), *request.GET.lists()]
    raise RequestInvalid(fields={storable(item[0]): [_REASON] for item in given if _has_nul(item)})


def refuse_unstorable_texts(value: Any) -> None:
    """Raises RequestInvalid with the path of the first text of a JSON value that cannot be stored."""
    _refuse(value, lambda item: isinstance(item, str) and storable(item) != item, _REASON)


def refuse_lossy_numbers(value: Any) -> None:
    """Raises RequestInvalid with the path of the first number of a JSON value that would be stored as another one."""
    _refuse(value, _is_lossy, "This number is too large to be stored exactly. Send it as a text.")


def _is_lossy(value: Any) -> bool:
    return (isinstance(value, int) and not -(2**63) <= value < 2**64) or (
        isinstance(value, float) and not isfinite(value)
    )


def _refuse(value: Any, is_wrong: Callable[[Any], bool], reason: str) -> None:
    path = _find_value(value, is_wrong)
    if path is not None:
        raise RequestInvalid(fields={".".join(map(storable, path)) or "body": [reason]})


def _has_nul(item: tuple[str, Iterable[Any]]) -> bool:
    name, values = item
    return "\0" in name or any("\0" in value for value in values)


def _find_value(value: Any, is_wanted: Callable[[Any], bool]) -> tuple[str, ...] | None:
    """The keys and indexes that lead to the first wanted value or key, or null."""
    if is_wanted(value):
        return ()
    items: Iterable[tuple[Any, Any]] = ()
    if isinstance(value, dict):
        items = value.items()
    elif isinstance(value, list):
        items = enumerate(value)
    for key, item in items:
        if is_wanted(key):
            return (str(key),)
        if (rest := _find_value(item, is_wanted)) is not None:
            return str(key), *rest
    return None
