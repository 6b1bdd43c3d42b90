"""What the calls about turns answer: events, traces, decisions, accounts and records."""

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from audit.api.serializers import TurnSerializer
from audit.narration import Fact, RowRef, Sentence, Tone
from audit.narration.reading import Role
from audit.record.events import Event
from convengine.server.api.serializers import ComputedField

TONES = [tone.value for tone in Tone]


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


class TraceStageSerializer(serializers.Serializer[Any]):
    """An event of a step."""

    auditId = serializers.IntegerField(allow_null=True)
    stage = serializers.CharField()
    turnNo = serializers.IntegerField(allow_null=True)
    seq = serializers.IntegerField()
    createdAt = serializers.DateTimeField()
    payload = serializers.JSONField()


class TraceStepSerializer(serializers.Serializer[Any]):
    """A step of a turn, with its events."""

    step = serializers.CharField()
    stepClass = serializers.CharField(allow_null=True)
    sourceFile = serializers.CharField(allow_null=True)
    status = serializers.CharField(help_text="OK, ERROR, or RUNNING for a step without an end.")
    startedAt = serializers.DateTimeField(allow_null=True)
    endedAt = serializers.DateTimeField(allow_null=True)
    durationMs = serializers.FloatField(allow_null=True)
    error = serializers.CharField(allow_null=True)
    stages = TraceStageSerializer(many=True)
    derived = serializers.BooleanField(
        required=False, help_text="True if the events of steps are not recorded: read from the timing."
    )


class TracedTurnSerializer(serializers.Serializer[Any]):
    """A turn with its steps."""

    turnNo = serializers.IntegerField()
    turnId = serializers.UUIDField()
    status = serializers.CharField(allow_null=True)
    startedAt = serializers.DateTimeField()
    durationMs = serializers.IntegerField(allow_null=True)
    configVersion = serializers.IntegerField(allow_null=True)
    userText = serializers.CharField(allow_null=True)
    intentFrom = serializers.CharField(allow_null=True)
    intentTo = serializers.CharField(allow_null=True)
    stateFrom = serializers.CharField(allow_null=True)
    stateTo = serializers.CharField(allow_null=True)
    llmCalls = serializers.IntegerField()
    toolCalls = serializers.IntegerField()
    steps = TraceStepSerializer(many=True)


class TraceSerializer(serializers.Serializer[Any]):
    """The step timeline of some turns. `steps` and `stages` are those of all turns."""

    conversationId = serializers.UUIDField()
    previous = serializers.IntegerField(allow_null=True)
    turns = TracedTurnSerializer(many=True)
    steps = TraceStepSerializer(many=True)
    stages = TraceStageSerializer(many=True)


class CandidateSerializer(serializers.Serializer[Any]):
    """A row that a decision considered."""

    id = serializers.JSONField()
    configVersion = serializers.IntegerField(allow_null=True)
    description = serializers.CharField(allow_null=True)
    matched = serializers.BooleanField()
    reason = serializers.CharField(allow_null=True)
    operands = serializers.ListField(child=serializers.JSONField())
    derived = serializers.BooleanField(help_text="True if the reason was not stored: computed from the release.")


class DecisionSerializer(serializers.Serializer[Any]):
    """A decision of a turn, with the rows that it considered."""

    seq = serializers.IntegerField(help_text="The number of its event.")
    step = serializers.CharField(allow_null=True)
    kind = serializers.CharField()
    table = serializers.CharField(allow_null=True)
    key = serializers.DictField(help_text="What was looked for.")
    winners = serializers.ListField(child=serializers.JSONField(), help_text="The rows that won.")
    cut = serializers.DictField(child=serializers.IntegerField(), help_text="Rows left out before, by reason.")
    candidates = CandidateSerializer(many=True)
    omitted = serializers.DictField(child=serializers.IntegerField(), help_text="Rows beyond the limit, by reason.")
    counts = serializers.DictField(child=serializers.IntegerField())

    def to_representation(self, instance: Any) -> Any:
        """As it is, with what only some decisions have: `source` and `pass`."""
        return instance


class TurnDecisionsSerializer(serializers.Serializer[Any]):
    """The decisions of one turn, with every row and why it won or not."""

    conversationId = serializers.UUIDField()
    turnNo = serializers.IntegerField()
    configVersion = serializers.IntegerField()
    decisions = DecisionSerializer(many=True)


class AccountSentenceSerializer(serializers.Serializer[Sentence]):
    """One sentence of an account. `parts` are its words, and facts with the event and the place where each stands."""

    text = serializers.CharField()
    kind = serializers.CharField()
    family = serializers.CharField()
    tone = serializers.ChoiceField(source="tone.value", choices=TONES)
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


MESSAGE_ROLES = [role.value for role in Role]


VALUE_ROLES = [role.value for role in (Role.TAKEN, Role.OFFERED, Role.REFUSED)]


class MessagePartSerializer(serializers.Serializer[Any]):
    """A part of the user's message."""

    text = serializers.CharField(trim_whitespace=False)
    role = serializers.ChoiceField(MESSAGE_ROLES)
    says = serializers.CharField(source="label", help_text="The title of the field, or what the words say.")
    start = serializers.IntegerField()
    end = serializers.IntegerField()


class ValueReadSerializer(serializers.Serializer[Any]):
    """What became of a value of the message."""

    role = serializers.ChoiceField(VALUE_ROLES)
    field = serializers.CharField()
    title = serializers.CharField()
    text = serializers.CharField(help_text="The words of the message; blank where no words are known.")
    value = serializers.CharField()
    reason = serializers.CharField()


class MessageReadingSerializer(serializers.Serializer[Any]):
    """How the user's message was read."""

    parts = MessagePartSerializer(many=True)
    moves = serializers.ListField(child=serializers.CharField(), help_text="What the user wants, in words.")
    values = ValueReadSerializer(many=True)


class TurnAccountSerializer(serializers.Serializer[Any]):
    """One turn in plain words."""

    conversationId = serializers.UUIDField(source="turn.conversation_id")
    turnNo = serializers.IntegerField(source="turn.turn_no")
    turnId = serializers.UUIDField(source="turn.turn_id")
    configVersion = serializers.IntegerField(source="turn.config_version")
    sentences = AccountSentenceSerializer(many=True)
    reading = MessageReadingSerializer(
        allow_null=True, help_text="How the message was read; null where that is not recorded, or has masks."
    )


class TurnRecordSerializer(TurnSerializer):
    """One turn of a conversation, with what only its own list shows."""

    source = serializers.CharField(  # type: ignore[assignment]
        help_text="TURN, or EXTERNAL for a turn handled elsewhere."
    )
    errorMessage = serializers.CharField(source="error_message", allow_null=True)
    contextEpoch = serializers.IntegerField(source="context_epoch", help_text="Grows by one with every reset.")
    replayable = serializers.BooleanField()
    auditIncomplete = serializers.BooleanField(
        source="audit_incomplete", help_text="True if an event of the turn was lost."
    )
    requestId = serializers.CharField(source="request_id", allow_null=True, help_text="`X-Request-ID` of the call.")
