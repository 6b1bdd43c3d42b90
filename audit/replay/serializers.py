"""The request of a replay: parsed, or refused by name."""

from typing import Any

from rest_framework import serializers

from audit.models import CeReplayJob
from audit.replay.replay import MAX_TURNS
from convengine.engine.errors import ReplayNotOffered
from convengine.server.api.serializers import ClosedSerializer, StrictTextField, StrictUuidField, quote_value

_BIGGEST = 2**31 - 1
MISS_POLICIES = ["FAIL"]
MODES, STATUSES = CeReplayJob.Mode.values, CeReplayJob.Status.values
_SCRIPT = (
    "Messages with a scripted world around them are a scenario file: `convengine test` runs it, and "
    "`convengine manage save_scenario` makes one of a conversation. Here, send mode RECORDED or WHAT_IF with a "
    "conversationId."
)
_ON_MISS_REFUSED = (
    "What the recording has no answer to is a failure here: send FAIL, or leave the field out. Scripted answers are "
    "for scenario files (`convengine test`)."
)


class WholeNumberField(serializers.IntegerField):
    """A JSON number without a fraction."""

    def to_internal_value(self, data: Any) -> int:
        """Raises ValidationError naming the value."""
        if isinstance(data, bool) or not isinstance(data, (int, float)) or data != data // 1:
            raise serializers.ValidationError(f"Must be a whole number, not {quote_value(data)}.")
        return int(data)


class TurnExpectationSerializer(ClosedSerializer):
    """Where a turn is to lead; case does not count."""

    turnIndex = WholeNumberField(
        min_value=-_BIGGEST, max_value=_BIGGEST, help_text="The position of the turn in this run, counted from 0."
    )
    expectedIntent = StrictTextField(required=False, help_text="Not checked if absent or null.")
    expectedState = StrictTextField(required=False, help_text="Not checked if absent or null.")


class ReplaySerializer(ClosedSerializer):
    """Which turns run again, on which release, and what is expected of them."""

    mode = serializers.ChoiceField(
        choices=MODES,
        help_text="RECORDED: each turn on its own release, where nothing may differ. WHAT_IF: on another release.",
        error_messages={"invalid_choice": "Unknown value {input}. Send RECORDED or WHAT_IF."},
    )
    conversationId = StrictUuidField(help_text="Whose turns.")
    turns = serializers.ListField(
        child=WholeNumberField(min_value=1, max_value=_BIGGEST),
        required=False,
        min_length=1,
        max_length=MAX_TURNS,
        help_text=f"Their numbers, at most {MAX_TURNS}; absent: all turns of the conversation.",
    )
    configVersion = WholeNumberField(
        required=False,
        min_value=1,
        max_value=_BIGGEST,
        help_text="The release, with WHAT_IF. The one in force if absent.",
    )
    expectations = TurnExpectationSerializer(many=True, required=False)
    onMiss = serializers.ChoiceField(
        choices=MISS_POLICIES, required=False, help_text="A call that the recording has no answer to is a failure."
    )

    def to_internal_value(self, data: Any) -> dict[str, Any]:
        """Raises ReplayNotOffered for what the original's successor offers elsewhere, and ValidationError."""
        if isinstance(data, dict):
            if data.get("mode") == "SCRIPT" or "messages" in data:
                name = "mode" if data.get("mode") == "SCRIPT" else "messages"
                raise ReplayNotOffered(fields={name: [f"{quote_value(data[name])} received. {_SCRIPT}"]})
            if data.get("onMiss") in ("LIVE", "STUB"):
                raise ReplayNotOffered(
                    fields={"onMiss": [f"{quote_value(data['onMiss'])} received. {_ON_MISS_REFUSED}"]}
                )
        return super().to_internal_value(data)


Mode, Status = CeReplayJob.Mode, CeReplayJob.Status


class ReplayedTurnSerializer(serializers.Serializer[Any]):
    """Where a turn led when it ran again."""

    turnIndex = serializers.IntegerField()
    turnNo = serializers.IntegerField()
    turnId = serializers.UUIDField(allow_null=True)
    userText = serializers.CharField()
    intent = serializers.CharField(help_text="ERROR for a turn that failed or could not run.")
    state = serializers.CharField(help_text="ERROR for a turn that failed or could not run.")
    contextJson = serializers.CharField(help_text="The context, as JSON text.")
    payload = serializers.JSONField(allow_null=True)
    stages = serializers.ListField(child=serializers.CharField())
    errorCode = serializers.CharField(allow_null=True)
    configVersion = serializers.IntegerField(allow_null=True)
    durationMs = serializers.IntegerField(help_text="How long the run took.")
    equal = serializers.BooleanField(help_text="Whether nothing differs from the record.")


class ReplayJobSerializer(serializers.Serializer[Any]):
    """A replay; what it found is there when its status is DONE."""

    id = serializers.UUIDField()
    status = serializers.ChoiceField(choices=STATUSES)
    mode = serializers.ChoiceField(choices=MODES)
    conversationId = serializers.UUIDField()
    configVersion = serializers.IntegerField(allow_null=True, help_text="Null for each turn's own release.")
    createdAt = serializers.DateTimeField()
    startedAt = serializers.DateTimeField(allow_null=True)
    finishedAt = serializers.DateTimeField(allow_null=True)
    message = serializers.CharField(allow_null=True, help_text="Why there is no result.")
    passed = serializers.BooleanField(allow_null=True)
    turns = ReplayedTurnSerializer(many=True)
    assertionFailures = serializers.ListField(child=serializers.CharField())
    diff = serializers.ListField(child=serializers.JSONField())
