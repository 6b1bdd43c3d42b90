"""Request and response of the turn API."""

import uuid
from collections.abc import Iterable, Mapping
from datetime import datetime
from types import MappingProxyType
from typing import Any

from drf_spectacular.utils import PolymorphicProxySerializer, extend_schema_field, extend_schema_serializer
from rest_framework import serializers

from convengine.engine.errors import InputParamsTooLarge, MessageTooLarge
from convengine.engine.text.compare import shorten
from convengine.engine.text.wording import did_you_mean
from convengine.engine.turn.codec import dumps
from convengine.engine.turn.params import KEY_SHAPE
from convengine.server.api.failures import list_error_codes
from convengine.server.api.wire import MESSAGE_STATUSES
from convengine.server.deployment import conf

_MAX_QUOTED = 100
VERBOSE_LEVELS = ["INFO", "ERROR"]
ERROR_CODES = list_error_codes()


class StrictTextField(serializers.CharField):
    """A JSON string or null, unchanged: numbers are not converted, blanks are kept."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(allow_null=True, allow_blank=True, trim_whitespace=False, **kwargs)
        # They look for what the parser of the body has cleaned or refused, and read every character of a message.
        self.validators = []

    def run_validation(self, data: Any = serializers.empty) -> Any:
        """Raises ValidationError for anything but a string."""
        if data not in (serializers.empty, None) and not isinstance(data, str):
            raise serializers.ValidationError(f"Must be a text or null, not {quote_value(data)}.")
        return super().run_validation(data)


def check_message_size(field: str, message: str | None) -> str | None:
    """The message of a field. Raises MessageTooLarge beyond MAX_MESSAGE_BYTES of UTF-8."""
    limit = conf.get("MAX_MESSAGE_BYTES")
    if message is not None and (size := len(message.encode())) > limit:
        raise MessageTooLarge.of(field, size, limit, "UTF-8")
    return message


class StrictBooleanField(serializers.BooleanField):
    """true, false or null only."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(allow_null=True, **kwargs)

    def run_validation(self, data: Any = serializers.empty) -> Any:
        """Raises ValidationError for anything but a boolean."""
        if data not in (serializers.empty, None) and not isinstance(data, bool):
            raise serializers.ValidationError(f"Must be true, false or null, not {quote_value(data)}.")
        return super().run_validation(data)


class StrictUuidField(serializers.UUIDField):
    """A UUID as text; no numbers."""

    def to_internal_value(self, data: Any) -> Any:
        """Raises ValidationError for anything but the text of a UUID."""
        if not isinstance(data, str):
            raise serializers.ValidationError(f"Must be a UUID as text, not {quote_value(data)}.")
        try:
            return uuid.UUID(data)
        except ValueError:
            remedy = "Send the ID of an earlier answer, or omit the field to start a conversation."
            raise serializers.ValidationError(f"{quote_value(data)} is not a UUID. {remedy}") from None


