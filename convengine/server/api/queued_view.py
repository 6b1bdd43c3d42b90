"""What became of a message whose caller did not wait: of a conversation, or of a thread."""

import uuid
from functools import partial
from typing import Any

from drf_spectacular.utils import OpenApiParameter
from rest_framework.exceptions import NotFound
from rest_framework.request import Request
from rest_framework.response import Response

from convengine.server.api import wire
from convengine.server.api.authentication import get_api_key
from convengine.server.api.base_view import ApiView
from convengine.server.api.schema import extend_schema
from convengine.server.api.serializers import QueuedMessageSerializer
from convengine.server.api.session_serializers import QueuedSessionMessageSerializer
from convengine.server.api.thread_views import finish_message
from convengine.server.api.views import CONTEXT, INCLUDE, check_parts, finish_answer, read_context_part
from convengine.server.api.workspace_view import WorkspaceView
from convengine.server.jobs.outbox import OutboxStatus
from convengine.server.queued.models import CeQueuedMessage

_MESSAGE_ID = OpenApiParameter("message_id", {"type": "string", "format": "uuid"}, OpenApiParameter.PATH)


class QueuedMessageView(ApiView):
    """`GET /api/v1/conversation/message/{messageId}`."""

    address = "conversation/message/<uuid:message_id>"
    scope = "turns"

    def check_permissions(self, request: Request) -> None:
        """The trace needs the scope of the audit as well."""
        super().check_permissions(request)
        check_parts(request)

    @extend_schema(
        operation_id="getQueuedMessage",
        parameters=[
            _MESSAGE_ID,
            INCLUDE,
            CONTEXT,
        ],
        responses={200: QueuedMessageSerializer},
    )
    def get(self, request: Request, message_id: uuid.UUID) -> Response:
        """What became of a message that was sent with `Prefer: respond-async`. Answers are kept for a day."""
        row = find_queued_message(request, message_id, is_of_thread=False)
        answer = finish_answer(request, row.answer) if row.answer else None
        return describe_queued(row, answer)


class QueuedSessionMessageView(WorkspaceView):
    """`GET /api/v1/sessions/message/{messageId}`."""

    address = "sessions/message/<uuid:message_id>"

    @extend_schema(
        operation_id="getQueuedSessionMessage",
        parameters=[_MESSAGE_ID, CONTEXT],
        responses={200: QueuedSessionMessageSerializer},
    )
    def get(self, request: Request, message_id: uuid.UUID) -> Response:
        """What became of a message of a thread that was sent with `Prefer: respond-async`."""
        row = find_queued_message(request, message_id, is_of_thread=True)
        finish = partial(finish_message, get_api_key(request), read_context_part(request))
        return describe_queued(row, finish(row.answer) if row.answer else None)


def find_queued_message(request: Request, message_id: uuid.UUID, *, is_of_thread: bool) -> CeQueuedMessage:
    """The message of the address. Raises NotFound, also for one of another key."""
    owned = CeQueuedMessage.objects.filter(owner=str(get_api_key(request).pk), thread__isnull=not is_of_thread)
    row = owned.filter(message_id=message_id).first()
    if row is None:
        raise NotFound(f"There is no queued message {message_id} of this key.")
    return row


def describe_queued(row: CeQueuedMessage, answer: dict[str, Any] | None) -> Response:
    """The message as the API gives it, with the time to ask again."""
    return Response(
        wire.describe_message(row, answer), headers={"Retry-After": "1"} if row.status == OutboxStatus.PENDING else {}
    )
