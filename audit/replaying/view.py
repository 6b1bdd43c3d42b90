"""`POST /api/v1/replay` and `GET /api/v1/replay/{id}`: recorded turns run again (api-and-audit 8.2)."""

import uuid
from collections.abc import Mapping
from typing import Any

from django.conf import settings
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.authentication import SessionAuthentication
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from audit.access.noting import noted
from audit.live.admission import conversation_for, person
from audit.models import CeAccessLog, CeReplayJob
from audit.replaying.asked import ReplaySerializer
from audit.replaying.jobs import begin, bury
from audit.runs import MOST, today
from convengine import conf
from convengine.api.authentication import ApiKeyAuthentication, HasScope, KeyThrottle
from convengine.api.models import CeApiKey
from convengine.api.serializers import FailureSerializer
from convengine.errors import ConversationNotFound, RequestInvalid
from convengine.sessions.models import CeConversation, CeConversationHistory

Mode, Status = CeReplayJob.Mode, CeReplayJob.Status
_NOTHING: Mapping[str, Any] = {"passed": None, "turns": [], "assertionFailures": [], "diff": []}


class SignedIn(SessionAuthentication):
    """Somebody who is signed in and may view audit events. What changes something needs the CSRF token, as forms do."""

    def authenticate(self, request: Request) -> tuple[Any, None] | None:
        """Raises NotAuthenticated for a session that is over, PermissionDenied."""
        if settings.SESSION_COOKIE_NAME not in request.COOKIES:
            return None
        user = person(request._request)
        self.enforce_csrf(request)
        return user, None


class MayRead(HasScope):
    """A key with the scope, or a person, whose right was looked at."""

    def has_permission(self, request: Request, view: Any) -> bool:
        """Raises NotAuthenticated, PermissionDenied."""
        signed_in: Any = request.user
        return signed_in is not None or super().has_permission(request, view)


class ReplayedTurnSerializer(serializers.Serializer[Any]):
    """Where a turn led when it ran again."""

    turnIndex = serializers.IntegerField()
    turnNo = serializers.IntegerField()
    turnId = serializers.UUIDField(allow_null=True)
    userText = serializers.CharField()
    intent = serializers.CharField(help_text="ERROR for a turn that failed or could not run.")
    state = serializers.CharField(help_text="Likewise.")
    contextJson = serializers.CharField(help_text="The context, as JSON text.")
    payload = serializers.JSONField(allow_null=True)
    stages = serializers.ListField(child=serializers.CharField())
    errorCode = serializers.CharField(allow_null=True)
    configVersion = serializers.IntegerField(allow_null=True)
    durationMs = serializers.IntegerField(help_text="How long the run took.")
    equal = serializers.BooleanField(help_text="Whether nothing differs from the record.")


class ReplayJobSerializer(serializers.Serializer[Any]):
    """A replay; what it found is there when its status is DONE."""

    id = serializers.UUIDField()
    status = serializers.ChoiceField(choices=Status.values)
    mode = serializers.ChoiceField(choices=Mode.values)
    conversationId = serializers.UUIDField()
    configVersion = serializers.IntegerField(allow_null=True, help_text="Null: each turn's own.")
    createdAt = serializers.DateTimeField()
    startedAt = serializers.DateTimeField(allow_null=True)
    finishedAt = serializers.DateTimeField(allow_null=True)
    message = serializers.CharField(allow_null=True, help_text="Why there is no result.")
    passed = serializers.BooleanField(allow_null=True)
    turns = ReplayedTurnSerializer(many=True)
    assertionFailures = serializers.ListField(child=serializers.CharField())
    diff = serializers.ListField(child=serializers.JSONField())


class _View(APIView):
    """What both calls have in common."""

    scope = "audit"
    authentication_classes = [ApiKeyAuthentication, SignedIn]
    permission_classes = [MayRead]
    throttle_classes = [KeyThrottle]


