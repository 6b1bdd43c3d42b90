"""Views that read, list and close sessions."""

from typing import Any

from drf_spectacular.utils import OpenApiParameter
from rest_framework.request import Request
from rest_framework.response import Response

from convengine.engine.errors import RequestInvalid
from convengine.engine.text.whole_numbers import parse_whole_number
from convengine.engine.turn.enums import Lifecycle
from convengine.server.api import session_serializers as serializers
from convengine.server.api.authentication import get_api_key
from convengine.server.api.schema import extend_schema
from convengine.server.api.serializers import quote_value
from convengine.server.api.workspace_view import WorkspaceView
from convengine.server.threads import external_changes, session_lists

_ID = OpenApiParameter("session_id", {"type": "string", "format": "uuid"}, OpenApiParameter.PATH)
_INCLUDED = ("messages", "units", "explainability")
_FILTERS = ("channel", "remote_jid", "lifecycle")


class SessionsView(WorkspaceView):
    """`GET /api/v1/sessions`."""

    address = "sessions"

    @extend_schema(
        operation_id="listSessions",
        parameters=[
            OpenApiParameter("workspace_id", {"type": "string", "minLength": 1}, required=True),
            OpenApiParameter("channel", str),
            OpenApiParameter("remote_jid", str),
            OpenApiParameter("lifecycle", {"type": "string", "enum": [lifecycle.value for lifecycle in Lifecycle]}),
            OpenApiParameter(
                "cursor", {"type": "string", "format": "uuid"}, description="The `next` of the page before."
            ),
            OpenApiParameter(
                "limit",
                {"type": "integer", "minimum": 1, "maximum": session_lists.MOST},
                description=f"Default {session_lists.PAGE}.",
            ),
        ],
        responses={200: serializers.SessionPageSerializer},
    )
    def get(self, request: Request) -> Response:
        """The sessions of the workspace that the key may read, newest first."""
        given = request.query_params
        if not given.get("workspace_id"):
            raise RequestInvalid(fields={"workspace_id": ["This field is required."]})
        filters = {name: given[name] for name in _FILTERS if name in given}
        if filters.get("lifecycle", "RUNNING") not in Lifecycle.__members__:
            known = ", ".join(Lifecycle.__members__)
            raise RequestInvalid(fields={"lifecycle": [f"There is no {filters['lifecycle']!r}. Known: {known}."]})
        workspace = self.workspace(request, given["workspace_id"])
        rows, following = session_lists.list_sessions(
            {"workspace_id": workspace, **filters},
            given.get("cursor"),
            _read_limit(given.get("limit")),
            get_api_key(request).openers,
        )
        return Response(serializers.SessionPageSerializer({"ok": True, "sessions": rows, "next": following}).data)


class SessionView(WorkspaceView):
    """`/api/v1/sessions/{session_id}`."""

    address = "sessions/<str:session_id>"

    @extend_schema(
        operation_id="getSession",
        parameters=[
            _ID,
            OpenApiParameter(
                "include",
                {"type": "array", "items": {"type": "string", "enum": list(_INCLUDED)}},
                OpenApiParameter.QUERY,
                style="form",
                explode=False,
                description="Lists to add, with the newest 50 of each. `links` leads to the rest.",
            ),
        ],
        responses={200: serializers.SessionDetailsSerializer},
    )
    def get(self, request: Request, session_id: str) -> Response:
        """One session."""
        row = self.session(request, session_id)
        parts = [part for text in request.query_params.getlist("include") for part in text.split(",") if part]
        if unknown := [part for part in parts if part not in _INCLUDED]:
            known = ", ".join(_INCLUDED)
            raise RequestInvalid(fields={"include": [f"There is no {part!r}. Known: {known}." for part in unknown]})
        answer: dict[str, Any] = {"ok": True, "session": row}
        if "messages" in parts:
            answer["messages"] = session_lists.list_messages(row)
        if "units" in parts:
            answer["units"] = session_lists.list_units(row, session_lists.PAGE)
        if "explainability" in parts:
            answer["explainability"] = session_lists.explain_turns(row, session_lists.PAGE)
        if parts:
            answer["links"] = session_lists.list_links(f"/api/v1/sessions/{row.pk}", parts)
        return Response(serializers.SessionDetailsSerializer(answer).data)

    @extend_schema(
        operation_id="recordExternalTurn",
        parameters=[_ID],
        request=serializers.ExternalTurnSerializer,
        responses={200: serializers.SessionAnswerSerializer},
    )
    def patch(self, request: Request, session_id: str) -> Response:
        """Record a turn that was handled elsewhere."""
        given = self.read(serializers.ExternalTurnSerializer, request)
        workspace = self.workspace(request, given.get("workspace_id"))
        # In stored form, because an id has several spellings.
        key = str(self.session(request, session_id).pk)
        row = external_changes.record_external_turn(
            key, workspace, given["user_message"], given["assistant_response"], given.get("action_type")
        )
        return Response(serializers.SessionAnswerSerializer({"ok": True, "session": row}).data)


class CloseView(WorkspaceView):
    """`POST /api/v1/sessions/{session_id}/close`."""

    address = "sessions/<str:session_id>/close"

    @extend_schema(
        operation_id="closeSession",
        parameters=[_ID],
        request=serializers.CloseSessionSerializer,
        responses={200: serializers.SessionAnswerSerializer},
    )
    def post(self, request: Request, session_id: str) -> Response:
        """Close a session now; a closed one stays as it is."""
        given = self.read(serializers.CloseSessionSerializer, request)
        workspace = self.workspace(request, given.get("workspace_id"))
        key = str(self.session(request, session_id).pk)
        row = external_changes.close_session(key, workspace, given.get("reason") or "closed")
        return Response(serializers.SessionAnswerSerializer({"ok": True, "session": row}).data)


class UnitsView(WorkspaceView):
    """`GET /api/v1/sessions/{session_id}/units`."""

    address = "sessions/<str:session_id>/units"

    @extend_schema(
        operation_id="listSessionUnits", parameters=[_ID], responses={200: serializers.SessionUnitListSerializer}
    )
    def get(self, request: Request, session_id: str) -> Response:
        """The committed session units, oldest first."""
        units = session_lists.list_units(self.session(request, session_id))
        return Response(serializers.SessionUnitListSerializer({"ok": True, "units": units}).data)


class ExplainabilityView(WorkspaceView):
    """`GET /api/v1/sessions/{session_id}/explainability`."""

    address = "sessions/<str:session_id>/explainability"

    @extend_schema(
        operation_id="listTurnExplanations",
        parameters=[_ID],
        responses={200: serializers.TurnExplanationListSerializer},
    )
    def get(self, request: Request, session_id: str) -> Response:
        """What happened in the last turns, failed ones included, newest first."""
        turns = session_lists.explain_turns(self.session(request, session_id))
        return Response(serializers.TurnExplanationListSerializer({"ok": True, "turns": turns}).data)


def _read_limit(text: str | None) -> int:
    """The page size. Raises RequestInvalid."""
    if text is None:
        return session_lists.PAGE
    limit = parse_whole_number(text, session_lists.MOST)
    if not limit:
        raise RequestInvalid(
            fields={"limit": [f"{quote_value(text)} received; send a whole number from 1 to {session_lists.MOST}."]}
        )
    return limit
