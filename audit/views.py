"""Reading a conversation's record: raw events, the step timeline, and why each row won or not (api-and-audit 3)."""

import uuid

from django.http import StreamingHttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from audit import original, parameters, queries
from audit.account import account
from audit.expand import expanded
from audit.exporting.events import NDJSON, LinesRenderer, lines_of
from audit.parameters import Cursor
from audit.reach import OwnToo
from audit.serializers import (
    AccountSerializer,
    EventPageSerializer,
    EventSerializer,
    TraceSerializer,
    WhySerializer,
    event_json,
)
from audit.shown import place_of, whole_events
from audit.timeline import trace
from audit.why import why
from convengine.api.parsers import OrjsonRenderer
from convengine.api.serializers import FailureSerializer
from convengine.errors import ConversationNotFound

_PAGE = 500
#: Filtered pages are smaller: each event may need the whole turn in front of it.
_FILTERED_PAGE = 100
#: The context of a conversation may be large, and is shown three times at each event.
_FULL_PAGE = 50
_WHOLE = 20_000
_TURNS = 50
_NUMBER = {"type": "integer", "minimum": 1, "maximum": 2**31 - 1}
_ID = OpenApiParameter("conversation_id", OpenApiTypes.UUID, OpenApiParameter.PATH)
_TURN = OpenApiParameter("turn", _NUMBER, description="Only this turn.")
_FAILURES = dict.fromkeys((400, 401, 403, 404, 429), FailureSerializer)
_CURSOR = {"type": "string", "pattern": r"^[ab]\d{1,9}\.\d{1,9}$"}


class EventsView(OwnToo, APIView):
    """`GET /api/v1/conversation/audit/{conversationId}`."""

    renderer_classes = [OrjsonRenderer, LinesRenderer]

    @extend_schema(
        operation_id="read_audit",
        parameters=[
            _ID,
            _TURN,
            OpenApiParameter("stage", str, many=True, description="Stage names; * stands for any characters."),
            OpenApiParameter(
                "step", str, many=True, description="Class names of steps; a page may have few events then."
            ),
            OpenApiParameter("from", OpenApiTypes.DATETIME, description="Events since."),
            OpenApiParameter("to", OpenApiTypes.DATETIME, description="Events until."),
            OpenApiParameter("q", str, description="Text in the payload."),
            OpenApiParameter(
                "expand", str, enum=["meta"], description="meta: params, context and session at every event."
            ),
            OpenApiParameter("cursor", _CURSOR, description="From `next` or `previous` of a page."),
        ],
        responses={
            (200, "application/json"): EventPageSerializer,
            (200, NDJSON): OpenApiResponse(EventSerializer, "One event a line."),
            **_FAILURES,
        },
    )
    def get(self, request: Request, conversation_id: str) -> Response | StreamingHttpResponse:
        """The stored events in the order in which they happened.

        `?page=off` gives all of them at once as an array, at most 20,000; `?compat=1` gives the original's array, with
        `payloadJson` as JSON text. With `Accept: application/x-ndjson` all are sent, however many, one a line.
        """
        if isinstance(request.accepted_renderer, LinesRenderer):
            return lines_of(request, conversation_id)
        if _compat(request):
            found_key = _original(request, conversation_id)
            return Response(original.raw(found_key) if found_key else [])
        key = parameters.conversation(request, conversation_id).pk
        wanted, shown = parameters.event_filter(request), parameters.shown(request)
        if parameters.whole(request):
            return Response(
                [event_json(event) for event in whole_events(queries.page(key, wanted, None, _WHOLE), shown)]
            )
        size = _FULL_PAGE if shown.full_meta else _FILTERED_PAGE if wanted.selective else _PAGE
        cursor = Cursor.read(request.query_params.get("cursor"))
        if cursor is not None and not cursor.after:
            # What it was asked from lies behind it.
            found = queries.page_before(key, wanted, cursor.place, size)._replace(more=True)
        else:
            found = queries.page(key, wanted, cursor.place if cursor else None, size)
        rows = found.rows
        return Response(
            {
                "next": str(Cursor(True, place_of(rows[-1]))) if rows and found.more else None,
                "previous": str(Cursor(False, place_of(rows[0]))) if rows and cursor else None,
                "results": [event_json(event) for event in whole_events(found, shown)],
            }
        )


