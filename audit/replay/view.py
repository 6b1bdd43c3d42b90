"""Views of replays through the API: `POST /api/v1/replay` and `GET /api/v1/replay/{id}`."""

from collections.abc import Mapping
from typing import Any

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from audit.access_log.write import log_access
from audit.api.access_scope import find_readable_conversation
from audit.api.run_view import RunView, get_key, get_run, name_owner
from audit.models import CeAccessLog, CeReplayJob
from audit.models.replay_job import REPLAY_STATUSES
from audit.replay.jobs import replays, start_job
from audit.replay.replay import MAX_TURNS, get_current_release
from convengine.engine.errors import ReplayNotOffered, RequestInvalid
from convengine.server.api.schema import extend_schema
from convengine.server.api.serializers import ClosedSerializer, StrictTextField, StrictUuidField, quote_value
from convengine.server.interfaces.configuration import configuration
from convengine.server.jobs.background_runs import RunStatus
from convengine.server.sessions.models import CeConversation, CeConversationHistory

_BIGGEST = 2**31 - 1
MISS_POLICIES = ["FAIL"]
MODES, STATUSES = CeReplayJob.Mode.values, [value for value, _ in REPLAY_STATUSES]
_NOTHING: Mapping[str, Any] = {"passed": None, "turns": [], "assertionFailures": [], "diff": []}
_SCRIPT = (
    "Messages with a scripted world around them are a scenario file: `convengine test` runs it, and "
    "`convengine manage save_scenario` makes one of a conversation. Here, send mode RECORDED or WHAT_IF with a "
    "conversationId."
)
_ON_MISS_REFUSED = (
    "What the recording has no answer to is a failure here: send FAIL, or leave the field out. Scripted answers are "
    "for scenario files (`convengine test`)."
)


class WholeNumberField(serializers.IntegerField):
    """A JSON number without a fraction."""

    def to_internal_value(self, data: Any) -> int:
        """Raises ValidationError naming the value."""
        if isinstance(data, bool) or not isinstance(data, (int, float)) or data != data // 1:
            raise serializers.ValidationError(f"Must be a whole number, not {quote_value(data)}.")
        return int(data)


class TurnExpectationSerializer(ClosedSerializer):
    """Where a turn is to lead; case does not count."""

    turnIndex = WholeNumberField(
        min_value=-_BIGGEST, max_value=_BIGGEST, help_text="The position of the turn in this run, counted from 0."
    )
    expectedIntent = StrictTextField(required=False, help_text="Not checked if absent or null.")
    expectedState = StrictTextField(required=False, help_text="Not checked if absent or null.")


class ReplaySerializer(ClosedSerializer):
    """Which turns run again, on which release, and what is expected of them."""

    mode = serializers.ChoiceField(
        choices=MODES,
        help_text="RECORDED: each turn on its own release, where nothing may differ. WHAT_IF: on another release.",
        error_messages={"invalid_choice": "Unknown value {input}. Send RECORDED or WHAT_IF."},
    )
    conversationId = StrictUuidField(help_text="Whose turns.")
    turns = serializers.ListField(
        child=WholeNumberField(min_value=1, max_value=_BIGGEST),
        required=False,
        min_length=1,
        max_length=MAX_TURNS,
        help_text=f"Their numbers, at most {MAX_TURNS}; absent: all turns of the conversation.",
    )
    configVersion = WholeNumberField(
        required=False,
        min_value=1,
        max_value=_BIGGEST,
        help_text="The release, with WHAT_IF. The one in force if absent.",
    )
    expectations = TurnExpectationSerializer(many=True, required=False)
    onMiss = serializers.ChoiceField(
        choices=MISS_POLICIES, required=False, help_text="A call that the recording has no answer to is a failure."
    )

    def to_internal_value(self, data: Any) -> dict[str, Any]:
        """Raises ReplayNotOffered for what the original's successor offers elsewhere, and ValidationError."""
        if isinstance(data, dict):
            if data.get("mode") == "SCRIPT" or "messages" in data:
                name = "mode" if data.get("mode") == "SCRIPT" else "messages"
                raise ReplayNotOffered(fields={name: [f"{quote_value(data[name])} received. {_SCRIPT}"]})
            if data.get("onMiss") in ("LIVE", "STUB"):
                raise ReplayNotOffered(
                    fields={"onMiss": [f"{quote_value(data['onMiss'])} received. {_ON_MISS_REFUSED}"]}
                )
        return super().to_internal_value(data)


class ReplayedTurnSerializer(serializers.Serializer[Any]):
    """Where a turn led when it ran again."""

    turnIndex = serializers.IntegerField()
    turnNo = serializers.IntegerField()
    turnId = serializers.UUIDField(allow_null=True)
    userText = serializers.CharField()
    intent = serializers.CharField(help_text="ERROR for a turn that failed or could not run.")
    state = serializers.CharField(help_text="ERROR for a turn that failed or could not run.")
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
    status = serializers.ChoiceField(choices=STATUSES)
    mode = serializers.ChoiceField(choices=MODES)
    conversationId = serializers.UUIDField()
    configVersion = serializers.IntegerField(allow_null=True, help_text="Null for each turn's own release.")
    createdAt = serializers.DateTimeField()
    startedAt = serializers.DateTimeField(allow_null=True)
    finishedAt = serializers.DateTimeField(allow_null=True)
    message = serializers.CharField(allow_null=True, help_text="Why there is no result.")
    passed = serializers.BooleanField(allow_null=True)
    turns = ReplayedTurnSerializer(many=True)
    assertionFailures = serializers.ListField(child=serializers.CharField())
    diff = serializers.ListField(child=serializers.JSONField())


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
    if mode == CeReplayJob.Mode.RECORDED:
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
        "message": failed if job.status == RunStatus.FAILED else job.error or None,
        **(job.result or _NOTHING),
    }
