"""Views of replays through the API: `POST /api/v1/replay` and `GET /api/v1/replay/{id}`."""

from collections.abc import Mapping
from typing import Any

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter
from rest_framework.request import Request
from rest_framework.response import Response

from audit.access_log.write import log_access
from audit.api.access_scope import find_readable_conversation
from audit.api.run_view import RunView, get_key, get_run, name_owner
from audit.models import CeAccessLog, CeReplayJob
from audit.replay.jobs import replays, start_job
from audit.replay.replay import MAX_TURNS, get_current_release
from audit.replay.serializers import Mode, ReplayJobSerializer, ReplaySerializer, Status
from convengine.engine.errors import RequestInvalid
from convengine.server.api.schema import extend_schema
from convengine.server.interfaces.configuration import configuration
from convengine.server.sessions.models import CeConversation, CeConversationHistory

_NOTHING: Mapping[str, Any] = {"passed": None, "turns": [], "assertionFailures": [], "diff": []}


class ReplayView(RunView):
    """`POST /api/v1/replay`."""

    address = "replay"

    @extend_schema(
        operation_id="createReplay",
        request=ReplaySerializer,
        responses={202: ReplayJobSerializer},
    )
    def post(self, request: Request) -> Response:
        """Run recorded turns again, on their own release or on another one. Nothing is called and nothing is written.

        Each key, and each person, can have one replay under way at a time.
        """
        sent = ReplaySerializer().run_validation(request.data)
        conversation = find_readable_conversation(sent["conversationId"], get_key(request))
        job = CeReplayJob(
            conversation=conversation,
            workspace_id=conversation.workspace_id,
            owner=name_owner(request),
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


class ReplayResultView(RunView):
    """`GET /api/v1/replay/{id}`."""

    address = "replay/<str:replay_id>"

    @extend_schema(
        operation_id="getReplay",
        parameters=[OpenApiParameter("replay_id", OpenApiTypes.UUID, OpenApiParameter.PATH)],
        responses={200: ReplayJobSerializer},
    )
    def get(self, request: Request, replay_id: str) -> Response:
        """The progress of a replay, and what it found. It is kept for a week."""
        replays.mark_lost()
        job = get_run(request, CeReplayJob, replay_id, "This replay does not exist.")
        if job.result is not None:
            log_access(request, CeAccessLog.Kind.REPLAY, job.conversation_id)
        return Response(_job_document(job))


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
    """Returns None for each turn's own. Raises RequestInvalid."""
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
