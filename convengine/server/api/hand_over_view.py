"""`/api/v1/conversation/{id}/handover/…`: what a help desk does in a conversation."""

from collections.abc import Callable
from typing import Any

from drf_spectacular.utils import OpenApiParameter
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from convengine.json_value import Json
from convengine.server.api.models import CeApiKey
from convengine.server.api.schema import extend_schema
from convengine.server.api.serializers import ClosedSerializer
from convengine.server.api.views import IDEMPOTENCY_KEY, idempotency_key
from convengine.server.api.workspace_view import WorkspaceView
from convengine.server.threads.hand_over import answer_as_person, give_back

_PARAMETERS = [
    OpenApiParameter("conversation_id", {"type": "string", "format": "uuid"}, OpenApiParameter.PATH),
    IDEMPOTENCY_KEY,
]
_EXAMPLE = {
    "conversationId": "9bf7540a-b129-4685-a120-730e8a0cb94b",
    "turnId": "6f1e2d3c-4b5a-4978-8695-a4b3c2d1e0f1",
    "turnNo": 4,
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


class PersonMessageView(WorkspaceView):
    """`POST /api/v1/conversation/{id}/handover/messages`."""

    address = "conversation/<str:conversation_id>/handover/messages"

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
        assert isinstance(request.auth, CeApiKey)  # Checked by HasScope.
        key = idempotency_key(request, request.auth, request.path_info)
        return Response(change(str(row.pk), row.workspace_id, given["text"], given["author"], key))


class HandBackView(PersonMessageView):
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
        """Give the conversation back to the bot, which begins anew with the next message."""
        return self.store(request, conversation_id, HandBackSerializer, give_back)
