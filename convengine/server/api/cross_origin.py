"""Pages of every origin may call what a conversation token serves: the token says which of them it is for."""

from typing import Any

from corsheaders.signals import check_request_enabled
from django.http import HttpRequest

_CALLS = frozenset(
    f"/api/v1/{address}"
    for address in ("chat/token", "conversation/message", "conversation/transcript", "conversation/feedback")
)


def is_called_by_browsers(sender: object, request: HttpRequest, **options: Any) -> bool:
    """Whether a browser may call the address from a page of any origin. No cookie counts there."""
    return request.path_info in _CALLS


check_request_enabled.connect(is_called_by_browsers)
