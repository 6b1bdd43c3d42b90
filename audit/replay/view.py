"""Views of replays through the API: `POST /api/v1/replay` and `GET /api/v1/replay/{id}` (api-and-audit 8.2)."""

from collections.abc import Mapping
from typing import Any

from django.conf import settings
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter
from rest_framework.authentication import SessionAuthentication
from rest_framework.request import Request
from rest_framework.response import Response

from audit.access_log.write import log_access
from audit.api.access_scope import find_readable_conversation, require_signed_in_reader
from audit.api.parameters import read_uuid
from audit.models import CeAccessLog, CeReplayJob
from audit.replay.jobs import replays, start_job
from audit.replay.replay import MAX_TURNS, get_current_release
from audit.replay.serializers import Mode, ReplayJobSerializer, ReplaySerializer, Status
from convengine.engine.errors import ConversationNotFound, RequestInvalid
from convengine.server.api.authentication import ApiKeyAuthentication, HasScope
from convengine.server.api.base_view import ApiView
from convengine.server.api.models import CeApiKey
from convengine.server.api.schema import extend_schema
from convengine.server.interfaces.configuration import configuration
from convengine.server.sessions.models import CeConversation, CeConversationHistory

_NOTHING: Mapping[str, Any] = {"passed": None, "turns": [], "assertionFailures": [], "diff": []}


class SignedInAuthentication(SessionAuthentication):
    """Authenticates a signed-in user with the right to view audit events. Changes need the CSRF token."""

    def authenticate(self, request: Request) -> tuple[Any, None] | None:
        """Raises NotAuthenticated for an expired session, PermissionDenied."""
        if settings.SESSION_COOKIE_NAME not in request.COOKIES:
            return None
        user = require_signed_in_reader(request._request)
        self.enforce_csrf(request)
        return user, None


class MayReadReplays(HasScope):
    """Allows a key with the scope, or a user, whose right was checked."""

    def has_permission(self, request: Request, view: Any) -> bool:
        """Raises NotAuthenticated, PermissionDenied."""
        # Without credentials it is null, or Django's AnonymousUser where the settings of the project say so.
        is_signed_in = bool(getattr(request.user, "is_authenticated", False))
        return is_signed_in or super().has_permission(request, view)


class _View(ApiView):
    """What both views share."""

    scope = "audit"
    authentication_classes = [ApiKeyAuthentication, SignedInAuthentication]
    permission_classes = [MayReadReplays]


class ReplayView(_View):
    """`POST /api/v1/replay`."""

    address = "replay"

    @extend_schema(
        operation_id="createReplay",
        request=ReplaySerializer,
        responses={202: ReplayJobSerializer},
    )
    def post(self, request: Request) -> Response:
        """Have recorded turns run again, on their own release or on another one. Nothing is called, nothing written.

        One replay of a key, or of a person, is under way at a time.
        """
        sent = ReplaySerializer().run_validation(request.data)
        key = request.auth if isinstance(request.auth, CeApiKey) else None
        conversation = find_readable_conversation(sent["conversationId"], key)
        job = CeReplayJob(
            conversation=conversation,
            workspace_id=conversation.workspace_id,
            owner=f"key:{key.pk}" if key else f"user:{request.user.get_username()}",
            mode=sent["mode"],
            asked={
                "turns": _read_turns(conversation, sent.get("turns")),
                "configVersion": _read_release(sent["mode"], sent.get("configVersion")),
                "expectations": [dict(expectation) for expectation in sent.get("expectations", ())],
            },
        )
        log_access(request, CeAccessLog.Kind.REPLAY, conversation.pk)
        start_job(job)
        return Response(_job_document(job), status=202, headers={"Location": f"/api/v1/replay/{job.pk}"})


class ReplayResultView(_View):
    """`GET /api/v1/replay/{id}`."""

    address = "replay/<str:replay_id>"

    @extend_schema(
        operation_id="getReplay",
        parameters=[OpenApiParameter("replay_id", OpenApiTypes.UUID, OpenApiParameter.PATH)],
        responses={200: ReplayJobSerializer},
    )
    def get(self, request: Request, replay_id: str) -> Response:
        """How far a replay is, and what it found. It is kept for a week."""
        replays.mark_lost()
        job = _get_job(request, replay_id)
        if job.result is not None:
            log_access(request, CeAccessLog.Kind.REPLAY, job.conversation_id)
        return Response(_job_document(job))


def _get_job(request: Request, replay_id: str) -> CeReplayJob:
    """Raises RequestInvalid, and ConversationNotFound, also for one of another workspace."""
    job = CeReplayJob.objects.filter(pk=read_uuid(replay_id, "id")).first()
    key = request.auth
    if job is None or (isinstance(key, CeApiKey) and job.workspace_id != key.workspace_id):
        raise ConversationNotFound("This replay does not exist.")
    return job


def _read_turns(conversation: CeConversation, wanted: list[int] | None) -> list[int]:
    """The numbers of the turns, ascending. Raises RequestInvalid."""
    turns = CeConversationHistory.objects.filter(conversation_id=conversation.pk).order_by("turn_no")
    if wanted is None:
        turn_nos = list(turns.values_list("turn_no", flat=True)[: MAX_TURNS + 1])
        if len(turn_nos) > MAX_TURNS:
            raise RequestInvalid(
                fields={"turns": [f"The conversation has more than {MAX_TURNS} turns; name at most {MAX_TURNS}."]}
            )
        if not turn_nos:
            raise RequestInvalid(fields={"conversationId": ["No turn of this conversation is kept."]})
        return turn_nos
    turn_nos = list(turns.filter(turn_no__in=wanted).values_list("turn_no", flat=True))
    if missing := sorted(set(wanted) - set(turn_nos)):
        raise RequestInvalid(fields={"turns": [f"This conversation has no turn {missing[0]}."]})
    return turn_nos


def _read_release(mode: str, wanted: int | None) -> int | None:
    """Null for each turn's own. Raises RequestInvalid."""
    if mode == Mode.RECORDED:
        if wanted is not None:
            text = f"{wanted} received; turns run on their own release in mode RECORDED. Send mode WHAT_IF."
            raise RequestInvalid(fields={"configVersion": [text]})
        return None
    try:
        configuration().at(get_current_release() if wanted is None else wanted)
    except LookupError as error:
        raise RequestInvalid(fields={"configVersion": [str(error)]}) from None
    return get_current_release() if wanted is None else wanted


def _job_document(job: CeReplayJob) -> dict[str, Any]:
    failed = "The run failed. The server log has the details under its ID."
    return {
        "id": str(job.pk),
        "status": job.status,
        "mode": job.mode,
        "conversationId": str(job.conversation_id),
        "configVersion": job.asked["configVersion"],
        "createdAt": job.created_at,
        "startedAt": job.started_at,
        "finishedAt": job.finished_at,
        "message": failed if job.status == Status.FAILED else job.error or None,
        **(job.result or _NOTHING),
    }
