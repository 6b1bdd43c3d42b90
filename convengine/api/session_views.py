"""The sessions API (sessions 10): it reads requests, asks the session layer, writes answers, and decides nothing."""

import uuid
from typing import Any

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from convengine.api import session_serializers as wanted
from convengine.api.authentication import KeyThrottle
from convengine.api.models import CeApiKey
from convengine.api.session_wire import answered_json, resolved_json, session_json
from convengine.api.views import idempotency_key
from convengine.domain.enums import Lifecycle
from convengine.domain.params import split_reserved
from convengine.domain.turn import TurnRequest
from convengine.errors import ConversationNotFound, RequestInvalid
from convengine.sessions import by_call, reading
from convengine.sessions.installed import checked
from convengine.sessions.messages import take_message
from convengine.sessions.models import CeConversation
from convengine.sessions.threads import Thread, find_or_make
from convengine.sessions.turns import Replayed

_ID = OpenApiParameter("session_id", {"type": "string", "format": "uuid"}, OpenApiParameter.PATH)
_INCLUDED = ("messages", "units", "explainability")
_FILTERS = ("channel", "remote_jid", "lifecycle")
_FAILURES = dict.fromkeys((400, 401, 403, 404, 409, 413, 429, 503), wanted.SessionFailureSerializer)


class _View(APIView):
    """A call for the key's own workspace."""

    scope = "sessions"
    throttle_classes = [KeyThrottle]

    def workspace(self, request: Request, given: str | None) -> str:
        """The workspace of the key. Raises ConversationNotFound for another one: it does not exist for this key."""
        assert isinstance(request.auth, CeApiKey)  # HasScope saw to it.
        if given is not None and given != request.auth.workspace_id:
            raise ConversationNotFound("There is no such workspace for this API key.")
        return str(request.auth.workspace_id)

    def session(self, request: Request, session_id: str) -> CeConversation:
        """The session of the address. Raises RequestInvalid for what is no UUID, ConversationNotFound."""
        try:
            uuid.UUID(session_id)
        except ValueError:
            raise RequestInvalid(
                fields={"session_id": [f"{session_id!r} is no UUID; take it from an answer."]}
            ) from None
        return by_call.session_of(session_id, self.workspace(request, None))

    @staticmethod
    def read(serializer: type[serializers.Serializer[Any]], request: Request) -> dict[str, Any]:
        """The checked body. Raises ValidationError."""
        return dict(serializer().run_validation(request.data))


