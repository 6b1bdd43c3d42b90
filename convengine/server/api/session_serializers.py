"""Request and response of the sessions API."""

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from convengine.engine.turn.conversation import PLAIN_CHANNEL
from convengine.engine.turn.enums import Lifecycle
from convengine.engine.turn.payload import to_spoken_text
from convengine.server.api.serializers import (
    ClosedSerializer,
    ComputedField,
    IsoDateTimeField,
    QueuedMessageSerializer,
    StoredObjectField,
    StrictObjectField,
    StrictTextField,
    TurnRequestSerializer,
    TurnResponseSerializer,
    check_message_size,
    quote_value,
)
from convengine.server.sessions.models import CeConversation, CeConversationHistory, CeSessionUnit
from convengine.server.threads.session_lists import TracedTurn
from convengine.server.turns.answer import build_session_body

#: Maximum length of the names of a thread.
_NAME = 200
SESSION_STATUSES, DECISIONS = ["active", "closed"], ["new", "continue"]


class NameField(serializers.RegexField):
    """A part of a thread's name: a text of 1 to 200 characters that is not blank."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(r"\S", max_length=_NAME, trim_whitespace=False, **kwargs)

    def run_validation(self, data: Any = serializers.empty) -> Any:
        """Raises ValidationError for anything else."""
        missing = data is serializers.empty or (data is None and self.allow_null)
        if not missing and not isinstance(data, str):
            raise serializers.ValidationError(f"Must be a text, not {quote_value(data)}.")
        return super().run_validation(data)


class ThreadSerializer(ClosedSerializer):
    """Who speaks, and where."""

    workspace_id = NameField(help_text="The workspace of your API key.")
    channel = NameField(help_text="For example `whatsapp`. `api` is reserved for the plain turn API.")
    remote_jid = NameField(help_text="The participant on the channel.")

    def validate_channel(self, value: str) -> str:
        """Raises ValidationError for the channel of the plain turn API."""
        if value == PLAIN_CHANNEL:
            raise serializers.ValidationError(
                "The channel `api` is reserved for POST /api/v1/conversation/message. Use the name of your channel."
            )
        return value


class ResolveSessionSerializer(ThreadSerializer):
    """A message whose session is wanted."""

    user_message = StrictTextField(help_text="The message of the user. May be null or empty.")

    def validate_user_message(self, value: str | None) -> str | None:
        """Raises MessageTooLarge beyond MAX_MESSAGE_BYTES of UTF-8."""
        return check_message_size("user_message", value)


class SendMessageSerializer(ResolveSessionSerializer):
    """A message that is to be answered."""

    input_params = StrictObjectField(
        required=False, help_text="Facts and controls. Keys are letters, digits, _ . - (at most 120)."
    )

    preferences = StrictObjectField(
        required=False, help_text="Preferences of the session: model, knowledge_base, … (docs/sessions.md)."
    )

    validate_input_params = TurnRequestSerializer.validate_inputParams


class ExternalTurnSerializer(ClosedSerializer):
    """A turn that was handled elsewhere."""

    workspace_id = NameField(required=False)
    user_message = StrictTextField()
    assistant_response = StrictTextField()
    action_type = NameField(
        required=False, allow_null=True, help_text="What was done. Stored in the facts of the turn."
    )

    validate_user_message = ResolveSessionSerializer.validate_user_message


class CloseSessionSerializer(ClosedSerializer):
    """Why a session is closed."""

    workspace_id = NameField(required=False)
    reason = NameField(required=False, help_text="Default `closed`.")


class SessionSerializer(serializers.Serializer[CeConversation]):
    """One session."""

    workspace_id = serializers.CharField()
    channel = serializers.CharField()
    remote_jid = serializers.CharField()
    turn_count = serializers.IntegerField()
    context_summary = serializers.CharField(allow_blank=True)
    lifecycle = serializers.ChoiceField(choices=Lifecycle.choices())
    lifecycle_detail = StoredObjectField(help_text="The open question, the summary, or the reason of the end.")
    preferences = StoredObjectField()
    mounted_kb_id = serializers.CharField(allow_null=True)
    session_id = serializers.UUIDField()
    engine_status = serializers.CharField(help_text="RUNNING, or BLOCKED by a policy.")
    intent = serializers.CharField()
    state = serializers.CharField()
    status = serializers.ChoiceField(choices=SESSION_STATUSES)
    created_at = serializers.DateTimeField()
    last_message_at = serializers.DateTimeField()
    expires_at = serializers.DateTimeField(
        allow_null=True, help_text="After this time, a message starts a new session. Null on the plain turn API."
    )
    previous_session_id = serializers.UUIDField(allow_null=True)

    def to_representation(self, instance: CeConversation) -> dict[str, Any]:
        """As in the answer to a message."""
        return build_session_body(instance)


class SessionAnswerSerializer(serializers.Serializer[Any]):
    """A session, and how the call went."""

    ok = serializers.BooleanField()
    session = SessionSerializer()


class SpokenTurnSerializer(serializers.Serializer[CeConversationHistory]):
    """One turn as its texts."""

    turn_no = serializers.IntegerField()
    turn_id = serializers.UUIDField()
    at = IsoDateTimeField(source="created_at")
    status = serializers.CharField()
    source = serializers.CharField()  # type: ignore[assignment]
    user = serializers.CharField(source="user_input", allow_null=True, allow_blank=True)
    assistant = ComputedField()

    @extend_schema_field(serializers.CharField(allow_null=True, allow_blank=True))
    def get_assistant(self, turn: CeConversationHistory) -> str:
        return to_spoken_text(turn.assistant_output)


class SessionUnitSerializer(serializers.Serializer[CeSessionUnit]):
    """One committed session unit."""

    unit_id = serializers.IntegerField()
    kind = serializers.CharField()
    topic = serializers.CharField()
    claim = serializers.CharField()
    source_turn = serializers.IntegerField()
    content_hash = serializers.CharField()
    utility = serializers.ListField()
    phases = serializers.ListField()
    committed_at = IsoDateTimeField()


class TurnExplanationSerializer(serializers.Serializer[TracedTurn]):
    """What happened in one turn, failed or not."""

    turn_no = serializers.IntegerField(source="turn.turn_no")
    turn_id = serializers.UUIDField(source="turn.turn_id")
    at = IsoDateTimeField(source="turn.created_at")
    status = serializers.CharField(source="turn.status")
    duration_ms = serializers.IntegerField(source="turn.duration_ms", allow_null=True)
    config_version = serializers.IntegerField(source="turn.config_version")
    request = serializers.DictField(
        help_text="The message, the names of the params, the channel, and the reason for this session."
    )
    preferences = serializers.DictField()
    error = serializers.DictField(allow_null=True)
    response_preview = serializers.CharField(allow_blank=True, help_text="The first 200 characters.")
    response = serializers.JSONField(source="turn.assistant_output")
    trace = StoredObjectField(help_text="`nodes`: steps with timings and outcome; `edges`: order, and rules.")


class TurnExplanationListSerializer(serializers.Serializer[Any]):
    """The last turns of a session, newest first."""

    ok = serializers.BooleanField()
    turns = TurnExplanationSerializer(many=True)


class SessionDetailsSerializer(SessionAnswerSerializer):
    """A session, with the lists that were asked for."""

    messages = SpokenTurnSerializer(many=True, required=False)
    units = SessionUnitSerializer(many=True, required=False)
    explainability = TurnExplanationSerializer(many=True, required=False)
    links = serializers.DictField(required=False, help_text="Where the rest of a list is.")


class SessionUnitListSerializer(serializers.Serializer[Any]):
    """The committed units of a session, oldest first."""

    ok = serializers.BooleanField()
    units = SessionUnitSerializer(many=True)


class SessionPageSerializer(serializers.Serializer[Any]):
    """Sessions, newest first."""

    ok = serializers.BooleanField()
    sessions = SessionSerializer(many=True)
    next = serializers.CharField(allow_null=True, help_text="The `cursor` of the next page; null on the last.")


class ResolvedSessionSerializer(serializers.Serializer[Any]):
    """The session of a message, and the reason."""

    ok = serializers.BooleanField()
    session_id = serializers.UUIDField()
    decision = serializers.ChoiceField(choices=DECISIONS)
    reason = serializers.CharField()
    session = SessionSerializer()


class QueuedSessionMessageSerializer(QueuedMessageSerializer):
    """A message of a thread whose caller does not wait."""

    answer = serializers.DictField(  # type: ignore[assignment]
        allow_null=True, help_text="Null while it waits, then what the call would have answered."
    )


class MessageAnswerSerializer(ResolvedSessionSerializer):
    """The session of a message, and its turn."""

    message_intent = serializers.CharField(allow_null=True)
    reply = serializers.CharField(allow_null=True, allow_blank=True, help_text="The answer's words.")
    turn = TurnResponseSerializer()
