"""Query parameters of the audit endpoints: parsed, or refused by name."""

import re
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Self

from django.forms import BaseForm
from rest_framework.request import Request

from audit.api import access_scope
from audit.record.queries import EventFilter
from convengine.engine.errors import RequestInvalid
from convengine.engine.text.times import parse_moment
from convengine.engine.text.whole_numbers import INTEGER, parse_whole_number
from convengine.server.api.authentication import get_api_key
from convengine.server.sessions.models import CeConversation

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
            raise RequestInvalid(
                fields={"cursor": [f"{text!r} is not a cursor of this endpoint. Use one from `next` or `previous`."]}
            )
        return cls(match[1] == "a", (int(match[2]), int(match[3])))

    def __str__(self) -> str:
        return f"{'a' if self.after else 'b'}{self.position[0]}.{self.position[1]}"


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


def read_event_filter(request: Request) -> EventFilter:
    """The filter of `turn`, `stage`, `step`, `from`, `to` and `q`. Raises RequestInvalid."""
    given = request.query_params
    if given.get("q") and not access_scope.sees_prompts(request):
        # Hits would reveal masked data.
        raise RequestInvalid(fields={"q": ["Only for keys with the scope audit."]})
    return EventFilter(
        turn_no=read_number(request, "turn"),
        stages=tuple(given.getlist("stage")),
        since=_read_time(request, "from"),
        until=_read_time(request, "to"),
        text=given.get("q", ""),
        steps=frozenset(filter(None, given.getlist("step"))),
    )


def is_meta_expanded(request: Request) -> bool:
    """True for `?expand=meta`: params, context and session in every event. Raises RequestInvalid."""
    expand = request.query_params.get("expand") or ""
    if expand not in ("", "meta"):
        raise RequestInvalid(fields={"expand": [f"Unknown value {expand!r}. Known: meta."]})
    if expand and is_unpaged(request):
        raise RequestInvalid(
            fields={"expand": ["It does not work with ?page=off. Use pages, with ?cursor= from `next`."]}
        )
    return bool(expand)


def is_unpaged(request: Request) -> bool:
    """True for `?page=off`. Raises RequestInvalid for other pages: there are cursors, not numbers."""
    text = request.query_params.get("page")
    if text not in (None, "", "off"):
        raise RequestInvalid(fields={"page": [f"{text!r} is not a page. Use ?page=off, or ?cursor= from `next`."]})
    return text == "off"


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


def _read_time(request: Request, name: str) -> datetime | None:
    text = request.query_params.get(name)
    if not text:
        return None
    try:
        return parse_moment(text)
    except ValueError as error:
        raise RequestInvalid(fields={name: [str(error)]}) from None
