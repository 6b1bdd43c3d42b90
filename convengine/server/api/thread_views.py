"""Views that name a thread: find or make its session, and take a turn there (sessions 10)."""

from functools import partial
from typing import Any

from drf_spectacular.utils import OpenApiParameter
from rest_framework.request import Request
from rest_framework.response import Response

from convengine.engine.turn.params import remove_reserved
from convengine.engine.turn.scope import UNKNOWN
from convengine.engine.turn.turn import TurnRequest
from convengine.server.api import session_serializers as serializers
from convengine.server.api import wire
from convengine.server.api.errors import error_body
from convengine.server.api.models import CeApiKey
from convengine.server.api.schema import extend_schema
from convengine.server.api.views import CONTEXT, idempotency_key, read_context_part
from convengine.server.api.workspace_view import WorkspaceView
from convengine.server.sessions.models import CeConversation
from convengine.server.threads import external_changes
from convengine.server.threads.find_session import Thread, find_or_begin_session
from convengine.server.threads.known_preferences import check_preferences
from convengine.server.threads.take_message import ThreadAnswer, take_message
from convengine.server.turns.take_turn import Replayed

#: Has no request state, so one serves all; making a serializer copies its fields.
_ANSWERS = serializers.MessageAnswerSerializer()


class ResolveView(WorkspaceView):
    """`POST /api/v1/sessions/resolve`."""

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
        body = serializers.ResolvedSessionSerializer({"ok": True, "resolved": resolved, "session": row}).data
        assert isinstance(request.auth, CeApiKey)  # Checked by HasScope.
        return Response(_hide_earlier_turns(request.auth, dict(body)))

    def _thread(self, request: Request, given: dict[str, Any]) -> Thread:
        assert isinstance(request.auth, CeApiKey)  # Checked by HasScope.
        workspace = self.workspace(request, given["workspace_id"])
        return Thread(workspace, given["channel"], given["remote_jid"], request.auth.prefix)


class MessageView(ResolveView):
    """`POST /api/v1/sessions/message`."""

    @extend_schema(
        operation_id="sendSessionMessage",
        request=serializers.SendMessageSerializer,
        parameters=[
            CONTEXT,
            OpenApiParameter(
                "Idempotency-Key",
                {"type": "string", "minLength": 1, "maxLength": 128},
                OpenApiParameter.HEADER,
                description="At most 128 characters. The same key and body within 24 hours returns the stored answer.",
            ),
        ],
        responses={200: serializers.MessageAnswerSerializer},
    )
    def post(self, request: Request) -> Response:
        """Find or make the session of a message, and get the engine's answer."""
        given = self.read(serializers.SendMessageSerializer, request)
        thread = self._thread(request, given)
        assert isinstance(request.auth, CeApiKey)  # Checked by HasScope.
        params, ignored = remove_reserved(given.get("input_params") or {}, may_approve="approve" in request.auth.scopes)
        turn = TurnRequest(
            "",
            given["user_message"],
            params,
            tuple(ignored),
            channel=thread.channel,
            workspace_id=thread.workspace_id,
            preferences=check_preferences(given.get("preferences"), thread.workspace_id),
        )
        write = partial(_write_answer, thread)
        finish = partial(_finish, request.auth, read_context_part(request))
        answer = take_message(thread, turn, idempotency_key(request, request.auth), write)
        if isinstance(answer, Replayed):
            return Response(finish(answer.body), headers={"X-Idempotent-Replay": "true"})
        error = answer.turn.error
        headers = {"Retry-After": "1"} if error and error.recoverable else {}
        body = finish(write(answer))
        if error:
            body = {**error_body(error, answer.turn.conversation_id), **body}
        return Response(body, status=error.status if error else 200, headers=headers)


def _finish(key: CeApiKey, context: str, body: dict[str, Any]) -> dict[str, Any]:
    return _hide_earlier_turns(key, {**body, "turn": wire.select_context(body["turn"], context)})


def _hide_earlier_turns(key: CeApiKey, body: dict[str, Any]) -> dict[str, Any]:
    """The answer without what earlier turns left, if the key may not read the session.

    Any key of the workspace may go on with a session (R53).
    """
    if key.openers is None:
        return body
    began = CeConversation.objects.filter(pk=body["session_id"]).values_list("opened_by", flat=True)
    if key.may_use(began.first()):
        return body
    session = {**body["session"], "context_summary": "", "lifecycle_detail": {}, "preferences": {}}
    turn = {"turn": wire.select_context(body["turn"], "none")} if "turn" in body else {}
    return {**body, "session": session, **turn}


def _write_answer(thread: Thread, answer: ThreadAnswer) -> dict[str, Any]:
    """The JSON of an answered message."""
    turn = answer.turn
    row = _build_session(thread, answer) if turn.error is None else CeConversation.objects.get(pk=turn.conversation_id)
    parts = {"ok": turn.error is None, "resolved": answer.resolved, "session": row, "turn": turn}
    return _ANSWERS.to_representation(parts)


def _build_session(thread: Thread, answer: ThreadAnswer) -> CeConversation:
    """The session after the turn, before it is stored."""
    turn, session = answer.turn, answer.turn.session
    before, at = turn.before, turn.at
    assert before is not None  # Every turn that ran has them.
    assert at is not None
    return CeConversation(
        conversation_id=turn.conversation_id,
        workspace_id=thread.workspace_id,
        channel=thread.channel,
        remote_jid=thread.remote_jid,
        status=session.status,
        intent_code=session.intent or UNKNOWN,
        state_code=session.state or UNKNOWN,
        lifecycle=session.lifecycle,
        lifecycle_detail=session.lifecycle_detail,
        turn_count=1 if turn.left_id else before.turn_count + 1,
        context_summary=session.context_summary,
        preferences=session.preferences,
        mounted_kb_id=session.mounted_kb_id,
        created_at=at if turn.left_id else before.created_at or at,
        last_message_at=at,
        previous_session_id=turn.left_id or answer.resolved.previous_id,
    )
