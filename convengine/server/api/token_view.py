"""`POST /api/v1/conversation/token`: a server lets the browser of one user take turns in one conversation."""

import uuid
from typing import Any

from rest_framework import serializers
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.request import Request
from rest_framework.response import Response

from convengine.engine.errors import ConversationNotFound, InputParamsTooLarge
from convengine.engine.turn.codec import dumps
from convengine.engine.turn.params import remove_reserved
from convengine.server.api.authentication import get_api_key
from convengine.server.api.base_view import ApiView
from convengine.server.api.conversation_token import CHANNEL, RESUMABLE, ConversationToken, TokenExpired
from convengine.server.api.models import CeApiKey
from convengine.server.api.schema import extend_schema
from convengine.server.api.serializers import (
    ClosedSerializer,
    StrictObjectField,
    StrictTextField,
    StrictUuidField,
)
from convengine.server.sessions.models import CeConversation

#: A token is a header of each call, and servers limit headers.
_MOST_BYTES = 2000


#: The answer of calls that make a token.
EXAMPLE = {
    "token": "WyI5YmY3NTQwYSJd:1wXREd:lqcmOugmp0EJjX_KfWx2KmKqqWVb",
    "conversationId": "9bf7540a-b129-4685-a120-730e8a0cb94b",
    "expiresAt": "2026-11-26T12:15:00Z",
}


class ConversationTokenSerializer(ClosedSerializer):
    """Which pages may use the token, and for which conversation."""

    origin = serializers.RegexField(
        r"^https?://[^/?#@\\\s]{1,250}$",
        help_text="The scheme, host and port of the pages that may use the token.",
        error_messages={"invalid": "Send the origin of a page: scheme, host and port, as https://shop.example.com."},
    )
    conversationId = StrictUuidField(required=False, help_text="A stored conversation to go on with.")
    token = StrictTextField(
        required=False,
        help_text="The last token of the browser, at most a day old: the new one is for the same conversation. Without "
        "it and without `conversationId`, a new conversation begins.",
    )
    channel = serializers.RegexField(
        r"^[\w.-]{1,40}$",
        required=False,
        default=CHANNEL,
        help_text=f"The channel of a new conversation: `{CHANNEL}` by default.",
    )
    inputParams = StrictObjectField(
        required=False, help_text="What is known about the user. It is part of every turn. The browser can read it."
    )

    def validate_inputParams(self, value: dict[str, Any] | None) -> dict[str, Any]:
        """Raises InputParamsTooLarge, and ValidationError for a key of the engine."""
        params, refused = remove_reserved(value or {}, may_approve=False)
        if refused:
            raise serializers.ValidationError(f"{', '.join(refused)}: only the engine sets it. Leave it out.")
        if (size := len(dumps(params).encode())) > _MOST_BYTES:
            raise InputParamsTooLarge.of("inputParams", size, _MOST_BYTES, "JSON")
        return params


class TokenAnswerSerializer(serializers.Serializer[Any]):
    """A token for a browser."""

    token = serializers.CharField(help_text="Send it as `Authorization: Bearer <token>`.")
    conversationId = serializers.UUIDField()
    expiresAt = serializers.DateTimeField(help_text="Each turn answers with a new token (`X-Conversation-Token`).")


class TokenView(ApiView):
    """`POST /api/v1/conversation/token`."""

    address = "conversation/token"
    scope = "turns"

    @extend_schema(
        operation_id="createConversationToken",
        request=ConversationTokenSerializer,
        responses={200: TokenAnswerSerializer},
        example={
            "request": {"origin": "https://shop.example.com", "inputParams": {"customer": "C-17"}},
            "response": EXAMPLE,
        },
    )
    def post(self, request: Request) -> Response:
        """Make a token with which a browser takes turns in one conversation, reads it, and does nothing else."""
        key = get_api_key(request)
        given = ConversationTokenSerializer().run_validation(request.data)
        token = ConversationToken(
            find_conversation(key, given) or str(uuid.uuid4()),
            key.prefix,
            given["origin"],
            given["channel"],
            given.get("inputParams") or {},
        )
        return Response(token.describe())


def find_conversation(key: CeApiKey, given: dict[str, Any]) -> str | None:
    """The ID of the conversation that goes on; null where a new one begins.

    Raises ConversationNotFound for one that the key may not use, and ValidationError.
    """
    if text := given.get("token"):
        return _resume_conversation(text, key.prefix)
    if given.get("conversationId") is None:
        return None
    conversation = CeConversation.objects.filter(pk=given["conversationId"], workspace_id=key.workspace_id).first()
    if conversation is None or not key.may_use(conversation.opened_by):
        raise ConversationNotFound()
    return str(conversation.pk)


def _resume_conversation(text: str, key_prefix: str) -> str | None:
    """The conversation of the last token of a browser; null if that token is too old.

    Raises ValidationError for a text that is no token of this key.
    """
    try:
        earlier = ConversationToken.read(text, RESUMABLE)
    except TokenExpired:
        return None
    except AuthenticationFailed as refused:
        raise serializers.ValidationError({"token": [str(refused.detail)]}) from None
    if earlier.key_prefix != key_prefix:
        raise serializers.ValidationError({"token": ["Another API key made this token."]})
    return earlier.conversation_id
