"""What a replay is asked for by: read, or refused by name (api-and-audit 8.2)."""

from typing import Any

from rest_framework import serializers

from audit.models import CeReplayJob
from audit.runs import MOST
from convengine.api.serializers import StrictTextField, StrictUuidField, shown, unknown_field
from convengine.errors import ReplayNotOffered

_BIGGEST = 2**31 - 1
_SCRIPT = (
    "Messages with a scripted world around them are a scenario file: `manage.py scenarios` runs it, and "
    "`manage.py save_scenario` makes one of a conversation. Here, send mode RECORDED or WHAT_IF with a conversationId."
)
_ON_MISS = (
    "What the recording has no answer to is a failure here: send FAIL, or leave the field out. Scripted answers are "
    "for scenario files (`manage.py scenarios`)."
)


class WholeNumberField(serializers.IntegerField):
    """A JSON number without a fraction; no texts that look like one."""

    def to_internal_value(self, data: Any) -> int:
        """Raises ValidationError naming the value."""
        if isinstance(data, bool) or not isinstance(data, (int, float)) or data != data // 1:
            raise serializers.ValidationError(f"Must be a whole number, not {shown(data)}.")
        return int(data)


class _Closed(serializers.Serializer[Any]):
    """A JSON object that has no other fields."""

    def to_internal_value(self, data: Any) -> dict[str, Any]:
        """Raises ValidationError naming every field that is wrong, missing or unknown."""
        if not isinstance(data, dict):
            raise serializers.ValidationError({"body": [f"Must be a JSON object, not {shown(data)}."]})
        if unknown := sorted(data.keys() - self.fields.keys()):
            raise serializers.ValidationError(
                {name: [unknown_field(name, data[name], self.fields)] for name in unknown}
            )
        return dict(super().to_internal_value(data))


class ExpectationSerializer(_Closed):
    """Where a turn is to lead; case does not count."""

    turnIndex = WholeNumberField(
        min_value=-_BIGGEST, max_value=_BIGGEST, help_text="Which of the turns of this run, counted from 0."
    )
    expectedIntent = StrictTextField(required=False, help_text="Absent or null: not checked.")
    expectedState = StrictTextField(required=False, help_text="Absent or null: not checked.")


class ReplaySerializer(_Closed):
    """Which turns run again, on which release, and what is expected of them."""

    mode = serializers.ChoiceField(
        choices=CeReplayJob.Mode.values,
        help_text="RECORDED: each turn on its own release, where nothing may differ. WHAT_IF: on another release.",
        error_messages={"invalid_choice": "There is no {input}; send RECORDED or WHAT_IF."},
    )
    conversationId = StrictUuidField(help_text="Whose turns.")
    turns = serializers.ListField(
        child=WholeNumberField(min_value=1, max_value=_BIGGEST),
        required=False,
        min_length=1,
        max_length=MOST,
        help_text=f"Their numbers, at most {MOST}; absent: all turns of the conversation.",
    )
    configVersion = WholeNumberField(
        required=False,
        min_value=1,
        max_value=_BIGGEST,
        help_text="With WHAT_IF the release; absent: the one in force.",
    )
    expectations = ExpectationSerializer(many=True, required=False)
    onMiss = serializers.ChoiceField(
        choices=["FAIL"], required=False, help_text="A call that the recording has no answer to is a failure."
    )

    def to_internal_value(self, data: Any) -> dict[str, Any]:
        """Raises ReplayNotOffered for what the original's successor offers elsewhere, and ValidationError."""
        if isinstance(data, dict):
            if data.get("mode") == "SCRIPT" or "messages" in data:
                name = "mode" if data.get("mode") == "SCRIPT" else "messages"
                raise ReplayNotOffered(fields={name: [f"{shown(data[name])} received. {_SCRIPT}"]})
            if data.get("onMiss") in ("LIVE", "STUB"):
                raise ReplayNotOffered(fields={"onMiss": [f"{shown(data['onMiss'])} received. {_ON_MISS}"]})
        return super().to_internal_value(data)
