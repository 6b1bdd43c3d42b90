"""What if through the API: `POST /api/v1/what-if`, its progress and groups, its turns, and cancelling."""

from typing import Any

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter
from rest_framework import serializers
from rest_framework.exceptions import PermissionDenied
from rest_framework.request import Request
from rest_framework.response import Response

from audit.access_log.write import log_access
from audit.api.parameters import read_choice, read_number, require_valid
from audit.api.run_view import BlankAsNullField, RunView, get_key, get_run, name_owner
from audit.models import CeAccessLog, CeWhatIf
from audit.replay.view import WholeNumberField
from audit.search.form import FindForm
from audit.what_if.jobs import DEFAULT_LAST, read_comparison, start_run, what_ifs
from audit.what_if.results import GROUPS, PAGE, count_differences, read_groups, select_results, show_turns
from audit.what_if.selection import MAX_CONVERSATIONS
from convengine.engine.errors import RequestInvalid
from convengine.server.admin_site.configuration_choice import get_read_right
from convengine.server.api.schema import extend_schema
from convengine.server.api.serializers import ClosedSerializer, IsoDateTimeField, StrictTextField
from convengine.server.jobs.background_runs import RunStatus

_BIGGEST = 2**31 - 1
KINDS = [str(kind) for kind in GROUPS]
BASES, STATUSES = CeWhatIf.Base.values, RunStatus.values


class FiltersSerializer(ClosedSerializer):
    """The filters of conversations: those with a turn that matches all of them, as in `GET /api/v1/audit/turns`."""

    q = StrictTextField(required=False, help_text="Words in the message or the answer.")
    intent = StrictTextField(required=False)
    state = StrictTextField(required=False)
    feedback = StrictTextField(required=False)
    release = WholeNumberField(required=False, min_value=0, max_value=_BIGGEST)
    since = StrictTextField(required=False, help_text="A time: earlier turns are left out.")
    until = StrictTextField(required=False, help_text="A time: later turns are left out.")


class WhatIfSerializer(ClosedSerializer):
    """A configuration, what it is compared with, and the conversations."""

    configuration = serializers.RegexField(
        r"^(live|(release|draft):[0-9]{1,9})$",
        help_text="`live`, `release:12` or `draft:7`.",
        error_messages={"invalid": "Must be live, release:12 or draft:7, with your number."},
    )
    comparedWith = serializers.ChoiceField(
        choices=BASES,
        required=False,
        help_text="LIVE: what is live now. RECORDED: each turn on its own release. LIVE if absent.",
    )
    last = WholeNumberField(
        required=False,
        min_value=1,
        max_value=MAX_CONVERSATIONS,
        help_text=f"How many of the newest matching conversations; absent: {DEFAULT_LAST}.",
    )
    filters = FiltersSerializer(required=False)


class WhatIfCauseSerializer(serializers.Serializer[Any]):
    """Turns of a group with the same cause."""

    count = serializers.IntegerField()
    table = BlankAsNullField(help_text="The table of the row that caused it.")
    row = BlankAsNullField(source="pk")
    note = serializers.CharField(help_text="The call without a recorded answer, or why the turns cannot run again.")


class WhatIfGroupSerializer(serializers.Serializer[Any]):
    """The turns in which the same differs first."""

    kind = serializers.ChoiceField(choices=KINDS)
    count = serializers.IntegerField()
    causes = WhatIfCauseSerializer(many=True)


class WhatIfRunSerializer(serializers.Serializer[Any]):
    """A run: its progress, and what it found so far."""

    id = serializers.UUIDField(source="run.pk")
    status = serializers.ChoiceField(source="run.status", choices=STATUSES)
    configuration = serializers.CharField(source="run.configuration")
    title = serializers.CharField(source="run.title")
    comparedWith = serializers.ChoiceField(source="run.base", choices=BASES)
    conversations = serializers.IntegerField(source="run.conversations")
    turns = serializers.IntegerField(source="run.turns", allow_null=True, help_text="Null until they are selected.")
    done = serializers.IntegerField(source="run.done")
    differing = serializers.IntegerField(
        help_text="Without turns after a difference, and without those that ask for something that was not recorded."
    )
    groups = WhatIfGroupSerializer(many=True)
    message = BlankAsNullField(source="run.error", help_text="Why there is no result.")
    createdAt = IsoDateTimeField(source="run.created_at")
    startedAt = IsoDateTimeField(source="run.started_at", allow_null=True)
    finishedAt = IsoDateTimeField(source="run.finished_at", allow_null=True)


class WhatIfSideSerializer(serializers.Serializer[Any]):
    """How a turn ended on one configuration."""

    intent = serializers.CharField(allow_null=True)
    state = serializers.CharField(allow_null=True)
    error = serializers.CharField(allow_null=True)
    actions = serializers.ListField(child=serializers.CharField())
    answer = serializers.CharField()


class WhatIfTurnSerializer(serializers.Serializer[Any]):
    """A turn with old and new; both null when it cannot run again, or asks what was not recorded."""

    conversationId = serializers.UUIDField(source="row.conversation_id")
    turnNo = serializers.IntegerField(source="row.turn_no")
    kind = serializers.CharField(source="result.kind", help_text="SAME occurs only after a difference.")
    afterDifference = serializers.BooleanField(source="row.is_after_difference")
    message = serializers.CharField()
    table = BlankAsNullField(source="row.table_name")
    row = BlankAsNullField(source="row.row_pk")
    notes = serializers.ListField(source="result.notes", child=serializers.CharField())
    old = WhatIfSideSerializer(source="result.sides.old", allow_null=True)
    new = WhatIfSideSerializer(source="result.sides.new", allow_null=True)


