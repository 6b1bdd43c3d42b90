"""`/api/v1/handovers` and `/api/v1/conversation/{id}/handover/…`: what a help desk reads and does."""

from collections.abc import Callable
from typing import Any

from drf_spectacular.utils import OpenApiParameter
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from convengine.engine.errors import ConversationNotFound
from convengine.engine.turn.dialogue_state import DialogueState
from convengine.json_value import Json
from convengine.server.api.authentication import get_api_key
from convengine.server.api.models import CeApiKey
from convengine.server.api.schema import extend_schema
from convengine.server.api.serializers import ClosedSerializer
from convengine.server.api.transcript_view import (
    AFTER,
    EXAMPLE,
    TranscriptSerializer,
    read_transcript,
    read_turn_number,
)
from convengine.server.api.views import IDEMPOTENCY_KEY, idempotency_key
from convengine.server.api.workspace_view import WorkspaceView
from convengine.server.sessions.models import CeConversation
from convengine.server.threads.hand_over import MOST, answer_as_person, give_back, is_with_person, list_with_person
from convengine.server.turns.idempotency import find_answer

#: Of any key of the workspace, while a person has them.
_DESK = "desk"
_ID = OpenApiParameter("conversation_id", {"type": "string", "format": "uuid"}, OpenApiParameter.PATH)
_PARAMETERS = [_ID, IDEMPOTENCY_KEY]
_EXAMPLE = {
    "conversationId": "9bf7540a-b129-4685-a120-730e8a0cb94b",
    "turnId": "6f1e2d3c-4b5a-4978-8695-a4b3c2d1e0f1",
    "turnNo": 4,
}
_WITH_PERSON = {
    "conversationId": "9bf7540a-b129-4685-a120-730e8a0cb94b",
    "channel": "web",
    "participant": "9f3c1a",
    "updatedAt": "2026-11-27T10:15:00Z",
    "lastTurnNo": 4,
    "personAnswers": False,
}
_LONGEST = 10_000


class PersonMessageSerializer(ClosedSerializer):
    """What a person writes to the user."""

    text = serializers.CharField(max_length=_LONGEST, help_text="The user reads it as it is, without formatting.")
    author = serializers.CharField(
        max_length=100, required=False, default="", allow_blank=True, help_text="Who wrote it, for the record."
    )


class HandBackSerializer(PersonMessageSerializer):
    """The end of a hand-over."""

    text = serializers.CharField(
        max_length=_LONGEST, required=False, default="", allow_blank=True, help_text="A last text to the user."
    )


class StoredTurnSerializer(serializers.Serializer[Any]):
    """The turn that was stored."""

    conversationId = serializers.UUIDField()
    turnId = serializers.UUIDField()
    turnNo = serializers.IntegerField()


class WithPersonSerializer(serializers.Serializer[Any]):
    """A conversation that a person has."""

    conversationId = serializers.UUIDField(source="pk")
    channel = serializers.CharField()
    participant = serializers.CharField(source="remote_jid")
    updatedAt = serializers.DateTimeField(source="updated_at")
    lastTurnNo = serializers.IntegerField(source="last_turn_no")
    personAnswers = serializers.SerializerMethodField(help_text="Whether a person has written since the hand-over.")

    def get_personAnswers(self, row: CeConversation) -> bool:
        return DialogueState.read(row.context_json).person_answers


class HandOversSerializer(serializers.Serializer[Any]):
    """The conversations that a person has."""

    conversations = WithPersonSerializer(many=True)


class DeskView(WorkspaceView):
    """A view for keys of a help desk, and for those that may use the conversation anyway."""

    scope: tuple[str, ...] = ("sessions", _DESK)

    def session(self, request: Request, session_id: str) -> CeConversation:
        """The conversation of the address, as `WorkspaceView.session`; for `desk`, one that a person has.

        A repeated call is answered after it gave the conversation back.
        """
        key = get_api_key(request)
        row = self.find(request, session_id)
        if "sessions" in key.scopes and key.may_use(row.opened_by):
            return row
        if _DESK in key.scopes and (is_with_person(row) or self.was_answered(request, key)):
            return row
        raise ConversationNotFound("No person has a conversation with this ID.")

    @staticmethod
    def was_answered(request: Request, key: CeApiKey) -> bool:
        """Whether the call repeats one whose answer is stored."""
        if request.method != "POST":
            return False
        repeated = idempotency_key(request, key, request.path_info)
        return repeated is not None and find_answer(repeated) is not None

    def store(
        self,
        request: Request,
        conversation_id: str,
        serializer: type[PersonMessageSerializer],
        change: Callable[..., dict[str, Json]],
    ) -> Response:
        """The answer to a call with a text and its author."""
        given = self.read(serializer, request)
        row = self.session(request, conversation_id)
        key = idempotency_key(request, get_api_key(request), request.path_info)
        return Response(change(str(row.pk), row.workspace_id, given["text"], given["author"], key))


class HandOversView(DeskView):
    """`GET /api/v1/handovers`."""

    address = "handovers"
    scope = (_DESK,)

    @extend_schema(
        operation_id="listHandOvers",
        responses={200: HandOversSerializer},
        description=f"At most {MOST}, those that changed last first.",
        example={"response": {"conversations": [_WITH_PERSON]}},
    )
    def get(self, request: Request) -> Response:
        """The conversations of the workspace that a person has."""
        rows = list_with_person(self.workspace(request, None))
        return Response(HandOversSerializer({"conversations": rows}).data)


class PersonMessageView(DeskView):
    """`/api/v1/conversation/{id}/handover/messages`."""

    address = "conversation/<str:conversation_id>/handover/messages"

    @extend_schema(
        operation_id="listHandOverMessages",
        parameters=[_ID, AFTER],
        responses={200: TranscriptSerializer},
        example={"response": EXAMPLE | {"withPerson": True}},
    )
    def get(self, request: Request, conversation_id: str) -> Response:
        """What was said in the conversation, the newest 50 turns."""
        row, after = self.session(request, conversation_id), read_turn_number(request.query_params.get("after", "0"))
        return Response(read_transcript(str(row.pk), row.workspace_id, after))

    @extend_schema(
        operation_id="sendPersonMessage",
        parameters=_PARAMETERS,
        request=PersonMessageSerializer,
        responses={200: StoredTurnSerializer},
        example={"request": {"text": "I have found your parcel.", "author": "Ada"}, "response": _EXAMPLE},
    )
    def post(self, request: Request, conversation_id: str) -> Response:
        """Write to the user in place of the bot. From then on, a person has the conversation."""
        return self.store(request, conversation_id, PersonMessageSerializer, answer_as_person)


class HandBackView(DeskView):
    """`POST /api/v1/conversation/{id}/handover/end`."""

    address = "conversation/<str:conversation_id>/handover/end"

    @extend_schema(
        operation_id="closeHandOver",
        parameters=_PARAMETERS,
        request=HandBackSerializer,
        responses={200: StoredTurnSerializer},
        example={"request": {"author": "Ada"}, "response": _EXAMPLE},
    )
    def post(self, request: Request, conversation_id: str) -> Response:
        """Give the conversation back to the bot, which starts afresh with the next message."""
        return self.store(request, conversation_id, HandBackSerializer, give_back)
