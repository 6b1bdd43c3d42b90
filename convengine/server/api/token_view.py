"""Calls that make conversation tokens: a server lets the browser of one user take turns in one conversation, and
visitors of a page with the chat get one themselves, if the deployment serves visitors.
"""

import uuid
from typing import Any

from rest_framework import serializers
from rest_framework.exceptions import AuthenticationFailed, NotFound, PermissionDenied, Throttled
from rest_framework.request import Request
from rest_framework.response import Response

from convengine.engine.errors import ConversationNotFound, InputParamsTooLarge
from convengine.engine.turn.codec import dumps
from convengine.engine.turn.params import remove_reserved
from convengine.server.api.authentication import get_api_key, read_rate, require_key
from convengine.server.api.base_view import ApiView
from convengine.server.api.conversation_token import CHANNEL, RESUMABLE, ConversationToken, TokenExpired, get_own_origin
from convengine.server.api.models import CeApiKey
from convengine.server.api.schema import extend_schema
from convengine.server.api.serializers import (
    ClosedSerializer,
    StrictObjectField,
    StrictTextField,
    StrictUuidField,
)
from convengine.server.database import throttle
from convengine.server.deployment import conf
from convengine.server.deployment.client_address import find_client_address
from convengine.server.sessions.models import CeConversation

#: A token is a header of each call, and servers limit headers.
_MOST_BYTES = 2000
#: The answer of calls that make a token.
EXAMPLE = {
    "token": "WyI5YmY3NTQwYSJd:1wXREd:lqcmOugmp0EJjX_KfWx2KmKqqWVb",
    "conversationId": "9bf7540a-b129-4685-a120-730e8a0cb94b",
    "expiresAt": "2026-11-26T12:15:00Z",
}
_KEY = "Visitors of the chat"
#: The deployment settings that limit how many conversations begin at one address.
_LIMITS = ("CHAT_TOKEN_RATE", "CHAT_TOKEN_DAY_RATE")


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


class VisitorTokenSerializer(ClosedSerializer):
    """Which conversation goes on."""

    token = StrictTextField(
        required=False, help_text="The last token of the browser, at most a day old: its conversation goes on."
    )


class VisitorTokenView(ApiView):
    """`POST /api/v1/chat/token`."""

    address = "chat/token"
    authentication_classes = ()
    permission_classes = ()

    @extend_schema(
        operation_id="createVisitorToken",
        request=VisitorTokenSerializer,
        responses={200: TokenAnswerSerializer},
        auth=[],
        example={"request": {}, "response": EXAMPLE},
    )
    def post(self, request: Request) -> Response:
        """Make a conversation token for a page of this server, or of an origin in `CE_CHAT_ORIGINS`.

        Only where `CE_CHAT` is true. The conversations of visitors are those of the API key *Visitors of the chat*.
        """
        if not conf.get("CHAT"):
            raise NotFound(
                "This server gives visitors no tokens. Make them on your server (POST /api/v1/conversation/token), or "
                "set CE_CHAT=true."
            )
        origin = _check_origin(request)
        given: dict[str, Any] = VisitorTokenSerializer().run_validation(request.data)
        # Of all visitors: it is made for the first of them, and to revoke it ends the chat.
        keys = CeApiKey.objects.filter(name=_KEY, made_by=None).order_by("created")
        made = keys.first() or CeApiKey.objects.create_key(name=_KEY, scopes=["turns"])[0]
        key = require_key(str(made.prefix), "turns")
        conversation_id = find_conversation(key, given)
        if conversation_id is None:
            # It counts for its address in each window.
            address = find_client_address(request.META)
            for setting in _LIMITS:
                limit, seconds = read_rate(conf.get(setting))
                count, wait = throttle.count_call(f"chat token for:{address}:{seconds}", seconds)
                if count > limit:
                    raise Throttled(wait, "Too many conversations were started from this address.")
        return Response(ConversationToken(conversation_id or str(uuid.uuid4()), key.prefix, origin).describe())


def _check_origin(request: Request) -> str:
    """The origin of the page. Raises PermissionDenied for one that gets no token."""
    origin = str(request.META.get("HTTP_ORIGIN", ""))
    if origin not in (*conf.get("CHAT_ORIGINS"), get_own_origin(request)):
        if not origin:
            raise PermissionDenied("Calls without the header Origin cannot get a token: only pages in a browser can.")
        raise PermissionDenied(f"Pages from {origin} cannot get a token. Add the origin to CE_CHAT_ORIGINS.")
    return origin
