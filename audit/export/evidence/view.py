"""Evidence through the API: `GET /api/v1/conversation/audit/{id}/evidence`."""

from typing import Any

from django.http import HttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter
from rest_framework.request import Request

from audit.api import parameters
from audit.export.evidence.collect import EvidenceOrder, collect_conversation
from audit.export.evidence.file import write_file
from convengine.server.api.authentication import get_api_key
from convengine.server.api.base_view import ApiView
from convengine.server.api.schema import extend_schema

_NUMBER = {"type": "integer", "minimum": 1, "maximum": 2**31 - 1}


def answer_file(data: Any, name: str) -> HttpResponse:
    headers = {"Content-Disposition": f'attachment; filename="{name}.html"'}
    return HttpResponse(write_file(data), content_type="text/html; charset=utf-8", headers=headers)


def build_api_order(request: Request) -> EvidenceOrder:
    """A key with the scope `audit` reads everything of its workspace, also the rows that decided."""
    return EvidenceOrder(f"API key {get_api_key(request).prefix}", lambda right: True)


class EvidenceView(ApiView):
    """`GET /api/v1/conversation/audit/{conversationId}/evidence`."""

    address = "conversation/audit/<str:conversation_id>/evidence"
    scope = "audit"

    @extend_schema(
        operation_id="exportEvidence",
        parameters=[
            OpenApiParameter("conversation_id", OpenApiTypes.UUID, OpenApiParameter.PATH),
            OpenApiParameter("first", _NUMBER, description="The first turn. The first of the conversation if absent."),
        ],
        responses={
            (200, "text/html"): OpenApiTypes.STR,
        },
    )
    def get(self, request: Request, conversation_id: str) -> HttpResponse:
        """The conversation as an HTML file that proves itself: words, events, rows as they were, and seals.

        At most 200 turns; the file says how many are left out.
        """
        conversation = parameters.get_conversation(request, conversation_id)
        first = parameters.read_number(request, "first") or 1
        data = collect_conversation(conversation, build_api_order(request), first)
        return answer_file(data, f"evidence-{conversation.pk}")
