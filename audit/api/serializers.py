"""Serializers and renderers of more than one room."""

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from convengine.server.api.parsers import OrjsonRenderer
from convengine.server.api.serializers import ComputedField, IsoDateTimeField
from convengine.server.sessions.models import CeConversationHistory


class TurnSerializer(serializers.Serializer[CeConversationHistory]):
    """One turn. The context has the `costs` of model calls by turn id."""

    turnId = serializers.UUIDField(source="turn_id")
    turnNo = serializers.IntegerField(source="turn_no")
    startedAt = IsoDateTimeField(source="created_at")
    status = serializers.CharField()
    errorCode = serializers.CharField(source="error_code", allow_null=True)
    intent = serializers.CharField(source="intent_code")
    state = serializers.CharField(source="state_code")
    configVersion = serializers.IntegerField(source="config_version")
    durationMs = serializers.IntegerField(source="duration_ms", allow_null=True)
    cost = ComputedField()
    userText = serializers.CharField(source="user_input", allow_null=True)
    # Null too, as any JSON value: with `allow_null` the schema would match null twice, and so refuse it.
    answer = serializers.JSONField(source="assistant_output")

    @extend_schema_field(serializers.FloatField(allow_null=True))
    def get_cost(self, turn: CeConversationHistory) -> float | None:
        """Null without a price."""
        cost = self.context["costs"].get(turn.turn_id)
        return None if cost is None else float(cost)


class BlankAsNullSerializer(serializers.Serializer[Any]):
    """The base of answers whose blank texts are null, where the schema allows it."""

    def to_representation(self, instance: Any) -> dict[str, Any]:
        answer = super().to_representation(instance)
        return {name: None if value == "" and self.fields[name].allow_null else value for name, value in answer.items()}


NDJSON = "application/x-ndjson"


class LinesRenderer(OrjsonRenderer):
    """An error of such a call is one line too."""

    media_type = NDJSON
    format = "ndjson"