class WhatIfTurnPageSerializer(serializers.Serializer[Any]):
    """A page of turns."""

    next = serializers.IntegerField(allow_null=True, help_text="The number of the next page.")
    results = WhatIfTurnSerializer(many=True)


class WhatIfView(RunView):
    """`POST /api/v1/what-if`."""

    address = "what-if"

    @extend_schema(operation_id="createWhatIf", request=WhatIfSerializer, responses={202: WhatIfRunSerializer})
    def post(self, request: Request) -> Response:
        """Run stored conversations on a configuration, and list what differs. Nothing is called and nothing is written.

        Each key, and each person, can have one run under way at a time.
        """
        sent = WhatIfSerializer().run_validation(request.data)
        key = get_key(request)
        filters = {name: value for name, value in sent.get("filters", {}).items() if value not in (None, "")}
        form = FindForm({name: str(value) for name, value in filters.items()})
        require_valid(form)
        run = CeWhatIf(
            owner=name_owner(request),
            workspace_id=key.workspace_id if key else "",
            configuration=sent["configuration"],
            base=sent.get("comparedWith", CeWhatIf.Base.LIVE),
            last=sent.get("last", DEFAULT_LAST),
            filters=form.filled_filters,
        )
        _require_configuration_right(request, run.configuration)
        log_access(request, CeAccessLog.Kind.WHAT_IF, search=run.configuration)
        try:
            start_run(run)
        except (LookupError, ValueError) as error:
            text = str(error) if isinstance(error, ValueError) else f"“{run.configuration}” does not exist."
            raise RequestInvalid(fields={"configuration": [text]}) from None
        return Response(_describe_run(run), status=202, headers={"Location": f"/api/v1/what-if/{run.pk}"})


_ID = OpenApiParameter("what_if_id", OpenApiTypes.UUID, OpenApiParameter.PATH)


class WhatIfRunView(RunView):
    """`GET /api/v1/what-if/{id}`."""

    address = "what-if/<str:what_if_id>"

    @extend_schema(operation_id="getWhatIf", parameters=[_ID], responses={200: WhatIfRunSerializer})
    def get(self, request: Request, what_if_id: str) -> Response:
        """The progress of a run, and what it found. It is kept for a week."""
        what_ifs.mark_lost()
        return Response(_describe_run(_get_run(request, what_if_id)))


class WhatIfCancelView(RunView):
    """`POST /api/v1/what-if/{id}/cancel`."""

    address = "what-if/<str:what_if_id>/cancel"

    @extend_schema(operation_id="cancelWhatIf", parameters=[_ID], request=None, responses={200: WhatIfRunSerializer})
    def post(self, request: Request, what_if_id: str) -> Response:
        """End a what-if run. What it found so far stays; a run that has ended does not change."""
        run = _get_run(request, what_if_id)
        what_ifs.cancel(run.pk)
        run.refresh_from_db()
        return Response(_describe_run(run))


class WhatIfTurnsView(RunView):
    """`GET /api/v1/what-if/{id}/turns`."""

    address = "what-if/<str:what_if_id>/turns"

    @extend_schema(
        operation_id="listWhatIfTurns",
        parameters=[
            _ID,
            OpenApiParameter("kind", str, enum=KINDS, description="The group. All if absent."),
            OpenApiParameter("table", str, description="With the group, only those that this row caused."),
            OpenApiParameter("row", str, description="With the group, only those that this row of the table caused."),
            OpenApiParameter(
                "page",
                {"type": "integer", "minimum": 1, "maximum": 99_999},
                description="The page. The first if absent.",
            ),
        ],
        responses={200: WhatIfTurnPageSerializer},
    )
    def get(self, request: Request, what_if_id: str) -> Response:
        """The turns of a run or of a group, each with its old and its new result.

        They run again, on the present configurations.
        """
        run = _get_run(request, what_if_id)
        given = {name: request.query_params.get(name, "") for name in ("table", "row")}
        given["kind"] = read_choice(request, "kind", KINDS)
        page = read_number(request, "page") or 1
        log_access(request, CeAccessLog.Kind.WHAT_IF, search=str(run.pk))
        try:
            comparison = read_comparison(run)
        except LookupError:
            raise RequestInvalid(f"“{run.configuration}” does not exist any more, so its turns cannot run.") from None
        wanted = {name: text for name, text in given.items() if text}
        start = (page - 1) * PAGE
        rows = list(select_results(run, wanted)[start : start + PAGE + 1])
        turns = show_turns(comparison, rows[:PAGE])
        answer = {"next": page + 1 if len(rows) > PAGE else None, "results": turns}
        return Response(WhatIfTurnPageSerializer(answer).data)


def _get_run(request: Request, what_if_id: str) -> CeWhatIf:
    """The run with this id. Raises RequestInvalid, ConversationNotFound, and PermissionDenied."""
    run = get_run(request, CeWhatIf, what_if_id, "This run does not exist.")
    _require_configuration_right(request, run.configuration)
    return run


def _require_configuration_right(request: Request, configuration: str) -> None:
    """Raises PermissionDenied for a person or a key that may not read such a configuration."""
    right, key = get_read_right(configuration), get_key(request)
    if not right:
        return
    if key and "config" not in key.scopes:
        raise PermissionDenied("The key needs the scope config, too, for a draft or a release.")
    if not key and not request.user.has_perm(right):
        raise PermissionDenied("You may not read this configuration.")


def _describe_run(run: CeWhatIf) -> Any:
    groups = read_groups(run)
    answer = {"run": run, "groups": groups, "differing": count_differences(groups)}
    return WhatIfRunSerializer(answer).data
