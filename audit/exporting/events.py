"""All events of a conversation, one JSON document a line, read a few turns at a time (api-and-audit 3.3)."""

import re
import uuid
from collections.abc import Iterable, Iterator
from typing import Any

from django.http import StreamingHttpResponse
from rest_framework.request import Request

from audit import parameters, queries, reach
from audit.expand import Event, expanded, in_steps
from audit.models import CeAudit
from audit.parameters import Shown
from audit.queries import EventFilter
from audit.serializers import event_json
from convengine.api.parsers import OrjsonRenderer
from convengine.codec import dumps
from convengine.errors import RequestInvalid

NDJSON = "application/x-ndjson"
#: Turns that are read at one go.
TURNS = 20


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
    for numbers in _turns(key, wanted):
        found = expanded(queries.whole_turns(key, numbers), shown.full_meta)
        yield from _wanted(in_steps(found, shown.steps) if shown.steps else found, wanted)
    if wanted.turn_no is None and not shown.steps:
        outside = CeAudit.objects.filter(conversation_id=key, turn_no=None).order_by("audit_id")
        alone = (event for row in outside.iterator(500) for event in expanded([row]))
        yield from _wanted(alone, wanted)


def _turns(key: uuid.UUID, wanted: EventFilter) -> Iterator[list[int]]:
    """The numbers of the turns that have events, some at a time."""
    if wanted.turn_no is not None:
        yield [wanted.turn_no]
        return
    numbers = CeAudit.objects.filter(conversation_id=key).order_by("turn_no").values_list("turn_no", flat=True)
    last = 0
    while found := list(numbers.filter(turn_no__gt=last).distinct()[:TURNS]):
        yield found
        last = found[-1]


def _documents(found: Iterable[Event], prompts: bool) -> Iterator[dict[str, Any]]:
    for event in found:
        document = event_json(event)
        yield document if prompts else reach.without_prompts(document)


def _wanted(found: Iterable[Event], wanted: EventFilter) -> Iterator[Event]:
    """As the filter says; told by what is in memory already."""
    pattern = re.compile("|".join(map(_pattern, wanted.stages)), re.IGNORECASE) if wanted.stages else None
    text = wanted.text.lower()
    for event in found:
        row = event.row
        if (
            (pattern is None or pattern.fullmatch(row.stage))
            and (wanted.since is None or row.created_at >= wanted.since)
            and (wanted.until is None or row.created_at <= wanted.until)
            # As it is stored, as in pages.
            and (not text or text in dumps(row.payload_json).lower())
        ):
            yield event


def _pattern(stage: str) -> str:
    if "*" in stage:
        return ".*".join(map(re.escape, stage.split("*")))
    # A bare name also admits `NAME (source)`; its case counts.
    return rf"(?-i:{re.escape(stage)}(?: \(.*)?)"
