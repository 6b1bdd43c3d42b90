"""Files of a conversation through the API: evidence, and a scenario."""

from typing import Any

from django.http import HttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter
from rest_framework.request import Request

from audit.api import parameters
from audit.export.evidence.collect import EvidenceOrder, collect_conversation
from audit.export.evidence.file import write_file
from audit.export.scenario.document import build_passing_scenario, make_yaml_response
from audit.export.scenario.recorded_turns import NotExportable
from convengine.engine.errors import RequestInvalid
from convengine.server.api.authentication import get_api_key
from convengine.server.api.base_view import ApiView
from convengine.server.api.schema import extend_schema

_FIRST = OpenApiParameter(
    "first", parameters.NUMBER, description="The first turn. The first of the conversation if absent."
)


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
        parameters=[parameters.CONVERSATION_ID, _FIRST],
        responses={(200, "text/html"): OpenApiTypes.STR},
    )
    def get(self, request: Request, conversation_id: str) -> HttpResponse:
        """The conversation as an HTML file that proves itself: words, events, rows as they were, and seals.

        At most 200 turns; the file says how many are left out.
        """
        conversation = parameters.get_conversation(request, conversation_id)
        first = parameters.read_number(request, "first") or 1
        data = collect_conversation(conversation, build_api_order(request), first)
        return answer_file(data, f"evidence-{conversation.pk}")


class ScenarioView(ApiView):
    """`GET /api/v1/conversation/audit/{conversationId}/scenario`."""

    address = "conversation/audit/<str:conversation_id>/scenario"
    scope = "audit"

    @extend_schema(
        operation_id="exportScenario",
        parameters=[
            parameters.CONVERSATION_ID,
            _FIRST,
            OpenApiParameter("last", parameters.NUMBER, description="The number of the last turn."),
        ],
        responses={(200, "application/yaml"): OpenApiTypes.ANY},
    )
    def get(self, request: Request, conversation_id: str) -> HttpResponse:
        """The turns as a scenario file, which was played and passed. A file that fails is refused with the reason."""
        conversation = parameters.get_conversation(request, conversation_id)
        first, last = parameters.read_number(request, "first"), parameters.read_number(request, "last")
        try:
            document = build_passing_scenario(conversation, first, last)
        except NotExportable as refusal:
            raise RequestInvalid(fields={"turns": [str(refusal)]}) from refusal
        return make_yaml_response(document)
