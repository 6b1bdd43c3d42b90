"""A turn record as JSON, as in every endpoint that lists turns."""

from decimal import Decimal
from typing import Any

from rest_framework import serializers

from convengine.server.sessions.models import CeConversationHistory


class TurnSerializer(serializers.Serializer[Any]):
    """One turn."""

    turnId = serializers.UUIDField()
    turnNo = serializers.IntegerField()
    startedAt = serializers.DateTimeField()
    status = serializers.CharField()
    errorCode = serializers.CharField(allow_null=True)
    intent = serializers.CharField()
    state = serializers.CharField()
    configVersion = serializers.IntegerField()
    durationMs = serializers.IntegerField(allow_null=True)
    cost = serializers.DecimalField(max_digits=18, decimal_places=9, allow_null=True)
    userText = serializers.CharField(allow_null=True)
    # Null too, as any JSON value: with `allow_null` the schema would match null twice, and so refuse it.
    answer = serializers.JSONField()


class TurnRecordSerializer(TurnSerializer):
    """One turn of a conversation, with what only its own list shows."""

    source = serializers.CharField(  # type: ignore[assignment]
        help_text="TURN, or EXTERNAL for a turn handled elsewhere."
    )
    errorMessage = serializers.CharField(allow_null=True)
    contextEpoch = serializers.IntegerField(help_text="Grows by one with every reset.")
    replayable = serializers.BooleanField()
    auditIncomplete = serializers.BooleanField(help_text="True where an event of the turn was lost.")


def serialize_turn(turn: CeConversationHistory, cost: Decimal | None) -> dict[str, Any]:
    """A turn, and the cost of its model calls; null without a price."""
    return {
        "turnId": str(turn.turn_id),
        "turnNo": turn.turn_no,
        "startedAt": turn.created_at.isoformat(),
        "status": turn.status,
        "errorCode": turn.error_code,
        "intent": turn.intent_code,
        "state": turn.state_code,
        "configVersion": turn.config_version,
        "durationMs": turn.duration_ms,
        "cost": None if cost is None else f"{cost:f}",
        "userText": turn.user_input,
        "answer": turn.assistant_output,
    }


def serialize_record(turn: CeConversationHistory, cost: Decimal | None) -> dict[str, Any]:
    """The same with the rest of the record."""
    return {
        **serialize_turn(turn, cost),
        "source": turn.source,
        "errorMessage": turn.error_message,
        "contextEpoch": turn.context_epoch,
        "replayable": turn.replayable,
        "auditIncomplete": turn.audit_incomplete,
    }
