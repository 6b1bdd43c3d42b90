"""Reading a conversation: where it stands, its turns, and the trace of one of them (api-and-audit 2)."""

from typing import Any

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from audit import parameters, queries
from audit.finding.results import costs
from audit.parameters import Cursor
from audit.reach import OwnToo
from audit.serializers import TraceSerializer
from audit.turn_record import TurnRecordSerializer, record_json
from audit.turn_trace import turn_trace
from convengine import conf
from convengine.api.serializers import FailureSerializer
from convengine.domain.enums import Lifecycle
from convengine.errors import ConversationNotFound
from convengine.rules.redacting import Redaction
from convengine.sessions.models import CeConversation

PAGE, MOST = 50, 200
_NUMBER = {"type": "integer", "minimum": 1, "maximum": 2**31 - 1}
_ID = OpenApiParameter("conversation_id", OpenApiTypes.UUID, OpenApiParameter.PATH)
_FAILURES = dict.fromkeys((400, 401, 403, 404, 429), FailureSerializer)


class ConversationSerializer(serializers.Serializer[Any]):
    """Where a conversation stands; values that the audit masks are masked."""

    conversationId = serializers.UUIDField()
    status = serializers.CharField(help_text="RUNNING, or BLOCKED by a policy.")
    lifecycle = serializers.ChoiceField(choices=Lifecycle.choices())
    lifecycleDetail = serializers.DictField(help_text="The open question, the summary, or the reason of the end.")
    intent = serializers.CharField()
    state = serializers.CharField()
    context = serializers.DictField()  # type: ignore[assignment]
    channel = serializers.CharField()
    participant = serializers.CharField()
    turnCount = serializers.IntegerField(help_text="Turns that committed.")
    createdAt = serializers.DateTimeField()
    updatedAt = serializers.DateTimeField()
    lastTurn = TurnRecordSerializer(allow_null=True)


class TurnPageSerializer(serializers.Serializer[Any]):
    """Turns, newest first; `next` and `previous` are cursors for the parameter `cursor`, null at an end."""

    next = serializers.CharField(allow_null=True)
    previous = serializers.CharField(allow_null=True)
    results = TurnRecordSerializer(many=True)


class ConversationView(OwnToo, APIView):
    """`GET /api/v1/conversation/{conversationId}`."""

    @extend_schema(
        operation_id="read_conversation", parameters=[_ID], responses={200: ConversationSerializer, **_FAILURES}
    )
    def get(self, request: Request, conversation_id: str) -> Response:
        """Where the conversation stands, and its last turn, which may have failed."""
        found = parameters.conversation(request, conversation_id)
        turns, _ = queries.turn_page(found.pk, 1)
        spent = costs(turns)
        last = [record_json(turn, spent.get(turn.turn_id)) for turn in turns]
        return Response({**_conversation_json(found), "lastTurn": last[0] if last else None})


class TurnsView(OwnToo, APIView):
    """`GET /api/v1/conversation/{conversationId}/turns`."""

    @extend_schema(
        operation_id="list_turns",
        parameters=[
            _ID,
            OpenApiParameter(
                "cursor",
                {"type": "string", "pattern": r"^[ab]\d{1,9}\.\d{1,9}$"},
                description="From `next` or `previous` of a page.",
            ),
            OpenApiParameter(
                "limit",
                {"type": "integer", "minimum": 1, "maximum": MOST},
                description=f"Turns of a page, default {PAGE}.",
            ),
        ],
        responses={200: TurnPageSerializer, **_FAILURES},
    )
    def get(self, request: Request, conversation_id: str) -> Response:
        """The turn records of the conversation, newest first, failed ones and those handled elsewhere too."""
        key = parameters.conversation(request, conversation_id).pk
        size = parameters.page_size(request, PAGE, MOST)
        cursor = Cursor.read(request.query_params.get("cursor"))
        turn_no = cursor.place[0] if cursor else None
        newer = cursor is not None and cursor.after
        turns, more = queries.turn_page(key, size, None if newer else turn_no, turn_no if newer else None)
        spent = costs(turns)
        older_end, newer_end = (turns[-1].turn_no, turns[0].turn_no) if turns else (None, None)
        return Response(
            {
                "next": _cursor(False, older_end) if newer or more else None,
                "previous": _cursor(True, newer_end) if cursor and (more or not newer) else None,
                "results": [record_json(turn, spent.get(turn.turn_id)) for turn in turns],
            }
        )


class TurnTraceView(OwnToo, APIView):
    """`GET /api/v1/conversation/{conversationId}/turns/{turnNo}/trace`."""

    @extend_schema(
        operation_id="read_turn_trace",
        parameters=[_ID, OpenApiParameter("turn_no", _NUMBER, OpenApiParameter.PATH)],
        responses={200: TraceSerializer, **_FAILURES},
    )
    def get(self, request: Request, conversation_id: str, turn_no: str) -> Response:
        """One turn as steps with their stages, in the shape of the conversation's trace.

        `turns` is empty for a turn of which no event was written.
        """
        key = parameters.conversation(request, conversation_id).pk
        wanted = parameters.number(turn_no, "turnNo")
        found = turn_trace(key, wanted)
        if found is None:
            raise ConversationNotFound(f"This conversation has no turn {wanted}.")
        return Response(found)


def _conversation_json(row: CeConversation) -> dict[str, Any]:
    # What a key with this scope may not see of an event, it must not see here.
    masks = Redaction.of(conf.load("SNAPSHOT").current())
    return {
        "conversationId": str(row.pk),
        "status": row.status,
        "lifecycle": row.lifecycle,
        "lifecycleDetail": masks.document(row.lifecycle_detail),
        "intent": row.intent_code,
        "state": row.state_code,
        "context": masks.document(row.context_json),
        "channel": row.channel,
        "participant": row.remote_jid,
        "turnCount": row.turn_count,
        "createdAt": row.created_at.isoformat(),
        "updatedAt": row.updated_at.isoformat(),
    }


def _cursor(after: bool, turn_no: int | None) -> str | None:
    return None if turn_no is None else str(Cursor(after, (turn_no, 0)))
