"""`GET /api/v1/conversation/message/{messageId}`: what became of a message whose caller did not wait."""

import uuid

from drf_spectacular.utils import OpenApiParameter
from rest_framework.exceptions import NotFound
from rest_framework.request import Request
from rest_framework.response import Response

from convengine.server.api import wire
from convengine.server.api.authentication import get_api_key
from convengine.server.api.base_view import ApiView
from convengine.server.api.schema import extend_schema
from convengine.server.api.serializers import QueuedMessageSerializer
from convengine.server.api.views import CONTEXT, INCLUDE, check_parts, finish_answer
from convengine.server.queued.models import CeQueuedMessage


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
            OpenApiParameter("message_id", {"type": "string", "format": "uuid"}, OpenApiParameter.PATH),
            INCLUDE,
            CONTEXT,
        ],
        responses={200: QueuedMessageSerializer},
    )
    def get(self, request: Request, message_id: uuid.UUID) -> Response:
        """What became of a message that was sent with `Prefer: respond-async`. Answers are kept for a day."""
        row = CeQueuedMessage.objects.filter(message_id=message_id, owner=str(get_api_key(request).pk)).first()
        if row is None:
            raise NotFound(f"There is no queued message {message_id} of this key.")
        answer = finish_answer(request, row.answer) if row.answer else None
        headers = {} if answer else {"Retry-After": "1"}
        return Response(wire.describe_message(row, answer), headers=headers)
