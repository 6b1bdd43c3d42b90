"""Views of a conversation's record: events, trace, why, account."""

import uuid
from collections.abc import Iterator
from datetime import datetime
from typing import Any

from django.http import StreamingHttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse
from rest_framework.request import Request
from rest_framework.response import Response

from audit.api import access_scope, parameters
from audit.api.parameters import CONVERSATION_ID, CURSOR, NUMBER, Cursor
from audit.api.serializers import NDJSON, LinesRenderer
from audit.narration import narrate_turn
from audit.narration.decisions import FULL_LIMIT, build_decisions
from audit.narration.reading import read_message_of_turn
from audit.record import queries
from audit.record.events import Event, expand_events
from audit.record.prompts import strip_prompts
from audit.record.queries import EventFilter, EventPage, get_position
from audit.record.trace import build_steps, build_trace, describe_stage, group_events
from audit.timeline.serializers import (
    EventPageSerializer,
    EventSerializer,
    TraceSerializer,
    TurnAccountSerializer,
    TurnDecisionsSerializer,
)
from convengine.engine.errors import ConversationNotFound, RequestInvalid
from convengine.engine.text.times import parse_moment
from convengine.engine.turn.codec import dumps
from convengine.engine.turn.snapshot import Snapshot
from convengine.server.api.base_view import ApiView
from convengine.server.api.parsers import OrjsonRenderer
from convengine.server.api.schema import extend_schema
from convengine.server.interfaces.configuration import configuration
from convengine.server.sessions.models import CeConversationHistory


class OwnScopeMixin:
    """A view for keys with either scope."""

    scope = (access_scope.SCOPE_WORKSPACE, access_scope.SCOPE_OWN)

    def finalize_response(self, request: Request, response: Any, *args: Any, **kwargs: Any) -> Any:
        """The answer, without prompts for keys with `own_audit`."""
        if isinstance(response, Response) and not response.exception and not access_scope.sees_prompts(request):
            response.data = strip_prompts(response.data)
        return super().finalize_response(request, response, *args, **kwargs)  # type: ignore[misc]


#: Events per batch; fewer if each may need the whole turn before it.
PAGE_SIZE, SELECTIVE_PAGE_SIZE = 500, 100
#: Has no state of a request, so one serves all lines.
_EVENTS = EventSerializer()


def stream_event_lines(request: Request, conversation_id: str) -> StreamingHttpResponse:
    """The answer to a call for lines. Raises RequestInvalid, ConversationNotFound."""
    key = parameters.get_conversation(request, conversation_id).pk
    wanted, full_meta = _read_event_filter(request), _is_meta_expanded(request)
    if request.query_params.get("cursor"):
        raise RequestInvalid(fields={"cursor": ["Lines have no pages. Leave the cursor out."]})
    events = iterate_events(key, wanted, full_meta)
    sees_prompts, documents = access_scope.sees_prompts(request), map(_EVENTS.to_representation, events)
    texts = (dumps(document if sees_prompts else strip_prompts(document)) + "\n" for document in documents)
    name = f'attachment; filename="events-{key}.ndjson"'
    # A proxy that buffers the answer would make its reader wait for the end.
    headers = {"Content-Disposition": name, "X-Accel-Buffering": "no"}
    return StreamingHttpResponse(texts, content_type=NDJSON, headers=headers)


def iterate_events(key: uuid.UUID, wanted: EventFilter, full_meta: bool) -> Iterator[Event]:
    """Whole events in order of (turn, seq), then those outside of turns."""
    size = SELECTIVE_PAGE_SIZE if wanted.selective else PAGE_SIZE
    after, more = None, True
    while more:
        page = queries.read_page(key, wanted, size, after=after)
        yield from expand_page(page, full_meta)
        if more := page.more:
            after = get_position(page.rows[-1])
    yield from queries.expand_outside(key, wanted)


def expand_page(page: EventPage, full_meta: bool) -> list[Event]:
    """The wanted rows as whole events, computed from the first event of each of their turns."""
    wanted = set(map(get_position, page.rows))
    return [event for event in expand_events(page.whole, full_meta) if get_position(event.row) in wanted]


_PAGE = 500
#: Filtered pages are smaller, because each event may need the whole turn before it.
_FILTERED_PAGE = 100
#: The context of a conversation may be large, and occurs three times in each event.
_FULL_META_PAGE = 50
_MAX_UNPAGED = 20_000
_TURNS = 50
_TURN = OpenApiParameter("turn", NUMBER, description="Only this turn.")


