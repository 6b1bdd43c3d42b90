"""Views that name a thread: find or make its session, and take a turn there (sessions 10)."""

from typing import Any

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from convengine.engine.turn.params import remove_reserved
from convengine.engine.turn.turn import TurnRequest
from convengine.server.api import session_serializers as wanted
from convengine.server.api.models import CeApiKey
from convengine.server.api.session_wire import answered_json, resolved_json, session_json
from convengine.server.api.views import idempotency_key
from convengine.server.api.workspace_view import FAILURES, WorkspaceView
from convengine.server.threads import external_changes
from convengine.server.threads.find_session import Thread, find_or_begin_session
from convengine.server.threads.known_preferences import check_preferences
from convengine.server.threads.take_message import take_message
from convengine.server.turns.take_turn import Replayed


class ResolveView(WorkspaceView):
    """`POST /api/v1/sessions/resolve`."""

    @extend_schema(
        operation_id="resolve_session",
        request=wanted.ResolveSerializer,
        responses={200: wanted.ResolvedSerializer, **FAILURES},
    )
    def post(self, request: Request) -> Response:
        """Find or make the session that a message belongs to."""
        given = self.read(wanted.ResolveSerializer, request)
        found = find_or_begin_session(self._thread(request, given), given["user_message"])
        return Response(
            resolved_json(found, session_json(external_changes.get_session(found.session_id, given["workspace_id"])))
        )

    def _thread(self, request: Request, given: dict[str, Any]) -> Thread:
        assert isinstance(request.auth, CeApiKey)  # Checked by HasScope.
        workspace = self.workspace(request, given["workspace_id"])
        return Thread(workspace, given["channel"], given["remote_jid"], request.auth.prefix)


class MessageView(ResolveView):
    """`POST /api/v1/sessions/message`."""

    @extend_schema(
        operation_id="send_session_message",
        request=wanted.MessageSerializer,
        parameters=[
            OpenApiParameter(
                "Idempotency-Key",
                {"type": "string", "minLength": 1, "maxLength": 128},
                OpenApiParameter.HEADER,
                description="At most 128 characters. The same key and body within 24 hours returns the stored answer.",
            )
        ],
        responses={
            200: wanted.AnsweredSerializer,
            **FAILURES,
            **dict.fromkeys((422, 500, 502, 504), wanted.SessionFailureSerializer),
        },
    )
    def post(self, request: Request) -> Response:
        """Find or make the session of a message, and get the engine's answer."""
        given = self.read(wanted.MessageSerializer, request)
        thread = self._thread(request, given)
        assert isinstance(request.auth, CeApiKey)  # Checked by HasScope.
        params, ignored = remove_reserved(given.get("input_params") or {})
        turn = TurnRequest(
            "",
            given["user_message"],
            params,
            tuple(ignored),
            channel=thread.channel,
            workspace_id=thread.workspace_id,
            preferences=check_preferences(given.get("preferences"), thread.workspace_id),
        )
        answer = take_message(
            thread, turn, idempotency_key(request, request.auth), lambda found: answered_json(thread, found)
        )
        if isinstance(answer, Replayed):
            return Response(answer.body, headers={"X-Idempotent-Replay": "true"})
        error = answer.turn.error
        headers = {"Retry-After": "1"} if error and error.recoverable else {}
        body = answered_json(thread, answer)
        if error:
            body |= {"errorCode": error.code, "message": error.message, "recoverable": error.recoverable}
        return Response(body, status=error.status if error else 200, headers=headers)