class ReplayView(_View):
    """`POST /api/v1/replay`."""

    @extend_schema(
        operation_id="begin_replay",
        request=ReplaySerializer,
        responses={202: ReplayJobSerializer, **dict.fromkeys((400, 401, 403, 404, 413, 429), FailureSerializer)},
    )
    def post(self, request: Request) -> Response:
        """Have recorded turns run again, on their own release or on another one. Nothing is called, nothing written.

        One replay of a key, or of a person, is under way at a time.
        """
        sent = ReplaySerializer().run_validation(request.data)
        key = request.auth if isinstance(request.auth, CeApiKey) else None
        conversation = conversation_for(str(sent["conversationId"]), key)
        job = CeReplayJob(
            conversation=conversation,
            workspace_id=conversation.workspace_id,
            owner=f"key:{key.pk}" if key else f"user:{request.user.get_username()}",
            mode=sent["mode"],
            asked={
                "turns": _turns(conversation, sent.get("turns")),
                "configVersion": _release(sent["mode"], sent.get("configVersion")),
                "expectations": [dict(one) for one in sent.get("expectations", ())],
            },
        )
        noted(request, CeAccessLog.Kind.REPLAY, conversation.pk)
        begin(job)
        return Response(_told(job), status=202, headers={"Location": f"/api/v1/replay/{job.pk}"})


class ReplayResultView(_View):
    """`GET /api/v1/replay/{id}`."""

    @extend_schema(
        operation_id="read_replay",
        parameters=[OpenApiParameter("replay_id", OpenApiTypes.UUID, OpenApiParameter.PATH)],
        responses={200: ReplayJobSerializer, **dict.fromkeys((400, 401, 403, 404, 429), FailureSerializer)},
    )
    def get(self, request: Request, replay_id: str) -> Response:
        """How far a replay is, and what it found. It is kept for a week."""
        bury()
        job = _job(request, replay_id)
        if job.result is not None:
            noted(request, CeAccessLog.Kind.REPLAY, job.conversation_id)
        return Response(_told(job))


def _job(request: Request, replay_id: str) -> CeReplayJob:
    """Raises RequestInvalid, ConversationNotFound for one of another workspace too."""
    try:
        found = CeReplayJob.objects.filter(pk=uuid.UUID(replay_id)).first()
    except ValueError:
        raise RequestInvalid(fields={"id": [f"{replay_id!r} is no UUID; take it from an answer."]}) from None
    key = request.auth
    if found is None or (isinstance(key, CeApiKey) and found.workspace_id != key.workspace_id):
        raise ConversationNotFound("There is no such replay.")
    return found


def _turns(conversation: CeConversation, wanted: list[int] | None) -> list[int]:
    """The numbers of the turns, rising. Raises RequestInvalid."""
    kept = CeConversationHistory.objects.filter(conversation_id=conversation.pk).order_by("turn_no")
    if wanted is None:
        found = list(kept.values_list("turn_no", flat=True)[: MOST + 1])
        if len(found) > MOST:
            raise RequestInvalid(
                fields={"turns": [f"The conversation has more than {MOST} turns; name at most {MOST}."]}
            )
        if not found:
            raise RequestInvalid(fields={"conversationId": ["No turn of this conversation is kept."]})
        return found
    found = list(kept.filter(turn_no__in=wanted).values_list("turn_no", flat=True))
    if missing := sorted(set(wanted) - set(found)):
        raise RequestInvalid(fields={"turns": [f"This conversation has no turn {missing[0]}."]})
    return found


def _release(mode: str, wanted: int | None) -> int | None:
    """Null for each turn's own. Raises RequestInvalid."""
    if mode == Mode.RECORDED:
        if wanted is not None:
            text = f"{wanted} received; turns run on their own release in mode RECORDED. Send mode WHAT_IF."
            raise RequestInvalid(fields={"configVersion": [text]})
        return None
    try:
        conf.load("SNAPSHOT").at(today() if wanted is None else wanted)
    except LookupError as error:
        raise RequestInvalid(fields={"configVersion": [str(error)]}) from None
    return today() if wanted is None else wanted


def _told(job: CeReplayJob) -> dict[str, Any]:
    failed = "The run failed; the log of the server has the details under its id."
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
