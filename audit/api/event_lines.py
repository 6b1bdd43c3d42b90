"""All events of a conversation, one JSON document per line, read in batches (api-and-audit 3.3)."""

import uuid
from collections.abc import Iterable, Iterator
from typing import Any

from django.http import StreamingHttpResponse
from rest_framework.request import Request

from audit.api import access_scope, parameters
from audit.api.parameters import EventSelection
from audit.api.serializers import EventSerializer
from audit.models import CeAudit
from audit.record import queries
from audit.record.expand import Event, expand_events, select_steps
from audit.record.queries import EventFilter, EventPage, get_position
from convengine.engine.errors import RequestInvalid
from convengine.engine.turn.codec import dumps
from convengine.server.api.parsers import OrjsonRenderer

NDJSON = "application/x-ndjson"
#: Events per batch; fewer if each may need the whole turn before it.
PAGE_SIZE, SELECTIVE_PAGE_SIZE = 500, 100
#: Has no state of a request, so one serves all lines.
_EVENTS = EventSerializer()


class LinesRenderer(OrjsonRenderer):
    """An error of such a call is one line too."""

    media_type = NDJSON
    format = "ndjson"


def stream_event_lines(request: Request, conversation_id: str) -> StreamingHttpResponse:
    """The answer to a call for lines. Raises RequestInvalid, ConversationNotFound."""
    key = parameters.get_conversation(request, conversation_id).pk
    wanted, shown = parameters.read_event_filter(request), parameters.read_event_selection(request)
    if request.query_params.get("cursor"):
        raise RequestInvalid(fields={"cursor": ["Not with lines, which have no pages: leave it out."]})
    events = iterate_events(key, wanted, shown)
    texts = (dumps(document) + "\n" for document in _serialize_events(events, access_scope.sees_prompts(request)))
    name = f'attachment; filename="events-{key}.ndjson"'
    # A proxy that buffers the answer would make its reader wait for the end.
    headers = {"Content-Disposition": name, "X-Accel-Buffering": "no"}
    return StreamingHttpResponse(texts, content_type=NDJSON, headers=headers)


def iterate_events(key: uuid.UUID, wanted: EventFilter, shown: EventSelection) -> Iterator[Event]:
    """Whole events in order of (turn, seq), then those outside of turns."""
    size = SELECTIVE_PAGE_SIZE if wanted.selective else PAGE_SIZE
    after, more = None, True
    while more:
        page = queries.read_page(key, wanted, after, size)
        yield from expand_page(page, shown)
        if more := page.more:
            after = get_position(page.rows[-1])
    if not shown.steps:
        outside = CeAudit.objects.filter(wanted.outside, conversation_id=key).order_by("audit_id")
        yield from (event for row in outside.iterator(PAGE_SIZE) for event in expand_events([row]))


def _serialize_events(events: Iterable[Event], prompts: bool) -> Iterator[dict[str, Any]]:
    for event in events:
        document = _EVENTS.to_representation(event)
        yield document if prompts else access_scope.strip_prompts(document)


def expand_page(page: EventPage, shown: EventSelection) -> list[Event]:
    """The wanted rows as whole events, computed from the first event of each of their turns."""
    wanted = set(map(get_position, page.rows))
    events = expand_events(page.whole, shown.full_meta)
    if shown.steps:
        events = select_steps(events, shown.steps)
    return [event for event in events if get_position(event.row) in wanted]
