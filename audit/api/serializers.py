"""Serializers of the audit endpoints."""

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from audit.narration import Fact, RowRef, Sentence, Tone
from audit.record.expand import Event
from convengine.server.api.serializers import ComputedField, describe_unknown_field, quote_value


class ClosedSerializer(serializers.Serializer[Any]):
    """A JSON object without unknown fields."""

    def to_internal_value(self, data: Any) -> dict[str, Any]:
        """Raises ValidationError naming every field that is wrong, missing or unknown."""
        self.refuse_unknown_fields(data)
        return dict(super().to_internal_value(data))

    def refuse_unknown_fields(self, data: Any) -> None:
        """Raises ValidationError for anything but an object, and for unknown fields."""
        if not isinstance(data, dict):
            raise serializers.ValidationError({"body": [f"Must be a JSON object, not {quote_value(data)}."]})
        if unknown := sorted(data.keys() - self.fields.keys()):
            raise serializers.ValidationError(
                {name: [describe_unknown_field(name, data[name], self.fields)] for name in unknown}
            )


class EventSerializer(serializers.Serializer[Any]):
    """One stage that a turn reached."""

    auditId = serializers.IntegerField(
        allow_null=True, help_text="Null for an event that has no row of its own: it follows from PIPELINE_TIMING."
    )
    conversationId = serializers.UUIDField()
    stage = serializers.CharField()
    payload = serializers.JSONField()
    createdAt = serializers.DateTimeField()
    turnId = serializers.UUIDField(allow_null=True)
    turnNo = serializers.IntegerField(allow_null=True)
    seq = serializers.IntegerField()
    configVersion = serializers.IntegerField(allow_null=True)

    def to_representation(self, instance: Event) -> dict[str, Any]:
        """Without the fields, which take five times as long: an export has very many events."""
        row = instance.row
        return {
            "auditId": row.audit_id,
            "conversationId": str(row.conversation_id),
            "stage": row.stage,
            "payload": instance.payload,
            "createdAt": row.created_at.isoformat(),
            "turnId": str(row.turn_id) if row.turn_id else None,
            "turnNo": row.turn_no,
            "seq": row.seq,
            "configVersion": row.config_version,
        }


class EventPageSerializer(serializers.Serializer[Any]):
    """A page of events; `next` and `previous` are cursors for the parameter `cursor`, null at an end."""

    next = serializers.CharField(allow_null=True)
    previous = serializers.CharField(allow_null=True)
    results = EventSerializer(many=True)


class TraceSerializer(serializers.Serializer[Any]):
    """The step timeline of some turns."""

    conversationId = serializers.UUIDField()
    previous = serializers.IntegerField(allow_null=True)
    turns = serializers.ListField(child=serializers.JSONField())
    steps = serializers.ListField(child=serializers.JSONField())
    stages = serializers.ListField(child=serializers.JSONField())


class WhySerializer(serializers.Serializer[Any]):
    """The decisions of one turn, with every row and why it won or not."""

    conversationId = serializers.UUIDField()
    turnNo = serializers.IntegerField()
    configVersion = serializers.IntegerField()
    decisions = serializers.ListField(child=serializers.JSONField())


class SentenceSerializer(serializers.Serializer[Sentence]):
    """One sentence of an account. `parts` are its words, and facts with the event and the place where each stands."""

    text = serializers.CharField()
    kind = serializers.CharField()
    family = serializers.CharField()
    tone = serializers.ChoiceField(source="tone.value", choices=[tone.value for tone in Tone])
    seqs = serializers.ListField(child=serializers.IntegerField())
    rows = ComputedField()
    parts = ComputedField()

    @extend_schema_field(serializers.ListField(child=serializers.JSONField()))
    def get_rows(self, sentence: Sentence) -> list[Any]:
        return [_describe_row(row) for row in sentence.rows]

    @extend_schema_field(serializers.ListField(child=serializers.JSONField()))
    def get_parts(self, sentence: Sentence) -> list[Any]:
        return [{"text": part} if isinstance(part, str) else _describe_fact(part) for part in sentence.parts]


def _describe_row(row: RowRef) -> dict[str, Any]:
    return {"table": row.table, "id": row.pk}


def _describe_fact(fact: Fact) -> dict[str, Any]:
    document: dict[str, Any] = {"text": fact.text, "seq": fact.seq, "path": list(fact.path)}
    if fact.row:
        document["row"] = _describe_row(fact.row)
    return document | ({"column": fact.column} if fact.column else {})


class AccountSerializer(serializers.Serializer[Any]):
    """One turn in plain words."""

    conversationId = serializers.UUIDField(source="turn.conversation_id")
    turnNo = serializers.IntegerField(source="turn.turn_no")
    turnId = serializers.UUIDField(source="turn.turn_id")
    configVersion = serializers.IntegerField(source="turn.config_version")
    sentences = SentenceSerializer(many=True)
