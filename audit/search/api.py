"""The search for programs, within the caller's workspace."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

from django.http.response import HttpResponseBase
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from audit.api.parameters import read_page_size, refuse_cursor, require_valid
from audit.api.serializers import LinesRenderer
from audit.export.view import answer_file, build_api_order
from audit.record.model_calls import sum_call_costs
from audit.search.export import CONTENT_TYPES, CSV, EVIDENCE, FoundTurnSerializer, collect_evidence, stream_file
from audit.search.form import FindForm
from audit.search.query import SearchQuery
from audit.search.results import read_turns
from audit.search.walk import Cursor, count_with_page, find_turns
from convengine.engine.errors import RequestInvalid
from convengine.server.api.authentication import get_api_key
from convengine.server.api.base_view import ApiView
from convengine.server.api.parsers import OrjsonRenderer
from convengine.server.api.schema import extend_schema
from convengine.server.api.serializers import IsoDateTimeField

PAGE, MOST = 50, 200
_PAGING = {"cursor", "limit", "format"}
_KINDS: Mapping[str, Any] = {
    "since": OpenApiTypes.DATETIME,
    "until": OpenApiTypes.DATETIME,
    "id": OpenApiTypes.UUID,
    "release": {"type": "integer", "minimum": 0},
    "ms": {"type": "integer", "minimum": 0, "maximum": 2**31 - 1},
    "cost": {"type": "number", "minimum": 0},
}


class ResultCountSerializer(serializers.Serializer[Any]):
    """The number of all results."""

    count = serializers.IntegerField(help_text="Exact up to 10,000.")
    exact = serializers.BooleanField(help_text="False if there are more.")


class TableRenderer(OrjsonRenderer):
    """The type of a table; an error of such a call is JSON."""

    media_type = "text/csv"
    format = CSV


class EvidenceRenderer(OrjsonRenderer):
    """The type of an evidence file; an error of such a call is JSON."""

    #: No type that browsers ask for, so that `format` alone chooses it.
    media_type = "application/vnd.convengine.evidence"
    format = EVIDENCE


class FoundTurnPageSerializer(serializers.Serializer[Any]):
    """A page, newest first. `lookedBackTo` is where a search stopped before it had seen everything."""

    next = serializers.CharField(allow_null=True)
    previous = serializers.CharField(allow_null=True)
    lookedBackTo = IsoDateTimeField(allow_null=True)
    total = ResultCountSerializer(allow_null=True, help_text="Null on all pages but the first.")
    results = FoundTurnSerializer(many=True)


def _query_parameters() -> list[OpenApiParameter]:
    """The parameters of the search: its filters, then those for pages and formats."""
    parameters = [
        OpenApiParameter(
            name,
            _KINDS.get(name, OpenApiTypes.STR),
            description=f"{field.label}. {field.help_text}".strip(),
            enum=[str(value) for value, _ in field.choices if value] if hasattr(field, "choices") else None,
        )
        for name, field in FindForm.base_fields.items()
    ]
    cursor = OpenApiParameter("cursor", str, description="The `next` or `previous` of another page.")
    limit = OpenApiParameter(
        "limit", {"type": "integer", "minimum": 1, "maximum": MOST}, description="How many turns a page has."
    )
    form = OpenApiParameter(
        "format",
        {"type": "string", "enum": ["json", *CONTENT_TYPES, EVIDENCE]},
        description="All results as a stream, or the newest as evidence.",
    )
    return [*parameters, cursor, limit, form]


class FindView(ApiView):
    """`GET /api/v1/audit/turns`."""

    address = "audit/turns"
    scope = "audit"
    renderer_classes = (OrjsonRenderer, LinesRenderer, TableRenderer, EvidenceRenderer)

    @extend_schema(
        operation_id="searchTurns",
        parameters=_query_parameters(),
        responses={
            (200, "application/json"): FoundTurnPageSerializer,
            **{(200, kind.partition(";")[0]): OpenApiTypes.STR for kind in CONTENT_TYPES.values()},
            (200, "text/html"): OpenApiTypes.STR,
        },
    )
    def get(self, request: Request) -> HttpResponseBase:
        """Find turns by anything that is known about them. A turn must match all filters.

        A page that looked at as many turns as one may, and is not full, has `lookedBackTo`, and `next` goes on from
        there.
        """
        search, form = _read_query(request), request.accepted_renderer.format
        if form in CONTENT_TYPES:
            if request.query_params.get("cursor"):
                raise RequestInvalid(fields={"cursor": [f"format={form} has no pages. Leave the cursor out."]})
            return stream_file(search, form)
        if form == EVIDENCE:
            text = urlencode({name: request.query_params[name] for name in request.query_params if name not in _PAGING})
            return answer_file(collect_evidence(search, text, build_api_order(request)), "evidence-of-a-search")
        cursor = _read_cursor(request)
        turn_page = find_turns(search, cursor, read_page_size(request, PAGE, MOST))
        turns = read_turns(turn_page.matches)
        page = {
            "next": turn_page.older,
            "previous": turn_page.newer,
            "lookedBackTo": turn_page.paused,
            "total": count_with_page(search, turn_page) if cursor is None else None,
            "results": turns,
        }
        return Response(FoundTurnPageSerializer(page, context={"costs": sum_call_costs(turns)}).data)


def _read_query(request: Request) -> SearchQuery:
    """The search of a request, in the workspace of its key. Raises RequestInvalid, also for unknown filters."""
    given = request.query_params
    if unknown := sorted(set(given) - set(FindForm.base_fields) - _PAGING):
        names = ", ".join((*FindForm.base_fields, *sorted(_PAGING)))
        raise RequestInvalid(fields={name: [f"Unknown filter. Known: {names}."] for name in unknown})
    form = FindForm(given)
    require_valid(form)
    return form.search(get_api_key(request).workspace_id)


def _read_cursor(request: Request) -> Cursor | None:
    """The cursor of a request. Returns None if it has none. Raises RequestInvalid for a text that no page gave out."""
    text = request.query_params.get("cursor")
    if not text:
        return None
    cursor = Cursor.read(text)
    if cursor is None:
        raise refuse_cursor(text)
    return cursor