class EventsView(OwnScopeMixin, ApiView):
    """`GET /api/v1/conversation/audit/{conversationId}`."""

    address = "conversation/audit/<str:conversation_id>"

    renderer_classes = [OrjsonRenderer, LinesRenderer]

    @extend_schema(
        operation_id="listEvents",
        parameters=[
            CONVERSATION_ID,
            _TURN,
            OpenApiParameter("stage", str, many=True, description="Stage names. * matches any characters."),
            OpenApiParameter(
                "step", str, many=True, description="Class names of steps; a page may have few events then."
            ),
            OpenApiParameter("from", OpenApiTypes.DATETIME, description="Events since."),
            OpenApiParameter("to", OpenApiTypes.DATETIME, description="Events until."),
            OpenApiParameter("q", str, description="Text in the payload."),
            OpenApiParameter(
                "expand", str, enum=["meta"], description="meta: params, context and session at every event."
            ),
            CURSOR,
        ],
        responses={
            (200, "application/json"): EventPageSerializer,
            (200, NDJSON): OpenApiResponse(EventSerializer, "One event a line."),
        },
    )
    def get(self, request: Request, conversation_id: str) -> Response | StreamingHttpResponse:
        """The stored events in the order in which they happened.

        `?page=off` gives all of them at once as an array, at most 20,000; `?compat=1` gives the original's array, with
        `payloadJson` as JSON text. With `Accept: application/x-ndjson` all are sent, however many, one a line.
        """
        if isinstance(request.accepted_renderer, LinesRenderer):
            return stream_event_lines(request, conversation_id)
        if _is_compat(request):
            key_or_none = _find_original_key(request, conversation_id)
            return Response(_list_raw_events(key_or_none) if key_or_none else [])
        key = parameters.get_conversation(request, conversation_id).pk
        wanted, full_meta = _read_event_filter(request), _is_meta_expanded(request)
        if _is_unpaged(request):
            events = expand_page(queries.read_page(key, wanted, _MAX_UNPAGED), full_meta)
            return Response(EventSerializer(events, many=True).data)
        size = _FULL_META_PAGE if full_meta else _FILTERED_PAGE if wanted.selective else _PAGE
        cursor = Cursor.read(request.query_params.get("cursor"))
        if cursor is not None and not cursor.after:
            # The row of the request comes after it.
            page = queries.read_page(key, wanted, size, before=cursor.position)._replace(more=True)
        else:
            page = queries.read_page(key, wanted, size, after=cursor.position if cursor else None)
        rows = page.rows
        answer = {
            "next": Cursor(True, get_position(rows[-1])) if rows and page.more else None,
            "previous": Cursor(False, get_position(rows[0])) if rows and cursor else None,
            "results": expand_page(page, full_meta),
        }
        return Response(EventPageSerializer(answer).data)


class TraceView(OwnScopeMixin, ApiView):
    """`GET /api/v1/conversation/audit/{conversationId}/trace`."""

    address = "conversation/audit/<str:conversation_id>/trace"

    @extend_schema(
        operation_id="getTrace",
        parameters=[
            CONVERSATION_ID,
            _TURN,
            OpenApiParameter("before", NUMBER, description="Only turns before this number."),
        ],
        responses={200: TraceSerializer},
    )
    def get(self, request: Request, conversation_id: str) -> Response:
        """The newest turns, oldest first, as steps with their stages; `previous` leads to the turns before.

        `?compat=1` gives the original's document: the steps and stages of the whole conversation.
        """
        if _is_compat(request):
            key_or_none = _find_original_key(request, conversation_id)
            nothing = {"conversationId": conversation_id, "steps": [], "stages": []}
            return Response(_build_original_trace(key_or_none) if key_or_none else nothing)
        key = parameters.get_conversation(request, conversation_id).pk
        turn_no = parameters.read_number(request, "turn")
        if turn_no is not None:
            numbers, previous = [turn_no], None
        else:
            before = parameters.read_number(request, "before")
            numbers = queries.newest_turn_numbers(key, before, _TURNS)
            previous = numbers[0] if len(numbers) == _TURNS and numbers[0] > 1 else None
        events = expand_events(queries.read_turns(key, numbers))
        trace = build_trace(str(key), events, queries.read_records(key, numbers))
        return Response({**trace, "previous": previous})


class WhyView(ApiView):
    """`GET /api/v1/conversation/audit/{conversationId}/why?turn=N`."""

    address = "conversation/audit/<str:conversation_id>/why"
    scope = "audit"

    @extend_schema(
        operation_id="listTurnDecisions",
        parameters=[
            CONVERSATION_ID,
            OpenApiParameter("turn", NUMBER, required=True),
            OpenApiParameter(
                "limit", NUMBER, description="How many rows a decision lists: 1000 by default. The rest are counted."
            ),
        ],
        responses={200: TurnDecisionsSerializer},
    )
    def get(self, request: Request, conversation_id: str) -> Response:
        """For each decision of the turn every candidate row with its reason, stored or derived from the release."""
        key = parameters.get_conversation(request, conversation_id).pk
        turn_no = parameters.read_required_number(request, "turn")
        limit = parameters.read_number(request, "limit") or FULL_LIMIT
        events, snapshot = _read_turn(key, turn_no)
        answer = {
            "conversationId": key,
            "turnNo": turn_no,
            "configVersion": snapshot.config_version,
            "decisions": [decision.as_json() for decision in build_decisions(events, snapshot, limit)],
        }
        return Response(TurnDecisionsSerializer(answer).data)


