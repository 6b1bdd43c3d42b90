"""All audit stages as JSON."""

from functools import cache
from typing import Any

from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from audit.api.access_scope import SCOPE_OWN, SCOPE_WORKSPACE
from convengine.engine.stages import STAGES, stored_names
from convengine.engine.steps.containers.step import CONTAINER_DATA_ATTACHED
from convengine.engine.turn.stage import Family, Stage, is_error
from convengine.server.api.base_view import ApiView
from convengine.server.api.schema import extend_schema
from convengine.server.api.serializers import ComputedField

FAMILIES = [family.value for family in Family]


class StageSerializer(serializers.Serializer[Stage]):
    """One stage."""

    stage = serializers.CharField(source="*")
    label = serializers.CharField(help_text="The name in words.")  # type: ignore[assignment]
    family = serializers.ChoiceField(source="family.value", choices=FAMILIES)
    description = serializers.CharField(source="help")
    steps = serializers.ListField(
        child=serializers.CharField(), help_text="The steps that write it. Empty if any step does, or if no step runs."
    )
    payload = serializers.ListField(
        source="keys",
        child=serializers.CharField(),
        help_text="The keys of its payload besides `_meta`. Each key is optional.",
    )
    freePayload = ComputedField(help_text="True if its keys are those of what was fetched.")
    storedAs = ComputedField(help_text="Its name in events; those of rules also say whose pass it was.")
    error = ComputedField(help_text="True if the audit level ERROR_ONLY keeps it.")
    alwaysRecorded = serializers.BooleanField(source="always_recorded", help_text="True if no setting leaves it out.")
    wholeMeta = serializers.BooleanField(
        source="whole_meta", help_text="True if `_meta` has params, context and session without being asked for them."
    )

    def get_freePayload(self, stage: Stage) -> bool:
        return stage is CONTAINER_DATA_ATTACHED

    def get_storedAs(self, stage: Stage) -> list[str]:
        return stored_names(stage)

    def get_error(self, stage: Stage) -> bool:
        return is_error(stage)


class StageListSerializer(serializers.Serializer[Any]):
    """The catalogue."""

    stages = StageSerializer(many=True)


class StagesView(ApiView):
    """`GET /api/v1/audit/stages`."""

    address = "audit/stages"
    scope = (SCOPE_WORKSPACE, SCOPE_OWN)

    @extend_schema(
        operation_id="listStages",
        responses={200: StageListSerializer},
    )
    def get(self, request: Request) -> Response:
        """The stages that events may have, in the order of a turn; a deployment's own are not among them."""
        return Response(_build_catalogue())


@cache
def _build_catalogue() -> dict[str, Any]:
    return dict(StageListSerializer({"stages": STAGES.values()}).data)
