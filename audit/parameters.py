"""Query parameters of the audit endpoints: read, or refused by name."""

import re
import uuid
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Self

from rest_framework.request import Request

from audit import reach
from audit.queries import EventFilter, conversation_of
from convengine.api.models import CeApiKey
from convengine.domain.text import storable
from convengine.errors import ConversationNotFound, RequestInvalid
from convengine.sessions.models import CeConversation

_CURSOR = re.compile(r"^([ab])(\d{1,9})\.(\d{1,9})$")


@dataclass(frozen=True)
class Shown:
    """What of whole events is shown, beyond what a filter of stored ones can say."""

    #: Class names of steps; none admits all events, those outside of steps too.
    steps: frozenset[str] = frozenset()
    #: Params, context and session at every event.
    full_meta: bool = False


@dataclass(frozen=True)
class Cursor:
    """A place in a conversation's events: after or before (turn, seq)."""

    after: bool
    place: tuple[int, int]

    @classmethod
    def read(cls, text: str | None) -> Self | None:
        """Raises RequestInvalid for a text that no page gave out."""
        if not text:
            return None
        match = _CURSOR.match(text)
        if match is None:
            raise RequestInvalid(fields={"cursor": [f"{text!r} is no cursor of this endpoint; take it from a page."]})
        return cls(match[1] == "a", (int(match[2]), int(match[3])))

    def __str__(self) -> str:
        return f"{'a' if self.after else 'b'}{self.place[0]}.{self.place[1]}"


def conversation(request: Request, conversation_id: str) -> CeConversation:
    """The conversation, if the key of the call reads it. Raises RequestInvalid, ConversationNotFound."""
    assert isinstance(request.auth, CeApiKey)  # HasScope saw to it.
    try:
        wanted = uuid.UUID(conversation_id)
    except ValueError:
        raise RequestInvalid(
            fields={"conversationId": [f"{conversation_id!r} is no UUID; take it from an answer."]}
        ) from None
    found = conversation_of(wanted, request.auth.workspace_id)
    if found is None or not reach.may_read(request.auth, found):
        raise ConversationNotFound()
    return found


def event_filter(request: Request) -> EventFilter:
    """The filter that `turn`, `stage`, `from`, `to` and `q` ask for. Raises RequestInvalid."""
    given = request.query_params
    if given.get("q") and not reach.sees_prompts(request):
        # What is found tells of what is masked.
        raise RequestInvalid(fields={"q": ["Only for keys with the scope audit."]})
    return EventFilter(
        turn_no=whole_number(request, "turn"),
        stages=tuple(map(storable, given.getlist("stage"))),
        since=_time(request, "from"),
        until=_time(request, "to"),
        text=storable(given.get("q", "")),
    )


def shown(request: Request) -> Shown:
    """What `step` and `expand` ask for. Raises RequestInvalid."""
    given = request.query_params
    expand = given.get("expand") or ""
    if expand not in ("", "meta"):
        raise RequestInvalid(fields={"expand": [f"There is no {expand!r}. Known: meta."]})
    if expand and whole(request):
        raise RequestInvalid(fields={"expand": ["Not with ?page=off: take pages, by ?cursor= from `next`."]})
    return Shown(frozenset(name for name in given.getlist("step") if name), bool(expand))


def whole(request: Request) -> bool:
    """True for `?page=off`. Raises RequestInvalid for any other page: there are cursors, not numbers."""
    text = request.query_params.get("page")
    if text not in (None, "", "off"):
        raise RequestInvalid(fields={"page": [f"{text!r} is no page; use ?page=off, or ?cursor= from `next`."]})
    return text == "off"


def whole_number(request: Request, name: str, minimum: int = 1) -> int | None:
    """A number, or null when absent. Raises RequestInvalid."""
    text = request.query_params.get(name)
    return None if text is None or text == "" else number(text, name, minimum)


def number(text: str, name: str, minimum: int = 1) -> int:
    """A number as it stands in an address. Raises RequestInvalid, which calls it by its name."""
    if not text.isdecimal() or len(text) > 10 or not minimum <= int(text) < 2**31:
        raise RequestInvalid(fields={name: [f"{text!r} is not a whole number from {minimum} to {2**31 - 1}."]})
    return int(text)


def page_size(request: Request, usual: int, most: int) -> int:
    """How many a page is to have, by `limit`. Raises RequestInvalid."""
    limit = whole_number(request, "limit") or usual
    if limit > most:
        raise RequestInvalid(fields={"limit": [f"{limit} is more than a page has: at most {most}."]})
    return limit


def required_number(request: Request, name: str) -> int:
    """A number that must be there. Raises RequestInvalid."""
    value = whole_number(request, name)
    if value is None:
        raise RequestInvalid(fields={name: [f"Say which: ?{name}=1."]})
    return value


def _time(request: Request, name: str) -> datetime | None:
    text = request.query_params.get(name)
    if not text:
        return None
    try:
        value = datetime.fromisoformat(text)
    except ValueError:
        raise RequestInvalid(fields={name: [f"{text!r} is no ISO 8601 time, such as 2026-01-31T12:00:00Z."]}) from None
    return value if value.tzinfo else value.replace(tzinfo=UTC)
