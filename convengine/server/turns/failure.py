"""The JSON of a failure: that of a turn, with a code and a text in place of an answer."""

from typing import Any

from django.urls import NoReverseMatch, reverse

from convengine.engine.errors import ConvEngineError, RequestInvalid


def find_help(code: str) -> str:
    """The address of the paragraph about a code. A host project without the manual has the one of the product."""
    try:
        return f"{reverse('manual_chapter', args=['errors'])}#{code}"
    except NoReverseMatch:
        return f"/docs/errors/#{code}"


def envelope(
    code: str, message: str, *, recoverable: bool = False, conversation_id: str | None = None, **more: Any
) -> dict[str, Any]:
    """The body of a failure before or around a turn."""
    return {
        "success": False,
        "conversationId": conversation_id,
        "intent": "ERROR",
        "state": "ERROR",
        "payload": None,
        "context": None,
        "errorCode": code,
        "recoverable": recoverable,
        "message": message,
        "help": find_help(code),
        **more,
    }


def error_body(error: ConvEngineError, conversation_id: str | None = None) -> dict[str, Any]:
    more = {"fields": error.fields, **error.meta} if isinstance(error, RequestInvalid) and error.fields else {}
    return envelope(error.code, error.message, recoverable=error.recoverable, conversation_id=conversation_id, **more)
