"""Parse and render JSON only."""

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any

import orjson
from django.http import Http404
from rest_framework.exceptions import NotAcceptable
from rest_framework.negotiation import DefaultContentNegotiation
from rest_framework.parsers import BaseParser
from rest_framework.renderers import BaseRenderer
from rest_framework.request import Request
from rest_framework.utils.mediatypes import media_type_matches

from convengine.engine.errors import RequestInvalid, RequestTooLarge
from convengine.engine.turn.codec import MAX_DEPTH, clean_texts, dumps, is_too_deep
from convengine.server.api.clean_input import refuse_lossy_numbers, refuse_unstorable_texts
from convengine.server.deployment import conf

_NUL = b"\\u0000"
#: A number with this many digits may be beyond 64 bits, and the fast parser would round it.
_MANY_DIGITS = re.compile(rb"\d{19}")


class OrjsonParser(BaseParser):
    """A JSON body within the size limit."""

    media_type = "application/json"

    @property
    def limit(self) -> int:
        """Maximum size of a body in bytes."""
        limit: int = conf.get("MAX_REQUEST_BYTES")
        return limit

    def parse(self, stream: Any, media_type: str | None = None, parser_context: Any = None) -> Any:
        """Raises RequestInvalid for invalid JSON, RequestTooLarge beyond MAX_REQUEST_BYTES."""
        limit = self.limit
        body = stream.read(limit + 1)
        if len(body) > limit:
            raise RequestTooLarge.of("body", _read_content_length(parser_context, limit), limit, "JSON")
        self.check_body(body)
        try:
            value, is_strict = orjson.loads(body) if body else {}, True
        except orjson.JSONDecodeError as error:
            value, is_strict = _parse_leniently(body, error), False
        if is_too_deep(value):
            raise RequestInvalid(fields={"body": [f"Nest objects and lists at most {MAX_DEPTH} deep."]})
        if not is_strict:
            refuse_lossy_numbers(value)
        elif _MANY_DIGITS.search(body):
            # The strict parser may have rounded one.
            refuse_lossy_numbers(json.loads(body))
        # Looking for the one way to write NUL is cheaper than looking at every text.
        if is_strict and _NUL not in body:
            return value
        if getattr((parser_context or {}).get("view"), "cleans_texts", False):
            return clean_texts(value)
        refuse_unstorable_texts(value)
        return value

    def check_body(self, body: bytes) -> None:
        """For limits of the unread text."""


def _read_content_length(parser_context: Any, limit: int) -> int | None:
    """The announced size of the body, if plausible; the rest is not read to count it."""
    request = (parser_context or {}).get("request")
    text = request.META.get("CONTENT_LENGTH", "") if request is not None else ""
    return int(text) if text.isdecimal() and int(text) > limit else None


def _parse_leniently(body: bytes, error: orjson.JSONDecodeError) -> Any:
    """JSON that may have lone surrogates, which the strict parser refuses as a fault of the JSON."""
    try:
        return json.loads(body, parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
        text = f"The body is not valid JSON: {error}."
        raise RequestInvalid(text, fields={"body": [f"{text} Send one JSON object."]}) from error


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


class OnlyRenderer(DefaultContentNegotiation):
    """Skips content negotiation if there is one renderer and the caller accepts it."""

    def select_renderer(
        self, request: Request, renderers: Iterable[BaseRenderer], format_suffix: str | None = None
    ) -> tuple[BaseRenderer, str]:
        """Raises NotAcceptable, and RequestInvalid for an unknown `?format=`."""
        renderers, meta = list(renderers), request.META
        anything = not meta.get("QUERY_STRING") and meta.get("HTTP_ACCEPT", "*/*") in ("*/*", renderers[0].media_type)
        if anything and len(renderers) == 1:
            return renderers[0], renderers[0].media_type
        try:
            return super().select_renderer(request, renderers, format_suffix)  # type: ignore[no-any-return]
        except Http404:
            known = ", ".join(str(renderer.format) for renderer in renderers)
            requested = str(request.query_params.get("format", ""))[:60]
            raise RequestInvalid(fields={"format": [f"There is no format {requested!r}. Known: {known}."]}) from None
        except NotAcceptable:
            # The call may declare an answer of this kind in its schema, such as a file: that needs no renderer.
            call = getattr(request.parser_context["view"], str(request.method).lower(), None)
            kinds, accepted = getattr(call, "media_types", ()), self.get_accept_list(request)
            if any(media_type_matches(kind, wanted) for kind in kinds for wanted in accepted):
                return renderers[0], renderers[0].media_type
            raise


class OrjsonRenderer(BaseRenderer):
    """A JSON answer."""

    media_type = "application/json"
    format = "json"
    charset = None
    render_style = "binary"

    def render(
        self, data: Any, accepted_media_type: str | None = None, renderer_context: Mapping[str, Any] | None = None
    ) -> bytes:
        """The body; empty for no data."""
        return b"" if data is None else dumps(data).encode()
