"""Query parameters of the audit endpoints: parsed, or refused by name."""

import re
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

from django.forms import BaseForm
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter
from rest_framework.request import Request

from audit.api import access_scope
from convengine.engine.errors import RequestInvalid
from convengine.engine.text.whole_numbers import INTEGER, parse_whole_number
from convengine.server.api.authentication import get_api_key
from convengine.server.sessions.models import CeConversation

#: In the schema: a whole number from 1, the conversation of an address, and the position of a page.
NUMBER = {"type": "integer", "minimum": 1, "maximum": 2**31 - 1}
CONVERSATION_ID = OpenApiParameter("conversation_id", OpenApiTypes.UUID, OpenApiParameter.PATH)
CURSOR = OpenApiParameter(
    "cursor",
    {"type": "string", "pattern": r"^[ab]\d{1,9}\.\d{1,9}$"},
    description="The `next` or `previous` of another page.",
)
_CURSOR = re.compile(r"^([ab])(\d{1,9})\.(\d{1,9})$")


@dataclass(frozen=True)
class Cursor:
    """A position in a conversation's events: after or before (turn, seq)."""

    after: bool
    position: tuple[int, int]

    @classmethod
    def read(cls, text: str | None) -> Self | None:
        """Raises RequestInvalid for a text that no page gave out."""
        if not text:
            return None
        match = _CURSOR.match(text)
        if match is None:
            raise refuse_cursor(text)
        return cls(match[1] == "a", (int(match[2]), int(match[3])))

    def __str__(self) -> str:
        return f"{'a' if self.after else 'b'}{self.position[0]}.{self.position[1]}"


def refuse_cursor(text: str) -> RequestInvalid:
    """The error for a cursor that no page gave out."""
    message = f"{text!r} is not a cursor of this endpoint. Use one from `next` or `previous`."
    return RequestInvalid(fields={"cursor": [message]})


def get_conversation(request: Request, conversation_id: str) -> CeConversation:
    """The conversation, if the key of the call may read it. Raises RequestInvalid, ConversationNotFound."""
    return access_scope.find_readable_conversation(read_uuid(conversation_id, "conversationId"), get_api_key(request))


def read_uuid(text: str, name: str) -> uuid.UUID:
    """An id in an address. Raises RequestInvalid with its name."""
    try:
        return uuid.UUID(text)
    except ValueError:
        raise RequestInvalid(fields={name: [f"{text!r} is not a UUID. Use an ID from an answer."]}) from None


def read_choice(request: Request, name: str, choices: Sequence[str]) -> str:
    """The value of a parameter; blank if it is absent. Raises RequestInvalid for any other value."""
    text: str = request.query_params.get(name, "")
    if text and text not in choices:
        raise RequestInvalid(fields={name: [f"Must be one of {', '.join(choices)}."]})
    return text


def require_valid(form: BaseForm) -> None:
    """Raises RequestInvalid with the errors of a form."""
    if form.errors:
        raise RequestInvalid(fields={name: list(map(str, texts)) for name, texts in form.errors.items()})


def read_number(request: Request, name: str, minimum: int = 1) -> int | None:
    """A number, or null when absent. Raises RequestInvalid."""
    text = request.query_params.get(name)
    return None if text is None or text == "" else parse_number(text, name, minimum)


def parse_number(text: str, name: str, minimum: int = 1) -> int:
    """A number in an address. Raises RequestInvalid with its name."""
    number = parse_whole_number(text, INTEGER)
    if number is None or number < minimum:
        raise RequestInvalid(fields={name: [f"{text!r} is not a whole number from {minimum} to {INTEGER}."]})
    return number


def read_page_size(request: Request, usual: int, most: int) -> int:
    """The page size from `limit`. Raises RequestInvalid."""
    limit = read_number(request, "limit") or usual
    if limit > most:
        raise RequestInvalid(fields={"limit": [f"{limit} is too large. The maximum is {most}."]})
    return limit


def read_required_number(request: Request, name: str) -> int:
    """A required number. Raises RequestInvalid."""
    value = read_number(request, name)
    if value is None:
        raise RequestInvalid(fields={name: [f"The parameter {name} is missing. Example: ?{name}=1."]})
    return value