class NarrationView(ApiView):
    """`GET /api/v1/conversation/audit/{conversationId}/account?turn=N`."""

    address = "conversation/audit/<str:conversation_id>/account"
    scope = "audit"

    @extend_schema(
        operation_id="getTurnAccount",
        parameters=[CONVERSATION_ID, OpenApiParameter("turn", NUMBER, required=True)],
        responses={200: TurnAccountSerializer},
    )
    def get(self, request: Request, conversation_id: str) -> Response:
        """What happened in the turn and why, as sentences. Each names the events and the rows that it is based on."""
        key = parameters.get_conversation(request, conversation_id).pk
        turn_no = parameters.read_required_number(request, "turn")
        events, snapshot = _read_turn(key, turn_no)
        record = CeConversationHistory.objects.filter(conversation_id=key, turn_no=turn_no).only("user_input").first()
        reading = read_message_of_turn(events, record.user_input if record else None, snapshot)
        account = {"turn": events[0].row, "sentences": narrate_turn(events), "reading": reading}
        return Response(TurnAccountSerializer(account).data)


def _read_turn(key: uuid.UUID, turn_no: int) -> tuple[list[Event], Snapshot]:
    """The whole events of a turn, and its release. Raises ConversationNotFound."""
    events = list(expand_events(queries.read_turns(key, [turn_no])))
    if not events:
        raise ConversationNotFound(f"This conversation has no turn {turn_no}.")
    return events, configuration().at(events[0].row.config_version or 0)


def _is_compat(request: Request) -> bool:
    return request.headers.get("X-ConvEngine-Compat") == "1" or request.query_params.get("compat") == "1"


def _find_original_key(request: Request, conversation_id: str) -> uuid.UUID | None:
    """The conversation for the original's answer. Returns None for an unknown one, which has no rows."""
    try:
        return parameters.get_conversation(request, conversation_id).pk
    except ConversationNotFound:
        return None


def _list_raw_events(conversation_id: uuid.UUID) -> list[dict[str, Any]]:
    """The original's answer: events by time, also those outside of turns, payloads as JSON text, without pages."""
    return [
        {
            "auditId": event.row.audit_id,
            "conversationId": str(conversation_id),
            "stage": event.row.stage,
            "payloadJson": dumps(event.payload),
            "createdAt": event.row.created_at.isoformat(),
        }
        for event in _read_events(conversation_id)
    ]


def _build_original_trace(conversation_id: uuid.UUID) -> dict[str, Any]:
    """The original's answer: steps with their stages, turn by turn, and all stages flat."""
    events = _read_events(conversation_id)
    steps = [step for of_turn in group_events(events).values() for step in build_steps(of_turn)]
    return {
        "conversationId": str(conversation_id),
        "steps": [{**step, "stages": [_trim_stage(stage) for stage in step["stages"]]} for step in steps],
        "stages": [_trim_stage(describe_stage(event)) for event in events],
    }


def _trim_stage(stage: dict[str, Any]) -> dict[str, Any]:
    return {name: stage[name] for name in ("auditId", "stage", "createdAt", "payload")}


def _read_events(conversation_id: uuid.UUID) -> list[Event]:
    """Whole events by time; simultaneous ones in the order of writing."""
    inside = queries.read_page(conversation_id, queries.EventFilter(), _MAX_UNPAGED).rows
    events = [*expand_events(inside), *queries.expand_outside(conversation_id, queries.EventFilter())]
    # The sort is stable.
    return sorted(events, key=lambda event: event.row.created_at)[:_MAX_UNPAGED]


def _read_event_filter(request: Request) -> EventFilter:
    """The filter of `turn`, `stage`, `step`, `from`, `to` and `q`. Raises RequestInvalid."""
    given = request.query_params
    if given.get("q") and not access_scope.sees_prompts(request):
        # Hits would reveal masked data.
        raise RequestInvalid(fields={"q": ["Only for keys with the scope audit."]})
    return EventFilter(
        turn_no=parameters.read_number(request, "turn"),
        stages=tuple(given.getlist("stage")),
        since=_read_time(request, "from"),
        until=_read_time(request, "to"),
        text=given.get("q", ""),
        steps=frozenset(filter(None, given.getlist("step"))),
    )


def _is_meta_expanded(request: Request) -> bool:
    """True for `?expand=meta`: params, context and session in every event. Raises RequestInvalid."""
    expand = request.query_params.get("expand") or ""
    if expand not in ("", "meta"):
        raise RequestInvalid(fields={"expand": [f"Unknown value {expand!r}. Known: meta."]})
    if expand and _is_unpaged(request):
        raise RequestInvalid(
            fields={"expand": ["It does not work with ?page=off. Use pages, with ?cursor= from `next`."]}
        )
    return bool(expand)


def _is_unpaged(request: Request) -> bool:
    """True for `?page=off`. Raises RequestInvalid for other pages: there are cursors, not numbers."""
    text = request.query_params.get("page")
    if text not in (None, "", "off"):
        raise RequestInvalid(fields={"page": [f"{text!r} is not a page. Use ?page=off, or ?cursor= from `next`."]})
    return text == "off"


def _read_time(request: Request, name: str) -> datetime | None:
    text = request.query_params.get(name)
    if not text:
        return None
    try:
        return parse_moment(text)
    except ValueError as error:
        raise RequestInvalid(fields={name: [str(error)]}) from None
