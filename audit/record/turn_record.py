"""A turn record as JSON, as in every endpoint that lists turns."""

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

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

    @extend_schema_field(serializers.DecimalField(max_digits=18, decimal_places=9, allow_null=True))
    def get_cost(self, turn: CeConversationHistory) -> str | None:
        """Null without a price."""
        cost = self.context["costs"].get(turn.turn_id)
        return None if cost is None else f"{cost:f}"


class TurnRecordSerializer(TurnSerializer):
    """One turn of a conversation, with what only its own list shows."""

    source = serializers.CharField(  # type: ignore[assignment]
        help_text="TURN, or EXTERNAL for a turn handled elsewhere."
    )
    errorMessage = serializers.CharField(source="error_message", allow_null=True)
    contextEpoch = serializers.IntegerField(source="context_epoch", help_text="Grows by one with every reset.")
    replayable = serializers.BooleanField()
    auditIncomplete = serializers.BooleanField(
        source="audit_incomplete", help_text="True where an event of the turn was lost."
    )
