"""The search for programs, within the caller's workspace."""

from collections.abc import Mapping
from typing import Any

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from audit.api.parameters import read_page_size
from audit.record.queries import sum_call_costs
from audit.record.turn_record import TurnSerializer
from audit.search.form import FindForm
from audit.search.query import SearchQuery
from audit.search.results import read_turns
from audit.search.walk import Cursor, find_turns
from convengine.engine.errors import RequestInvalid
from convengine.server.api.models import CeApiKey
from convengine.server.api.serializers import FailureSerializer, IsoDateTimeField

PAGE, MOST = 50, 200
_PAGING = {"cursor", "limit"}
_KINDS: Mapping[str, Any] = {
    "since": OpenApiTypes.DATETIME,
    "until": OpenApiTypes.DATETIME,
    "id": OpenApiTypes.UUID,
    "release": {"type": "integer", "minimum": 0},
    "ms": {"type": "integer", "minimum": 0, "maximum": 2**31 - 1},
    "cost": {"type": "number", "minimum": 0},
}


class FoundTurnSerializer(TurnSerializer):
    """One turn, and whose it is."""

    conversationId = serializers.UUIDField(source="conversation_id")
    channel = serializers.CharField(source="conversation.channel")
    participant = serializers.CharField(source="conversation.remote_jid")


class FoundPageSerializer(serializers.Serializer[Any]):
    """A page, newest first; `lookedBackTo` is when a page ended that could not look at everything at once."""

    next = serializers.CharField(allow_null=True)
    previous = serializers.CharField(allow_null=True)
    lookedBackTo = IsoDateTimeField(allow_null=True)
    results = FoundTurnSerializer(many=True)


def _query_parameters() -> list[OpenApiParameter]:
    parameters = [
        OpenApiParameter(
            name, _KINDS.get(name, OpenApiTypes.STR), description=_describe_field(field), enum=_field_choices(field)
        )
        for name, field in FindForm.base_fields.items()
    ]
    cursor = OpenApiParameter("cursor", str, description="From `next` or `previous` of a page.")
    limit = OpenApiParameter(
        "limit", {"type": "integer", "minimum": 1, "maximum": MOST}, description="Turns of a page."
    )
    return [*parameters, cursor, limit]


def _field_choices(field: Any) -> list[str] | None:
    return [str(value) for value, _ in field.choices if value] if hasattr(field, "choices") else None


def _describe_field(field: Any) -> str:
    return f"{field.label}. {field.help_text}".strip()


class FindView(APIView):
    """`GET /api/v1/audit/turns`."""

    scope = "audit"

    @extend_schema(
        operation_id="find_turns",
        parameters=_query_parameters(),
        responses={200: FoundPageSerializer, **dict.fromkeys((400, 401, 403, 429), FailureSerializer)},
    )
    def get(self, request: Request) -> Response:
        """Turns by everything that is known of them; all that is given must hold.

        A page that looked at as many turns as one may, and is not full, has `lookedBackTo`, and `next` goes on from
        there.
        """
        turn_page = find_turns(_read_query(request), _read_cursor(request), read_page_size(request, PAGE, MOST))
        turns = read_turns(turn_page.matches)
        page = {
            "next": turn_page.older,
            "previous": turn_page.newer,
            "lookedBackTo": turn_page.paused,
            "results": turns,
        }
        return Response(FoundPageSerializer(page, context={"costs": sum_call_costs(turns)}).data)


def _read_query(request: Request) -> SearchQuery:
    """Raises RequestInvalid."""
    assert isinstance(request.auth, CeApiKey)  # Checked by HasScope.
    given = request.query_params
    if unknown := sorted(set(given) - set(FindForm.base_fields) - _PAGING):
        names = ", ".join((*FindForm.base_fields, *sorted(_PAGING)))
        raise RequestInvalid(fields={name: [f"Nothing is called so here. There are {names}."] for name in unknown})
    form = FindForm(given)
    if not form.is_valid():
        raise RequestInvalid(
            fields={name: [str(message) for message in messages] for name, messages in form.errors.items()}
        )
    return form.search(request.auth.workspace_id)


def _read_cursor(request: Request) -> Cursor | None:
    """Raises RequestInvalid for a text that no page gave out."""
    text = request.query_params.get("cursor")
    if not text:
        return None
    cursor = Cursor.read(text)
    if cursor is None:
        raise RequestInvalid(
            fields={"cursor": [f"{text!r} is not a cursor of this endpoint. Use one from `next` or `previous`."]}
        )
    return cursor
