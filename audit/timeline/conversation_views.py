"""Views of a conversation: its state, its turns, and the trace of one turn."""

from typing import Any

from drf_spectacular.utils import OpenApiParameter
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from audit.api import parameters
from audit.api.parameters import CONVERSATION_ID, CURSOR, NUMBER, Cursor
from audit.record import queries
from audit.record.model_calls import sum_call_costs
from audit.record.trace import read_turn_trace
from audit.timeline.event_views import OwnScopeMixin
from audit.timeline.serializers import TraceSerializer, TurnRecordSerializer
from convengine.engine.errors import ConversationNotFound
from convengine.engine.redaction import Redaction
from convengine.engine.turn.enums import Lifecycle
from convengine.server.api.base_view import ApiView
from convengine.server.api.schema import extend_schema
from convengine.server.api.serializers import IsoDateTimeField
from convengine.server.interfaces.configuration import configuration

PAGE_SIZE, MAX_PAGE_SIZE = 50, 200


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


class ConversationView(OwnScopeMixin, ApiView):
    """`GET /api/v1/conversation/{conversationId}`."""

    address = "^conversation/(?P<conversation_id>[^/]{32,45})$"

    @extend_schema(
        operation_id="getConversation", parameters=[CONVERSATION_ID], responses={200: ConversationSerializer}
    )
    def get(self, request: Request, conversation_id: str) -> Response:
        """Where the conversation stands, and its last turn, which may have failed."""
        conversation = parameters.get_conversation(request, conversation_id)
        turns, _ = queries.read_turn_page(conversation.pk, 1)
        context = {"costs": sum_call_costs(turns), "redaction": Redaction.of(configuration().current())}
        answer = {"conversation": conversation, "lastTurn": turns[0] if turns else None}
        return Response(ConversationSerializer(answer, context=context).data)


class TurnsView(OwnScopeMixin, ApiView):
    """`GET /api/v1/conversation/{conversationId}/turns`."""

    address = "conversation/<str:conversation_id>/turns"

    @extend_schema(
        operation_id="listTurns",
        parameters=[
            CONVERSATION_ID,
            CURSOR,
            OpenApiParameter(
                "limit",
                {**NUMBER, "maximum": MAX_PAGE_SIZE},
                description=f"Turns of a page, default {PAGE_SIZE}.",
            ),
        ],
        responses={200: TurnPageSerializer},
    )
    def get(self, request: Request, conversation_id: str) -> Response:
        """The turn records of the conversation, newest first. They include failed turns and turns handled elsewhere."""
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


class TurnTraceView(OwnScopeMixin, ApiView):
    """`GET /api/v1/conversation/{conversationId}/turns/{turnNo}/trace`."""

    address = "conversation/<str:conversation_id>/turns/<str:turn_no>/trace"

    @extend_schema(
        operation_id="getTurnTrace",
        parameters=[CONVERSATION_ID, OpenApiParameter("turn_no", NUMBER, OpenApiParameter.PATH)],
        responses={200: TraceSerializer},
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
