"""Conversation tokens: what a browser has in place of an API key. A token is for one conversation, and ends soon."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, Self

from django.core import signing
from django.http import HttpRequest
from rest_framework.exceptions import AuthenticationFailed, PermissionDenied
from rest_framework.request import Request

from convengine.json_value import Json

#: A token ends so long after it was signed. Each turn answers with a new one.
LIFETIME = timedelta(minutes=15)
#: For this long after signing, a server can make a new token for the same conversation from an ended one.
RESUMABLE = timedelta(days=1)
#: The header of a turn's answer with the new token.
HEADER = "X-Conversation-Token"
#: The channel of conversations whose token names none.
CHANNEL = "web"
_SALT = "convengine.conversation-token"
#: The calls of the chat; the first gives visitors their token.
_VISITORS = "/api/v1/chat/token"
_CALLS = frozenset(
    (_VISITORS, *(f"/api/v1/conversation/{name}" for name in ("message", "transcript", "feedback"))),
)


class TokenExpired(AuthenticationFailed):
    """A token that has ended."""

    default_detail = "This conversation token has expired. Ask your server for a new one, or reload the page."


@dataclass(frozen=True)
class ConversationToken:
    """What a token says. Its holder can read it, but not change it."""

    conversation_id: str
    #: The prefix of the API key that made it. Without that key, or its scope `turns`, the token ends.
    key_prefix: str
    #: Of the pages that may use it, such as `https://shop.example.com`.
    origin: str
    channel: str = CHANNEL
    #: What the server that made it knows of the user; part of every turn.
    input_params: Mapping[str, Json] = field(default_factory=dict)

    def sign(self) -> str:
        """The token as text."""
        content = [self.conversation_id, self.key_prefix, self.origin, self.channel, self.input_params]
        return signing.dumps(content, salt=_SALT, compress=True)

    def describe(self) -> dict[str, str]:
        """The answer of calls that make a token."""
        ends = datetime.now(UTC) + LIFETIME
        return {
            "token": self.sign(),
            "conversationId": self.conversation_id,
            "expiresAt": ends.isoformat(timespec="seconds"),
        }

    @classmethod
    def read(cls, text: str, age: timedelta = LIFETIME) -> Self:
        """Raises TokenExpired for a token of a greater age, AuthenticationFailed for anything but a token of ours."""
        try:
            return cls(*signing.loads(text, salt=_SALT, max_age=age))
        except signing.SignatureExpired:
            raise TokenExpired from None
        except (signing.BadSignature, TypeError):
            raise AuthenticationFailed("This is not a conversation token of this server.") from None

    def check_page(self, request: HttpRequest | Request) -> None:
        """Raises PermissionDenied for a call of a page that has another origin, or of none."""
        origin = request.META.get("HTTP_ORIGIN")
        # Browsers name no origin when a page reads from its own server.
        is_own = request.META.get("HTTP_SEC_FETCH_SITE") == "same-origin"
        if origin == self.origin or (origin is None and is_own and self.origin == get_own_origin(request)):
            return
        caller = f"a page of {origin}" if origin else "no page"
        raise PermissionDenied(f"This conversation token is for pages of {self.origin}. The call comes from {caller}.")

    def check_conversation(self, conversation_id: object) -> None:
        """Raises PermissionDenied for another conversation."""
        if str(conversation_id) != self.conversation_id:
            raise PermissionDenied(f"This conversation token is for the conversation {self.conversation_id} only.")


def get_own_origin(request: HttpRequest | Request) -> str:
    """The origin of pages of this server, as the caller addressed it: scheme, host and port."""
    return f"{request.scheme}://{request.get_host()}"


def is_token(text: str) -> bool:
    """Whether credentials are a token: API keys have no colon."""
    return ":" in text


def is_of_a_chat(sender: object, request: HttpRequest, **options: Any) -> bool:
    """Whether a page of any origin may make the call and read its answer. No cookie counts in these calls."""
    if request.path_info not in _CALLS:
        return False
    # A browser asks beforehand, without the token.
    is_question = request.method == "OPTIONS"
    return is_question or request.path_info == _VISITORS or is_token(request.META.get("HTTP_AUTHORIZATION", ""))
