"""Views that name a thread: find or make its session, and take a turn there."""

from functools import partial
from typing import Any

from drf_spectacular.utils import OpenApiParameter
from rest_framework.request import Request
from rest_framework.response import Response

from convengine.engine.turn.params import remove_reserved
from convengine.engine.turn.turn import TurnRequest
from convengine.server.api import session_serializers as serializers
from convengine.server.api import wire
from convengine.server.api.authentication import get_api_key
from convengine.server.api.models import CeApiKey
from convengine.server.api.schema import extend_schema
from convengine.server.api.views import CONTEXT, PREFER, idempotency_key, read_context_part, wants_no_wait
from convengine.server.api.workspace_view import WorkspaceView
from convengine.server.queued.models import CeQueuedMessage
from convengine.server.queued.queue import check_body, make_key, queue_message, runs_here
from convengine.server.sessions.models import CeConversation
from convengine.server.threads import external_changes
from convengine.server.threads.find_session import Thread, find_or_begin_session
from convengine.server.threads.known_preferences import check_preferences
from convengine.server.threads.take_message import take_message
from convengine.server.turns.answer import StoredAnswer, TurnAnswer, build_resolved_body
from convengine.server.turns.failure import error_body


class ResolveView(WorkspaceView):
    """`POST /api/v1/sessions/resolve`."""

    address = "sessions/resolve"

    @extend_schema(
        operation_id="resolveSession",
        request=serializers.ResolveSessionSerializer,
        responses={200: serializers.ResolvedSessionSerializer},
    )
    def post(self, request: Request) -> Response:
        """Find or make the session that a message belongs to."""
        given = self.read(serializers.ResolveSessionSerializer, request)
        resolved = find_or_begin_session(self._thread(request, given), given["user_message"])
        row = external_changes.get_session(resolved.session_id, given["workspace_id"])
        body = {"ok": True, **build_resolved_body(row, resolved.reason)}
        return Response(_hide_earlier_turns(get_api_key(request), body))

    def _thread(self, request: Request, given: dict[str, Any]) -> Thread:
        workspace = self.workspace(request, given["workspace_id"])
        return Thread(workspace, given["channel"], given["remote_jid"], get_api_key(request).prefix)


class MessageView(ResolveView):
    """`POST /api/v1/sessions/message`."""

    address = "sessions/message"

    @extend_schema(
        operation_id="sendSessionMessage",
        request=serializers.SendMessageSerializer,
        parameters=[
            CONTEXT,
            PREFER,
            OpenApiParameter(
                "Idempotency-Key",
                {"type": "string", "minLength": 1, "maxLength": 128},
                OpenApiParameter.HEADER,
                description="At most 128 characters. The same key and body within 24 hours returns the stored answer.",
            ),
        ],
        responses={200: serializers.MessageAnswerSerializer, 202: serializers.QueuedSessionMessageSerializer},
    )
    def post(self, request: Request) -> Response:
        """Find or make the session of a message, and get the engine's answer."""
        given = self.read(serializers.SendMessageSerializer, request)
        thread = self._thread(request, given)
        key = get_api_key(request)
        params, ignored = remove_reserved(given.get("input_params") or {}, may_approve="approve" in key.scopes)
        turn = TurnRequest(
            "",
            given["user_message"],
            params,
            tuple(ignored),
            channel=thread.channel,
            workspace_id=thread.workspace_id,
            preferences=check_preferences(given.get("preferences"), thread.workspace_id),
        )
        finish = partial(finish_message, key, read_context_part(request))
        call = idempotency_key(request, key)
        answer: TurnAnswer | StoredAnswer | CeQueuedMessage
        if wants_no_wait(request) and runs_here():
            answer = queue_message(turn, call or make_key(key.pk), key.prefix, thread)
        else:
            check_body(call)
            answer = take_message(thread, turn, call)
        if isinstance(answer, CeQueuedMessage):
            return Response(wire.describe_message(answer), status=202, headers=wire.build_queued_headers(answer))
        if isinstance(answer, StoredAnswer):
            return Response(finish(answer.body), headers={"X-Idempotent-Replay": "true"})
        error = answer.error
        headers = {"Retry-After": "1"} if error and error.recoverable else {}
        body = finish(answer.body)
        if error:
            body = {**error_body(error, answer.conversation_id), **body}
        return Response(body, status=error.status if error else 200, headers=headers)


def finish_message(key: CeApiKey, context: str, body: dict[str, Any]) -> dict[str, Any]:
    """The answer to a message of a thread, with what the key may read of it. The error of a failed one stays."""
    if "turn" not in body:
        return {"ok": False, **body}
    turn = wire.select_context(wire.select_parts(body["turn"], ()), context)
    return _hide_earlier_turns(key, {**body, "turn": turn})


def _hide_earlier_turns(key: CeApiKey, body: dict[str, Any]) -> dict[str, Any]:
    """The answer without what earlier turns left, if the key may not read the session.

    Any key of the workspace may go on with a session.
    """
    if key.openers is None:
        return body
    began = CeConversation.objects.filter(pk=body["session_id"]).values_list("opened_by", flat=True)
    if key.may_use(began.first()):
        return body
    session = {**body["session"], "context_summary": "", "lifecycle_detail": {}, "preferences": {}}
    turn = {"turn": wire.select_context(body["turn"], "none")} if "turn" in body else {}
    return {**body, "session": session, **turn}
