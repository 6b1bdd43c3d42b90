"""Every audit stage as JSON: what an event of each says, and how settings treat it (api-and-audit 9)."""

from functools import cache
from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from audit.reach import OWN, WHOLE
from audit.stage_names import stored_names
from convengine.api.serializers import FailureSerializer
from convengine.domain.stage_facts import FACTS, label
from convengine.domain.stage_help import HELP
from convengine.domain.stages import FULL_META, NEVER_FILTERED, Family, Stage, is_error


class StageSerializer(serializers.Serializer[Any]):
    """One stage."""

    stage = serializers.CharField()
    label = serializers.CharField(help_text="The name in words.")  # type: ignore[assignment]
    family = serializers.ChoiceField(choices=[family.value for family in Family])
    description = serializers.CharField()
    steps = serializers.ListField(
        child=serializers.CharField(), help_text="The steps that write it; none where any does, or none runs."
    )
    payload = serializers.ListField(
        child=serializers.CharField(),
        help_text="The keys that its payload may have beside `_meta`, each only where there is something to say.",
    )
    freePayload = serializers.BooleanField(help_text="True where the keys are those of what was fetched.")
    storedAs = serializers.ListField(
        child=serializers.CharField(), help_text="Its name in events; those of rules also say whose pass it was."
    )
    error = serializers.BooleanField(help_text="True where the audit level ERROR_ONLY keeps it.")
    alwaysRecorded = serializers.BooleanField(help_text="True where no setting leaves it out.")
    wholeMeta = serializers.BooleanField(help_text="True where `_meta` has params, context and session unasked.")


class StagesSerializer(serializers.Serializer[Any]):
    """The catalogue."""

    stages = StageSerializer(many=True)


class StagesView(APIView):
    """`GET /api/v1/audit/stages`."""

    scope = (WHOLE, OWN)

    @extend_schema(
        operation_id="list_stages",
        responses={200: StagesSerializer, **dict.fromkeys((401, 403, 429), FailureSerializer)},
    )
    def get(self, request: Request) -> Response:
        """The stages that events may have, in the order of a turn; a deployment's own are not among them."""
        return Response({"stages": _catalogue()})


@cache
def _catalogue() -> list[dict[str, Any]]:
    return [
        {
            "stage": stage.value,
            "label": label(stage),
            "family": stage.family.value,
            "description": HELP[stage],
            "steps": FACTS[stage].steps,
            "payload": FACTS[stage].keys,
            "freePayload": stage is Stage.CONTAINER_DATA_ATTACHED,
            "storedAs": stored_names(stage.value),
            "error": is_error(stage.value),
            "alwaysRecorded": stage in NEVER_FILTERED,
            "wholeMeta": stage in FULL_META,
        }
        for stage in Stage
    ]
