"""All events of a conversation, one JSON document a line, read some at a time (api-and-audit 3.3)."""

import uuid
from collections.abc import Iterable, Iterator
from typing import Any

from django.http import StreamingHttpResponse
from rest_framework.request import Request

from audit import parameters, queries, reach
from audit.expand import Event, expanded
from audit.models import CeAudit
from audit.parameters import Shown
from audit.queries import EventFilter
from audit.serializers import event_json
from audit.shown import place_of, whole_events
from convengine.api.parsers import OrjsonRenderer
from convengine.codec import dumps
from convengine.errors import RequestInvalid

NDJSON = "application/x-ndjson"
#: Events that are read at one go; fewer where each may need the whole turn in front of it.
MANY, FEW = 500, 100


class LinesRenderer(OrjsonRenderer):
    """What refuses such a call is one line too."""

    media_type = NDJSON
    format = "ndjson"


def lines_of(request: Request, conversation_id: str) -> StreamingHttpResponse:
    """The answer to a call that asks for lines. Raises RequestInvalid, ConversationNotFound."""
    key = parameters.conversation(request, conversation_id).pk
    wanted, shown = parameters.event_filter(request), parameters.shown(request)
    if request.query_params.get("cursor"):
        raise RequestInvalid(fields={"cursor": ["Not with lines, which have no pages: leave it out."]})
    found = events(key, wanted, shown)
    texts = (dumps(document) + "\n" for document in _documents(found, reach.sees_prompts(request)))
    name = f'attachment; filename="events-{key}.ndjson"'
    # A proxy that collects the answer would have its reader wait for the end.
    headers = {"Content-Disposition": name, "X-Accel-Buffering": "no"}
    return StreamingHttpResponse(texts, content_type=NDJSON, headers=headers)


def events(key: uuid.UUID, wanted: EventFilter, shown: Shown) -> Iterator[Event]:
    """Whole events in order of (turn, seq), then those outside of turns, which have neither turn nor step."""
    size = FEW if wanted.selective else MANY
    after, more = None, True
    while more:
        found = queries.page(key, wanted, after, size)
        yield from whole_events(found, shown)
        if more := found.more:
            after = place_of(found.rows[-1])
    if not shown.steps:
        outside = CeAudit.objects.filter(wanted.outside, conversation_id=key).order_by("audit_id")
        yield from (event for row in outside.iterator(MANY) for event in expanded([row]))


def _documents(found: Iterable[Event], prompts: bool) -> Iterator[dict[str, Any]]:
    for event in found:
        document = event_json(event)
        yield document if prompts else reach.without_prompts(document)
