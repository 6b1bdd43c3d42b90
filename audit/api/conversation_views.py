"""Views of a conversation: its state, its turns, and the trace of one turn (api-and-audit 2)."""

from typing import Any

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from audit.api import parameters
from audit.api.access_scope import OwnScopeMixin
from audit.api.parameters import Cursor
from audit.api.serializers import TraceSerializer
from audit.record import queries
from audit.record.queries import sum_call_costs
from audit.record.step_timeline import read_turn_trace
from audit.record.turn_record import TurnRecordSerializer
from convengine.engine.errors import ConversationNotFound
from convengine.engine.redaction import Redaction
from convengine.engine.turn.enums import Lifecycle
from convengine.server.api.serializers import FailureSerializer, IsoDateTimeField
from convengine.server.app_interfaces import configuration

PAGE_SIZE, MAX_PAGE_SIZE = 50, 200
_NUMBER = {"type": "integer", "minimum": 1, "maximum": 2**31 - 1}
_ID = OpenApiParameter("conversation_id", OpenApiTypes.UUID, OpenApiParameter.PATH)
_FAILURES = dict.fromkeys((400, 401, 403, 404, 429), FailureSerializer)


class MaskedObjectField(serializers.DictField):
    """A stored JSON object without the values that events mask too. The context has the `redaction`."""

    def to_representation(self, value: Any) -> Any:
        return self.context["redaction"].document(value)


class ConversationSerializer(serializers.Serializer[Any]):
    """Where a conversation stands; values that the audit masks are masked."""

    conversationId = serializers.UUIDField(source="conversation.pk")
    status = serializers.CharField(source="conversation.status", help_text="RUNNING, or BLOCKED by a policy.")
    lifecycle = serializers.ChoiceField(source="conversation.lifecycle", choices=Lifecycle.choices())
    lifecycleDetail = MaskedObjectField(
        source="conversation.lifecycle_detail", help_text="The open question, the summary, or the reason of the end."
    )
    intent = serializers.CharField(source="conversation.intent_code")
    state = serializers.CharField(source="conversation.state_code")
    context = MaskedObjectField(source="conversation.context_json")  # type: ignore[assignment]
    channel = serializers.CharField(source="conversation.channel")
    participant = serializers.CharField(source="conversation.remote_jid")
    turnCount = serializers.IntegerField(source="conversation.turn_count", help_text="Turns that committed.")
    createdAt = IsoDateTimeField(source="conversation.created_at")
    updatedAt = IsoDateTimeField(source="conversation.updated_at")
    lastTurn = TurnRecordSerializer(allow_null=True)


class TurnPageSerializer(serializers.Serializer[Any]):
    """Turns, newest first; `next` and `previous` are cursors for the parameter `cursor`, null at an end."""

    next = serializers.CharField(allow_null=True)
    previous = serializers.CharField(allow_null=True)
    results = TurnRecordSerializer(many=True)


class ConversationView(OwnScopeMixin, APIView):
    """`GET /api/v1/conversation/{conversationId}`."""

    @extend_schema(
        operation_id="read_conversation", parameters=[_ID], responses={200: ConversationSerializer, **_FAILURES}
    )
    def get(self, request: Request, conversation_id: str) -> Response:
        """Where the conversation stands, and its last turn, which may have failed."""
        conversation = parameters.get_conversation(request, conversation_id)
        turns, _ = queries.read_turn_page(conversation.pk, 1)
        context = {"costs": sum_call_costs(turns), "redaction": Redaction.of(configuration().current())}
        answer = {"conversation": conversation, "lastTurn": turns[0] if turns else None}
        return Response(ConversationSerializer(answer, context=context).data)


class TurnsView(OwnScopeMixin, APIView):
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
                {"type": "integer", "minimum": 1, "maximum": MAX_PAGE_SIZE},
                description=f"Turns of a page, default {PAGE_SIZE}.",
            ),
        ],
        responses={200: TurnPageSerializer, **_FAILURES},
    )
    def get(self, request: Request, conversation_id: str) -> Response:
        """The turn records of the conversation, newest first, failed ones and those handled elsewhere too."""
        key = parameters.get_conversation(request, conversation_id).pk
        size = parameters.read_page_size(request, PAGE_SIZE, MAX_PAGE_SIZE)
        cursor = Cursor.read(request.query_params.get("cursor"))
        turn_no = cursor.position[0] if cursor else None
        newer = cursor is not None and cursor.after
        turns, more = queries.read_turn_page(key, size, None if newer else turn_no, turn_no if newer else None)
        older_end, newer_end = (turns[-1].turn_no, turns[0].turn_no) if turns else (None, None)
        page = {
            "next": _make_cursor(False, older_end) if newer or more else None,
            "previous": _make_cursor(True, newer_end) if cursor and (more or not newer) else None,
            "results": turns,
        }
        return Response(TurnPageSerializer(page, context={"costs": sum_call_costs(turns)}).data)


class TurnTraceView(OwnScopeMixin, APIView):
    """`GET /api/v1/conversation/{conversationId}/turns/{turnNo}/trace`."""

    @extend_schema(
        operation_id="read_turn_trace",
        parameters=[_ID, OpenApiParameter("turn_no", _NUMBER, OpenApiParameter.PATH)],
        responses={200: TraceSerializer, **_FAILURES},
    )
    def get(self, request: Request, conversation_id: str, turn_no: str) -> Response:
        """One turn as steps with their stages, in the shape of the conversation's trace.

        `turns` is empty for a turn without written events.
        """
        key = parameters.get_conversation(request, conversation_id).pk
        wanted = parameters.parse_number(turn_no, "turnNo")
        trace = read_turn_trace(key, wanted)
        if trace is None:
            raise ConversationNotFound(f"This conversation has no turn {wanted}.")
        return Response(trace)


def _make_cursor(after: bool, turn_no: int | None) -> Cursor | None:
    return None if turn_no is None else Cursor(after, (turn_no, 0))
