"""`POST /api/v1/conversation/feedback`: what the user of a conversation thinks of an answer."""

from typing import Any

from drf_spectacular.utils import OpenApiParameter, PolymorphicProxySerializer
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from audit.feedback.store import PARTICIPANT, FeedbackInput, store_feedback
from audit.models import CeMcpUserFeedback
from convengine.engine.errors import InputParamsTooLarge, MessageTooLarge
from convengine.engine.turn.codec import TOO_DEEP, dumps, is_too_deep
from convengine.server.api.authentication import get_api_key
from convengine.server.api.base_view import ApiView
from convengine.server.api.schema import extend_schema
from convengine.server.api.serializers import (
    ClosedSerializer,
    FailureSerializer,
    StrictObjectField,
    StrictTextField,
    StrictUuidField,
)
from convengine.server.deployment import conf

FEEDBACK_TYPES = CeMcpUserFeedback.Type.values
_TEXTS = ("assistantResponse", "comment", "correction")


class FeedbackSerializer(ClosedSerializer):
    """A thumb, and what goes with it."""

    conversationId = StrictUuidField(help_text="Which conversation.")
    feedbackType = serializers.ChoiceField(choices=FEEDBACK_TYPES, help_text="Which way the thumb points.")
    messageId = StrictTextField(required=False, help_text="The `turnId` of the answer. The last turn if absent.")
    assistantResponse = StrictTextField(
        required=False, help_text="The answer as it was shown. The stored one if absent."
    )
    comment = StrictTextField(required=False, help_text="What was said about the answer.")
    correction = StrictTextField(required=False, help_text="What should have been answered.")
    metadata = StrictObjectField(required=False, help_text="Anything else; `reason`, `root_cause`, `correct_sql` …")

    def to_internal_value(self, data: Any) -> dict[str, Any]:
        """Raises ValidationError naming every field that is wrong, missing or unknown."""
        self.read_fields(data)
        kind, wrong = data.get("feedbackType"), {}
        if not data.get("conversationId"):
            wrong["conversationId"] = ["conversationId is missing. Send the conversation of this feedback."]
        if kind not in FEEDBACK_TYPES:
            wrong["feedbackType"] = [f"Unknown feedbackType {kind}. Use THUMBS_UP or THUMBS_DOWN."]
        if wrong:
            raise serializers.ValidationError(wrong)
        return dict(super().to_internal_value(data))

    def validate_messageId(self, value: str | None) -> str | None:
        """Raises ValidationError beyond 128 characters."""
        if value is not None and len(value) > 128:
            raise serializers.ValidationError(f"{len(value)} characters received. Send at most 128.")
        return value

    def validate_metadata(self, value: dict[str, Any] | None) -> dict[str, Any] | None:
        """Raises InputParamsTooLarge, and ValidationError for too deep nesting."""
        if value is None:
            return None
        if is_too_deep(value):
            raise serializers.ValidationError(TOO_DEEP)
        limit = conf.get("MAX_INPUT_PARAMS_BYTES")
        if (size := len(dumps(value).encode())) > limit:
            raise InputParamsTooLarge.of("metadata", size, limit, "JSON")
        return value

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Raises MessageTooLarge for a text beyond MAX_MESSAGE_BYTES."""
        limit = conf.get("MAX_MESSAGE_BYTES")
        for name in _TEXTS:
            if (size := len((attrs.get(name) or "").encode())) > limit:
                raise MessageTooLarge.of(name, size, limit, "UTF-8")
        return attrs


class FeedbackAnswerSerializer(serializers.Serializer[Any]):
    """What was kept."""

    success = serializers.BooleanField()
    feedbackId = serializers.IntegerField()
    capturedQueryKnowledgeCount = serializers.IntegerField()
    capturedUserQueryKnowledgeCount = serializers.IntegerField()
    embeddedUserQueryKnowledgeCount = serializers.IntegerField()
    message = serializers.CharField()


#: The original's answer to a failure has status 200 too.
_COMPAT_ANSWER = PolymorphicProxySerializer(
    "CompatFeedbackAnswer", [FeedbackAnswerSerializer, FailureSerializer], resource_type_field_name=None
)


class FeedbackView(ApiView):
    """`POST /api/v1/conversation/feedback`."""

    address = "conversation/feedback"
    scope = "turns"
    serves_tokens = True
    cleans_texts = True

    @extend_schema(
        operation_id="createFeedback",
        request=FeedbackSerializer,
        parameters=[
            OpenApiParameter(
                "X-ConvEngine-Compat",
                str,
                OpenApiParameter.HEADER,
                description="1: answer with status 200 and accept any messageId, as the original did.",
            )
        ],
        responses={200: _COMPAT_ANSWER, 201: FeedbackAnswerSerializer},
    )
    def post(self, request: Request) -> Response:
        """Rate an answer with a thumb and, if you like, a comment and a correction. A second one replaces the first."""
        owner = get_api_key(request)
        compat = request.headers.get("X-ConvEngine-Compat") == "1"
        sent = FeedbackSerializer().run_validation(request.data)
        if owner.token:
            owner.token.check_conversation(sent["conversationId"])
        feedback_input = FeedbackInput(
            sent["feedbackType"],
            sent.get("messageId") or None,
            sent.get("assistantResponse"),
            sent.get("comment") or "",
            sent.get("correction") or "",
            sent.get("metadata"),
        )
        feedback = store_feedback(
            sent["conversationId"], owner.workspace_id, PARTICIPANT, feedback_input, any_id=compat
        )
        return Response(
            {
                "success": True,
                "feedbackId": feedback.pk,
                "capturedQueryKnowledgeCount": 0,
                "capturedUserQueryKnowledgeCount": 0,
                "embeddedUserQueryKnowledgeCount": 0,
                "message": "Feedback saved.",
            },
            status=200 if compat else 201,
        )
