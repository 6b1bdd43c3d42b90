"""Redirects calls for event streams from the main port."""

from urllib.parse import urlsplit

from django.http import HttpResponse
from django.http.response import HttpResponseRedirectBase
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse
from rest_framework.request import Request

from audit.api.access_scope import SCOPE_OWN, SCOPE_WORKSPACE
from audit.api.parameters import CONVERSATION_ID
from convengine.engine.errors import StreamsElsewhere
from convengine.server.api.base_view import ApiView
from convengine.server.api.schema import extend_schema
from convengine.server.deployment import conf

_ID = r"^\d{1,9}\.\d{1,6}(\.\d{1,18})?$"
_STREAM = "Events of the trail, each with the id `turnNo.seq`, and progress lines (`VERBOSE`) without one."


class Elsewhere(HttpResponseRedirectBase):
    """A redirect to the other port."""

    status_code = 307


class StreamView(ApiView):
    """`GET /api/v1/conversation/stream/{conversationId}`."""

    address = "conversation/stream/<str:conversation_id>"
    scope = (SCOPE_WORKSPACE, SCOPE_OWN)
    # The target checks the rights.
    permission_classes = ()

    @extend_schema(
        operation_id="streamEvents",
        parameters=[
            CONVERSATION_ID,
            OpenApiParameter(
                "Last-Event-ID",
                {"type": "string", "pattern": _ID},
                OpenApiParameter.HEADER,
                description="Go on after this event. If absent, the stream begins with what happens next.",
            ),
            OpenApiParameter(
                "after", {"type": "string", "pattern": _ID}, description="Like `Last-Event-ID`; 0.0 is the beginning."
            ),
            OpenApiParameter("stages", str, description="Only these stages, separated by commas."),
            OpenApiParameter(
                "verbose", {"type": "string", "enum": ["0", "1"]}, description="0: leave out progress lines."
            ),
        ],
        responses={
            (200, "text/event-stream"): OpenApiResponse(OpenApiTypes.STR, _STREAM),
            204: OpenApiResponse(description="The session has ended and all events were sent. Do not reconnect."),
            307: OpenApiResponse(description="Streams are served at another address."),
        },
    )
    def get(self, request: Request, conversation_id: str) -> HttpResponse:
        """Watch a conversation: what a turn does as it does it (server-sent events)."""
        elsewhere = conf.get("STREAMS_URL")
        if not elsewhere:
            raise StreamsElsewhere()
        if elsewhere.startswith(":"):
            host = urlsplit(f"//{request.get_host()}").hostname or ""
            named = f"[{host}]" if ":" in host else host
            elsewhere = f"{request.scheme}://{named}{elsewhere}"
        return Elsewhere(f"{elsewhere.rstrip('/')}{request.get_full_path()}")