class ResolveView(_View):
    """`POST /api/v1/sessions/resolve`."""

    @extend_schema(
        operation_id="resolve_session",
        request=wanted.ResolveSerializer,
        responses={200: wanted.ResolvedSerializer, **_FAILURES},
    )
    def post(self, request: Request) -> Response:
        """Find or make the session that a message belongs to."""
        given = self.read(wanted.ResolveSerializer, request)
        found = find_or_make(self._thread(request, given), given["user_message"])
        return Response(resolved_json(found, session_json(by_call.session_of(found.session_id, given["workspace_id"]))))

    def _thread(self, request: Request, given: dict[str, Any]) -> Thread:
        return Thread(self.workspace(request, given["workspace_id"]), given["channel"], given["remote_jid"])


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
            **_FAILURES,
            **dict.fromkeys((422, 500, 502, 504), wanted.SessionFailureSerializer),
        },
    )
    def post(self, request: Request) -> Response:
        """Find or make the session of a message, and get the engine's answer."""
        given = self.read(wanted.MessageSerializer, request)
        thread = self._thread(request, given)
        assert isinstance(request.auth, CeApiKey)  # HasScope saw to it.
        params, ignored = split_reserved(given.get("input_params") or {})
        turn = TurnRequest(
            "",
            given["user_message"],
            params,
            tuple(ignored),
            channel=thread.channel,
            workspace_id=thread.workspace_id,
            preferences=checked(given.get("preferences"), thread.workspace_id),
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


class SessionsView(_View):
    """`GET /api/v1/sessions`."""

    @extend_schema(
        operation_id="list_sessions",
        parameters=[
            OpenApiParameter("workspace_id", {"type": "string", "minLength": 1}, required=True),
            OpenApiParameter("channel", str),
            OpenApiParameter("remote_jid", str),
            OpenApiParameter("lifecycle", {"type": "string", "enum": [one.value for one in Lifecycle]}),
            OpenApiParameter("cursor", {"type": "string", "format": "uuid"}, description="From `next` of a page."),
            OpenApiParameter(
                "limit",
                {"type": "integer", "minimum": 1, "maximum": reading.MOST},
                description=f"Default {reading.PAGE}.",
            ),
        ],
        responses={200: wanted.SessionsSerializer, **_FAILURES},
    )
    def get(self, request: Request) -> Response:
        """Sessions of the workspace, newest first."""
        given = request.query_params
        if not given.get("workspace_id"):
            raise RequestInvalid(fields={"workspace_id": ["This field is required."]})
        filters = {name: given[name] for name in _FILTERS if name in given}
        if filters.get("lifecycle", "RUNNING") not in Lifecycle.__members__:
            known = ", ".join(Lifecycle.__members__)
            raise RequestInvalid(fields={"lifecycle": [f"There is no {filters['lifecycle']!r}. Known: {known}."]})
        workspace = self.workspace(request, given["workspace_id"])
        rows, following = reading.page(
            {"workspace_id": workspace, **filters}, given.get("cursor"), _limit(given.get("limit"))
        )
        return Response({"ok": True, "sessions": [session_json(row) for row in rows], "next": following})


class SessionView(_View):
    """`/api/v1/sessions/{session_id}`."""

    @extend_schema(
        operation_id="read_session",
        parameters=[
            _ID,
            OpenApiParameter(
                "include",
                {"type": "array", "items": {"type": "string", "enum": list(_INCLUDED)}},
                OpenApiParameter.QUERY,
                style="form",
                explode=False,
                description="Lists to add, the newest 50 of each; `links` leads to the rest.",
            ),
        ],
        responses={200: wanted.OneSessionSerializer, **_FAILURES},
    )
    def get(self, request: Request, session_id: str) -> Response:
        """One session."""
        row, parts = self.session(request, session_id), _included(request)
        found: dict[str, Any] = {"ok": True, "session": session_json(row)}
        if "messages" in parts:
            found["messages"] = reading.messages(row)
        if "units" in parts:
            found["units"] = reading.units(row, reading.PAGE)
        if "explainability" in parts:
            found["explainability"] = reading.explained(row, reading.PAGE)
        if parts:
            found["links"] = reading.links(f"/api/v1/sessions/{row.pk}", parts)
        return Response(found)

    @extend_schema(
        operation_id="record_external_turn",
        parameters=[_ID],
        request=wanted.ExternalTurnSerializer,
        responses={200: wanted.ExternalAnswerSerializer, **_FAILURES},
    )
    def patch(self, request: Request, session_id: str) -> Response:
        """Record a turn that was handled elsewhere."""
        given = self.read(wanted.ExternalTurnSerializer, request)
        workspace = self.workspace(request, given.get("workspace_id"))
        self.session(request, session_id)
        row = by_call.record_external(
            session_id, workspace, given["user_message"], given["assistant_response"], given.get("action_type")
        )
        return Response({"ok": True, "session": session_json(row)})


class CloseView(_View):
    """`POST /api/v1/sessions/{session_id}/close`."""

    @extend_schema(
        operation_id="close_session",
        parameters=[_ID],
        request=wanted.CloseSerializer,
        responses={200: wanted.ExternalAnswerSerializer, **_FAILURES},
    )
    def post(self, request: Request, session_id: str) -> Response:
        """Close a session now; a closed one stays as it is."""
        given = self.read(wanted.CloseSerializer, request)
        workspace = self.workspace(request, given.get("workspace_id"))
        self.session(request, session_id)
        row = by_call.close(session_id, workspace, given.get("reason") or "closed")
        return Response({"ok": True, "session": session_json(row)})


class UnitsView(_View):
    """`GET /api/v1/sessions/{session_id}/units`."""

    @extend_schema(
        operation_id="read_session_units", parameters=[_ID], responses={200: wanted.UnitsSerializer, **_FAILURES}
    )
    def get(self, request: Request, session_id: str) -> Response:
        """The committed session units, oldest first."""
        return Response({"ok": True, "units": reading.units(self.session(request, session_id))})


class ExplainabilityView(_View):
    """`GET /api/v1/sessions/{session_id}/explainability`."""

    @extend_schema(
        operation_id="read_session_explainability",
        parameters=[_ID],
        responses={200: wanted.ExplainabilitySerializer, **_FAILURES},
    )
    def get(self, request: Request, session_id: str) -> Response:
        """What happened in the last turns, failed ones too, newest first."""
        return Response({"ok": True, "turns": reading.explained(self.session(request, session_id))})


def _included(request: Request) -> list[str]:
    """The lists that are asked for. Raises RequestInvalid for one that there is not."""
    parts = [part for text in request.query_params.getlist("include") for part in text.split(",") if part]
    if unknown := [part for part in parts if part not in _INCLUDED]:
        known = ", ".join(_INCLUDED)
        raise RequestInvalid(fields={"include": [f"There is no {part!r}. Known: {known}." for part in unknown]})
    return parts


def _limit(text: str | None) -> int:
    """How many sessions a page has. Raises RequestInvalid."""
    if text is None:
        return reading.PAGE
    if not text.isascii() or not text.isdigit() or not 1 <= int(text) <= reading.MOST:
        raise RequestInvalid(fields={"limit": [f"{text!r} received; send a whole number from 1 to {reading.MOST}."]})
    return int(text)
