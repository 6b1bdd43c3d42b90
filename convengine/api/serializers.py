"""What goes in and what comes out of the turn API (api-and-audit 1)."""

import uuid
from typing import Any

from rest_framework import serializers

from convengine import conf
from convengine.codec import dumps
from convengine.domain.params import KEY_SHAPE
from convengine.domain.text import storable
from convengine.errors import InputParamsTooLarge, MessageTooLarge

#: Other spellings of request fields.
ALIASES = {"conversation_id": "conversationId", "input_params": "inputParams"}


class StrictTextField(serializers.CharField):
    """A JSON string or null, as it is: numbers are not turned into texts, blanks are kept.

    NUL and lone surrogates cannot be stored and are replaced (pipeline-1 6); everything behind sees what will be.
    """

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(allow_null=True, allow_blank=True, trim_whitespace=False, **kwargs)

    def run_validation(self, data: Any = serializers.empty) -> Any:
        """Raises ValidationError for anything but a string."""
        if data not in (serializers.empty, None) and not isinstance(data, str):
            raise serializers.ValidationError(f"Must be a text or null, not {type(data).__name__}.")
        return super().run_validation(storable(data) if isinstance(data, str) else data)


class StrictBooleanField(serializers.BooleanField):
    """true, false or null; no texts that look like them."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(allow_null=True, **kwargs)

    def run_validation(self, data: Any = serializers.empty) -> Any:
        """Raises ValidationError for anything but a boolean."""
        if data not in (serializers.empty, None) and not isinstance(data, bool):
            raise serializers.ValidationError(f"Must be true, false or null, not {data!r}.")
        return super().run_validation(data)


class StrictUuidField(serializers.UUIDField):
    """A UUID as text; no numbers."""

    def to_internal_value(self, data: Any) -> Any:
        """Raises ValidationError for anything but the text of a UUID."""
        if not isinstance(data, str):
            raise serializers.ValidationError(f"Must be a UUID as text, not {data!r}.")
        try:
            return uuid.UUID(data)
        except ValueError:
            raise serializers.ValidationError(f"{data!r} is no UUID.") from None


class TurnRequestSerializer(serializers.Serializer[Any]):
    """One user message, or facts without one."""

    conversationId = StrictUuidField(
        required=False, allow_null=True, help_text="Absent: a new conversation, whose id comes back in the answer."
    )
    message = StrictTextField(required=False, help_text="The user's text; may be null or blank.")
    reset = StrictBooleanField(required=False, help_text="The same as inputParams.reset = true.")
    inputParams = serializers.DictField(
        required=False, help_text="Facts and controls. Keys are letters, digits, _ . - (at most 120)."
    )

    def to_internal_value(self, data: Any) -> dict[str, Any]:
        """Raises ValidationError naming every field that is wrong or unknown."""
        if not isinstance(data, dict):
            raise serializers.ValidationError({"body": ["Must be a JSON object."]})
        known = {ALIASES.get(str(name), str(name)): value for name, value in data.items()}
        unknown = sorted(known.keys() - self.fields.keys())
        if unknown:
            allowed = ", ".join(self.fields)
            raise serializers.ValidationError({name: [f"Unknown field. Known: {allowed}."] for name in unknown})
        return dict(super().to_internal_value(known))

    def validate_message(self, value: str | None) -> str | None:
        """Raises MessageTooLarge beyond MAX_MESSAGE_BYTES of UTF-8."""
        limit = conf.get("MAX_MESSAGE_BYTES")
        if value is not None and len(value.encode()) > limit:
            raise MessageTooLarge(
                f"The message is longer than {limit} bytes of UTF-8.",
                fields={"message": [f"Send at most {limit} bytes of UTF-8."]},
            )
        return value

    def validate_inputParams(self, value: dict[str, Any]) -> dict[str, Any]:
        """Raises ValidationError for a key of the wrong shape, InputParamsTooLarge beyond the limit."""
        wrong = [key for key in value if not KEY_SHAPE.match(key)]
        if wrong:
            raise serializers.ValidationError(
                [f"{key!r} is no parameter name: use letters, digits, _ . - and at most 120 of them." for key in wrong]
            )
        limit = conf.get("MAX_INPUT_PARAMS_BYTES")
        if len(dumps(value).encode()) > limit:
            raise InputParamsTooLarge(
                f"The input params are larger than {limit} bytes.",
                fields={"inputParams": [f"Send at most {limit} bytes of JSON."]},
            )
        return value


class PayloadSerializer(serializers.Serializer[Any]):
    """What the user gets."""

    type = serializers.ChoiceField(choices=["TEXT", "JSON", "ERROR"])
    value = serializers.JSONField(help_text="A text, a document, or {errorCode, message, recoverable}.")


class ClarificationSerializer(serializers.Serializer[Any]):
    """An open question to the user."""

    question = serializers.CharField()
    reason = serializers.CharField()
    options = serializers.ListField(child=serializers.CharField(allow_null=True))


class PendingActionSerializer(serializers.Serializer[Any]):
    """An action that waits for a yes."""

    actionKey = serializers.CharField(allow_null=True)
    status = serializers.CharField()


class StateReportSerializer(serializers.Serializer[Any]):
    """What a form needs to know without reading the context."""

    lifecycle = serializers.CharField()
    missingFields = serializers.ListField(child=serializers.CharField())
    pendingClarification = ClarificationSerializer(allow_null=True)
    pendingAction = PendingActionSerializer(allow_null=True)


class VerboseLineSerializer(serializers.Serializer[Any]):
    """A progress or error line of a turn."""

    verboseId = serializers.IntegerField(allow_null=True, help_text="The row that gave the text, if one did.")
    eventType = serializers.CharField()
    stepName = serializers.CharField()
    determinant = serializers.CharField()
    intent = serializers.CharField(allow_null=True)
    state = serializers.CharField(allow_null=True)
    ruleId = serializers.JSONField(allow_null=True)
    toolCode = serializers.CharField(allow_null=True)
    level = serializers.ChoiceField(choices=["INFO", "ERROR"])
    text = serializers.CharField()
    message = serializers.CharField(allow_null=True)
    errorMessage = serializers.CharField(allow_null=True)
    metadata = serializers.JSONField()


class TurnResponseSerializer(serializers.Serializer[Any]):
    """The answer to a turn; failures have the same shape."""

    success = serializers.BooleanField()
    conversationId = serializers.UUIDField(allow_null=True)
    intent = serializers.CharField()
    state = serializers.CharField()
    payload = PayloadSerializer(allow_null=True)
    context = serializers.DictField(allow_null=True)  # type: ignore[assignment]
    errorCode = serializers.CharField(allow_null=True)
    recoverable = serializers.BooleanField(allow_null=True)
    message = serializers.CharField(allow_null=True)
    turnId = serializers.UUIDField(required=False)
    turnNo = serializers.IntegerField(required=False)
    configVersion = serializers.IntegerField(required=False)
    ignoredInputParams = serializers.ListField(child=serializers.CharField(), required=False)
    stateReport = StateReportSerializer(required=False)
    verbose = VerboseLineSerializer(many=True, required=False, help_text="Only with `?include=verbose`.")