class StrictObjectField(serializers.DictField):
    """A JSON object; null is the same as leaving it out."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(allow_null=True, **kwargs)

    def run_validation(self, data: Any = serializers.empty) -> Any:
        """Raises ValidationError for anything but an object."""
        if data not in (serializers.empty, None) and not isinstance(data, dict):
            raise serializers.ValidationError(f"Must be a JSON object or null, not {quote_value(data)}.")
        return super().run_validation(data)


class IsoDateTimeField(serializers.DateTimeField):
    """A time with its offset in digits (`+00:00`), where the REST framework would write `Z`."""

    def to_representation(self, value: datetime) -> str:
        return value.isoformat()


class StoredObjectField(serializers.DictField):
    """A JSON object as it is stored."""

    def to_representation(self, value: Any) -> Any:
        return value


class ComputedField(serializers.SerializerMethodField):
    """The result of the serializer's method `get_<name>`.

    Unlike its base it is not described as read-only, which would say nothing about a field of an answer.
    """

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.read_only, self.required = False, True


class ClosedSerializer(serializers.Serializer[Any]):
    """A JSON object of known fields."""

    #: Other spellings of fields.
    aliases: Mapping[str, str] = MappingProxyType({})

    def to_internal_value(self, data: Any) -> dict[str, Any]:
        """Raises ValidationError naming every field that is wrong, missing or unknown."""
        return dict(super().to_internal_value(self.read_fields(data)))

    def read_fields(self, data: Any) -> dict[str, Any]:
        """The sent values by field. Raises ValidationError.

        That is for anything but an object, for unknown fields, and for a field under two names with different values.
        """
        if not isinstance(data, dict):
            raise serializers.ValidationError({"body": [f"Must be a JSON object, not {quote_value(data)}."]})
        values = {self.aliases.get(str(name), str(name)): value for name, value in data.items()}
        for alias, name in self.aliases.items():
            if alias in data and name in data and not _is_same_value(data[alias], data[name]):
                sent = f"{name} is {quote_value(data[name])}, {alias} is {quote_value(data[alias])}"
                text = f"{name} and {alias} are the same field but have different values: {sent}. Send one of them."
                raise serializers.ValidationError({name: [text], alias: [text]})
        if unknown := sorted(values.keys() - self.fields.keys()):
            raise serializers.ValidationError(
                {name: [describe_unknown_field(name, values[name], self.fields, self.aliases)] for name in unknown}
            )
        return values


@extend_schema_serializer(component_name="Turn")
class TurnRequestSerializer(ClosedSerializer):
    """One user message, or facts without one."""

    aliases = MappingProxyType({"conversation_id": "conversationId", "input_params": "inputParams"})

    conversationId = StrictUuidField(
        required=False, allow_null=True, help_text=("If omitted, a new conversation starts. Its ID is in the answer.")
    )
    message = StrictTextField(required=False, help_text="The message of the user. May be null or empty.")
    reset = StrictBooleanField(required=False, help_text="Has the same effect as inputParams.reset = true.")
    inputParams = StrictObjectField(
        required=False, help_text="Facts and controls. Keys are letters, digits, _ . - (at most 120)."
    )

    preferences = StrictObjectField(
        required=False, help_text="Preferences of the session: model, knowledge_base, … (docs/sessions.md)."
    )

    def validate_message(self, value: str | None) -> str | None:
        """Raises MessageTooLarge beyond MAX_MESSAGE_BYTES of UTF-8."""
        return check_message_size("message", value)

    def validate_inputParams(self, value: dict[str, Any] | None) -> dict[str, Any] | None:
        """Raises ValidationError for a key of the wrong shape, InputParamsTooLarge beyond the limit."""
        if value is None:
            return None
        wrong = [key for key in value if not KEY_SHAPE.match(key)]
        if wrong:
            raise serializers.ValidationError(
                [
                    f"{quote_value(key)} is not a parameter name: use letters, digits, _ . - and at most 120 of them."
                    for key in wrong
                ]
            )
        limit = conf.get("MAX_INPUT_PARAMS_BYTES")
        if (size := len(dumps(value).encode())) > limit:
            raise InputParamsTooLarge.of("inputParams", size, limit, "JSON")
        return value


def quote_value(value: Any) -> str:
    """The sent value as JSON for an error; long values are cut."""
    return shorten(dumps(value), _MAX_QUOTED)


def _is_same_value(value: Any, other: Any) -> bool:
    if isinstance(value, str) and isinstance(other, str):
        return value.strip().lower() == other.strip().lower()
    return dumps(value) == dumps(other)


def describe_unknown_field(name: str, value: Any, fields: Iterable[str], aliases: Iterable[str] = ()) -> str:
    """The error for an unknown field."""
    hint = did_you_mean(name, [*fields, *aliases])
    return f"Unknown field (sent: {quote_value(value)}).{hint} Known: {', '.join(fields)}."


class TextPayloadSerializer(serializers.Serializer[Any]):
    """A text for the user."""

    type = serializers.ChoiceField(choices=["TEXT"])
    value = serializers.CharField()


class JsonPayloadSerializer(serializers.Serializer[Any]):
    """A document for the user."""

    type = serializers.ChoiceField(choices=["JSON"])
    value = serializers.JSONField()


class ErrorDetailSerializer(serializers.Serializer[Any]):
    """The error of a failed call, as at the top of its answer."""

    errorCode = serializers.ChoiceField(choices=ERROR_CODES)
    message = serializers.CharField()
    recoverable = serializers.BooleanField()
    help = serializers.CharField(help_text="Where the manual explains the code.")
    incidentId = serializers.UUIDField(required=False)


class ErrorPayloadSerializer(serializers.Serializer[Any]):
    """What failed."""

    type = serializers.ChoiceField(choices=["ERROR"])
    value = ErrorDetailSerializer()


@extend_schema_field(
    PolymorphicProxySerializer(
        "Payload",
        [TextPayloadSerializer, JsonPayloadSerializer, ErrorPayloadSerializer],
        resource_type_field_name="type",
    )
)
class PayloadField(serializers.JSONField):
    """What the user gets."""


class ClarificationSerializer(serializers.Serializer[Any]):
    """An open question to the user."""

    question = serializers.CharField()
    reason = serializers.CharField()
    options = serializers.ListField(child=serializers.CharField(allow_null=True))


class PendingActionSerializer(serializers.Serializer[Any]):
    """An action that waits for a yes."""

    actionKey = serializers.CharField(allow_null=True)
    status = serializers.CharField()


class ChoiceSerializer(serializers.Serializer[Any]):
    """Something to choose: send its label as the message."""

    value = serializers.JSONField()
    label = serializers.CharField()  # type: ignore[assignment]


class AskedFieldSerializer(serializers.Serializer[Any]):
    """The field of a form that the answer asks for."""

    field = serializers.CharField(help_text="Its path in the context.")
    title = serializers.CharField()
    type = serializers.CharField(help_text="The JSON type of its value.")
    options = ChoiceSerializer(
        many=True, help_text="The values that it takes, or those that the answer names. Empty if it takes others, too."
    )
    min = serializers.JSONField(help_text="The smallest value, or null. A day, not `today+90d`.")
    max = serializers.JSONField(help_text="The largest value, or null.")
    format = serializers.CharField(
        allow_null=True, help_text="How a value is written, such as `date`, `time`, `email` or `phone`."
    )


class ConfirmSerializer(serializers.Serializer[Any]):
    """The words for a yes and a no in the language of the conversation: send one as the message."""

    yes = serializers.CharField()
    no = serializers.CharField()


class CardSerializer(serializers.Serializer[Any]):
    """A section of a document that may answer the message."""

    document = serializers.IntegerField()
    title = serializers.CharField(help_text="The title of the document.")
    titles = serializers.ListField(child=serializers.CharField(), help_text="The headings that lead to the section.")
    sentences = serializers.ListField(child=serializers.CharField(), help_text="Copied from the document.")
    quote = serializers.CharField(help_text="The sentences, with … between those that do not follow each other.")
    link = serializers.CharField(allow_null=True)


class StateReportSerializer(serializers.Serializer[Any]):
    """What the answer asks, and where the conversation stands."""

    lifecycle = serializers.CharField()
    missingFields = serializers.ListField(child=serializers.CharField())
    pendingClarification = ClarificationSerializer(allow_null=True)
    pendingAction = PendingActionSerializer(allow_null=True)
    asked = AskedFieldSerializer(allow_null=True)
    confirm = ConfirmSerializer(allow_null=True)
    choices = ChoiceSerializer(
        many=True, allow_null=True, help_text="What the user may mean or change, if that was asked."
    )
    offered = serializers.DictField(allow_null=True, help_text="By field, the values that a yes to `confirm` stores.")
    cards = CardSerializer(many=True, allow_null=True, help_text="What documents say to the message, word for word.")
    withPerson = serializers.BooleanField(help_text="True while a person has the conversation.")
    personAnswers = serializers.BooleanField(help_text="True once that person has written.")


class VerboseLineSerializer(serializers.Serializer[Any]):
    """A progress or error line of a turn."""

    verboseId = serializers.IntegerField(allow_null=True, help_text="The row of the answer, if there is one.")
    eventType = serializers.CharField()
    stepName = serializers.CharField()
    determinant = serializers.CharField()
    intent = serializers.CharField(allow_null=True)
    state = serializers.CharField(allow_null=True)
    ruleId = serializers.JSONField()
    toolCode = serializers.CharField(allow_null=True)
    level = serializers.ChoiceField(choices=VERBOSE_LEVELS)
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
    payload = PayloadField(allow_null=True)
    context = serializers.DictField(allow_null=True)  # type: ignore[assignment]
    errorCode = serializers.ChoiceField(choices=ERROR_CODES, allow_null=True)
    recoverable = serializers.BooleanField(allow_null=True)
    message = serializers.CharField(allow_null=True)
    help = serializers.CharField(required=False, help_text="Where the manual explains the error.")
    turnId = serializers.UUIDField(required=False)
    turnNo = serializers.IntegerField(required=False)
    configVersion = serializers.IntegerField(required=False)
    ignoredInputParams = serializers.ListField(child=serializers.CharField(), required=False)
    stateReport = StateReportSerializer(required=False)
    verbose = VerboseLineSerializer(many=True, required=False, help_text="Only with `?include=verbose`.")
    trace = serializers.DictField(
        required=False,
        allow_null=True,
        help_text="Only with `?include=trace`: as `GET /api/v1/conversation/{id}/turns/{turnNo}/trace`.",
    )


class QueuedMessageSerializer(serializers.Serializer[Any]):
    """A message whose caller does not wait."""

    messageId = serializers.UUIDField()
    conversationId = serializers.UUIDField(
        allow_null=True, help_text="Null for a message of a thread that was not answered yet."
    )
    status = serializers.ChoiceField(choices=MESSAGE_STATUSES)
    turnUrl = serializers.CharField(help_text="Read the answer here.")
    answer = TurnResponseSerializer(allow_null=True, help_text="Null while it waits. Of a failed message, its error.")


class FailureSerializer(serializers.Serializer[Any]):
    """Why a call failed. Every call fails in this shape; calls may add fields of their own."""

    success = serializers.BooleanField(help_text="False.")
    conversationId = serializers.UUIDField(allow_null=True)
    intent = serializers.CharField(help_text="ERROR.")
    state = serializers.CharField(help_text="ERROR.")
    payload = PayloadField(allow_null=True)
    context = serializers.DictField(allow_null=True)  # type: ignore[assignment]
    errorCode = serializers.ChoiceField(choices=ERROR_CODES)
    recoverable = serializers.BooleanField(help_text="True if the same call may succeed later without any change.")
    message = serializers.CharField(help_text="The reason, for people.")
    help = serializers.CharField(help_text="Where the manual explains the code, on this server.")
    fields = serializers.DictField(  # type: ignore[assignment]
        child=serializers.ListField(child=serializers.CharField()),
        required=False,
        help_text="The wrong fields, parameters or headers, each with its errors.",
    )
    incidentId = serializers.UUIDField(required=False, help_text="The server log has the details under this ID.")
    turnId = serializers.UUIDField(required=False, help_text="The failed turn, if there is one.")
    turnNo = serializers.IntegerField(required=False)
    configVersion = serializers.IntegerField(required=False)
    ignoredInputParams = serializers.ListField(child=serializers.CharField(), required=False)
    verbose = VerboseLineSerializer(many=True, required=False, help_text="Only with `?include=verbose`.")
    trace = serializers.DictField(required=False, allow_null=True, help_text="Only with `?include=trace`.")
    ok = serializers.BooleanField(required=False, help_text="False. Only in answers of the sessions API.")
