"""Pages of every origin may call with a conversation token, which says which of them it is for."""

from typing import Any

from corsheaders.signals import check_request_enabled
from django.http import HttpRequest

from convengine.server.api.conversation_token import is_token

_VISITORS = "/api/v1/chat/token"
_CALLS = frozenset(
    (_VISITORS, *(f"/api/v1/conversation/{name}" for name in ("message", "transcript", "feedback"))),
)


def is_of_a_chat(sender: object, request: HttpRequest, **options: Any) -> bool:
    """Whether a page of any origin may make the call and read its answer. No cookie counts in these calls."""
    if request.path_info not in _CALLS:
        return False
    # A browser asks beforehand, without the token.
    is_question = request.method == "OPTIONS"
    return is_question or request.path_info == _VISITORS or is_token(request.META.get("HTTP_AUTHORIZATION", ""))


check_request_enabled.connect(is_of_a_chat)
