"""Save turns as a scenario file through the API: `GET /api/v1/conversation/audit/{id}/scenario`."""

from django.http import HttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter
from rest_framework.request import Request

from audit.api import parameters
from audit.export.scenario.document import make_yaml_response
from audit.export.scenario.recorded_turns import NotExportable
from audit.export.scenario.trial import build_passing_scenario
from convengine.engine.errors import RequestInvalid
from convengine.server.api.base_view import ApiView
from convengine.server.api.schema import extend_schema

_NUMBER = {"type": "integer", "minimum": 1, "maximum": 2**31 - 1}


class ScenarioView(ApiView):
    """`GET /api/v1/conversation/audit/{conversationId}/scenario`."""

    address = "conversation/audit/<str:conversation_id>/scenario"
    scope = "audit"

    @extend_schema(
        operation_id="exportScenario",
        parameters=[
            OpenApiParameter("conversation_id", OpenApiTypes.UUID, OpenApiParameter.PATH),
            OpenApiParameter("first", _NUMBER, description="The first turn. The first of the conversation if absent."),
            OpenApiParameter("last", _NUMBER, description="The number of the last turn."),
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