class TraceView(OwnToo, APIView):
    """`GET /api/v1/conversation/audit/{conversationId}/trace`."""

    @extend_schema(
        operation_id="read_trace",
        parameters=[_ID, _TURN, OpenApiParameter("before", _NUMBER, description="Turns in front of this number.")],
        responses={200: TraceSerializer, **_FAILURES},
    )
    def get(self, request: Request, conversation_id: str) -> Response:
        """The newest turns, oldest first, as steps with their stages; `previous` leads to the turns before.

        `?compat=1` gives the original's document: the steps and stages of the whole conversation.
        """
        if _compat(request):
            found_key = _original(request, conversation_id)
            nothing = {"conversationId": conversation_id, "steps": [], "stages": []}
            return Response(original.trace(found_key) if found_key else nothing)
        key = parameters.conversation(request, conversation_id).pk
        turn_no = parameters.whole_number(request, "turn")
        if turn_no is not None:
            numbers, previous = [turn_no], None
        else:
            before = parameters.whole_number(request, "before")
            numbers = queries.newest_turns(key, before, _TURNS)
            previous = numbers[0] if len(numbers) == _TURNS and numbers[0] > 1 else None
        events = expanded(queries.whole_turns(key, numbers))
        found = trace(str(key), events, queries.records(key, numbers))
        return Response({**found, "previous": previous})


class WhyView(APIView):
    """`GET /api/v1/conversation/audit/{conversationId}/why?turn=N`."""

    scope = "audit"

    @extend_schema(
        operation_id="read_why",
        parameters=[
            _ID,
            OpenApiParameter("turn", _NUMBER, required=True),
            OpenApiParameter("limit", _NUMBER, description="Rows a decision, default 1000; the rest is counted."),
        ],
        responses={200: WhySerializer, **_FAILURES},
    )
    def get(self, request: Request, conversation_id: str) -> Response:
        """For each decision of the turn every candidate row with its reason, stored or derived from the release."""
        key = parameters.conversation(request, conversation_id).pk
        turn_no = parameters.required_number(request, "turn")
        limit = parameters.whole_number(request, "limit") or 1000
        events = list(expanded(queries.whole_turns(key, [turn_no])))
        if not events:
            raise ConversationNotFound(f"This conversation has no turn {turn_no}.")
        return Response({"conversationId": str(key), "turnNo": turn_no, **why(events, limit)})


class AccountView(APIView):
    """`GET /api/v1/conversation/audit/{conversationId}/account?turn=N`."""

    scope = "audit"

    @extend_schema(
        operation_id="read_account",
        parameters=[_ID, OpenApiParameter("turn", _NUMBER, required=True)],
        responses={200: AccountSerializer, **_FAILURES},
    )
    def get(self, request: Request, conversation_id: str) -> Response:
        """What happened in the turn and why, as sentences, each with the events and the rows that it rests on."""
        key = parameters.conversation(request, conversation_id).pk
        turn_no = parameters.required_number(request, "turn")
        events = list(expanded(queries.whole_turns(key, [turn_no])))
        if not events:
            raise ConversationNotFound(f"This conversation has no turn {turn_no}.")
        row = events[0].row
        return Response(
            {
                "conversationId": str(key),
                "turnNo": turn_no,
                "turnId": str(row.turn_id),
                "configVersion": row.config_version,
                "sentences": [sentence.as_json() for sentence in account(events)],
            }
        )


def _compat(request: Request) -> bool:
    return request.headers.get("X-ConvEngine-Compat") == "1" or request.query_params.get("compat") == "1"


def _original(request: Request, conversation_id: str) -> uuid.UUID | None:
    """The conversation whose rows the original's answer holds; null for one that there is not, which has none."""
    try:
        return parameters.conversation(request, conversation_id).pk
    except ConversationNotFound:
        return None
