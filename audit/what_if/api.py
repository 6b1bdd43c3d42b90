"""What if through the API: `POST /api/v1/what-if`, its progress and groups, its turns, and cancelling."""

from typing import Any

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter
from rest_framework import serializers
from rest_framework.exceptions import PermissionDenied
from rest_framework.request import Request
from rest_framework.response import Response

from audit.access_log.write import log_access
from audit.api.parameters import read_uuid
from audit.models import CeAccessLog, CeWhatIf
from audit.replay.serializers import WholeNumberField
from audit.replay.view import MayReadReplays, SignedInAuthentication
from audit.search.form import FindForm
from audit.what_if.jobs import DEFAULT_LAST, FILTERS, read_comparison, start_run, what_ifs
from audit.what_if.results import GROUPS, PAGE, count_differences, read_groups, select_results, show_turns
from audit.what_if.selection import MAX_CONVERSATIONS
from convengine.engine.errors import ConversationNotFound, RequestInvalid
from convengine.server.admin_site.configuration_choice import get_read_right
from convengine.server.api.authentication import ApiKeyAuthentication
from convengine.server.api.base_view import ApiView
from convengine.server.api.models import CeApiKey
from convengine.server.api.schema import extend_schema
from convengine.server.api.serializers import ClosedSerializer, StrictTextField
from convengine.server.jobs.background_runs import RunStatus

_BIGGEST = 2**31 - 1
KINDS = [str(kind) for kind in GROUPS]
BASES, STATUSES = CeWhatIf.Base.values, RunStatus.values


class FiltersSerializer(ClosedSerializer):
    """Which conversations: those with a turn that matches all filters, as those of `GET /api/v1/audit/turns`."""

    q = StrictTextField(required=False, help_text="Words in the message or the answer.")
    intent = StrictTextField(required=False)
    state = StrictTextField(required=False)
    feedback = StrictTextField(required=False)
    release = WholeNumberField(required=False, min_value=0, max_value=_BIGGEST)
    since = StrictTextField(required=False, help_text="A time. The turns are limited by it as well.")
    until = StrictTextField(required=False, help_text="Likewise.")


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
        help_text="LIVE: what is live now. RECORDED: each turn on its own release. Absent: LIVE.",
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
    table = serializers.CharField(allow_null=True, help_text="Of the row that caused it.")
    row = serializers.CharField(allow_null=True)
    note = serializers.CharField(help_text="The call without a recorded answer, or why the turns cannot run again.")


class WhatIfGroupSerializer(serializers.Serializer[Any]):
    """The turns in which the same differs first."""

    kind = serializers.ChoiceField(choices=KINDS)
    count = serializers.IntegerField()
    causes = WhatIfCauseSerializer(many=True)


class WhatIfRunSerializer(serializers.Serializer[Any]):
    """A run: its progress, and what it found so far."""

    id = serializers.UUIDField()
    status = serializers.ChoiceField(choices=STATUSES)
    configuration = serializers.CharField()
    title = serializers.CharField()
    comparedWith = serializers.ChoiceField(choices=BASES)
    conversations = serializers.IntegerField()
    turns = serializers.IntegerField(allow_null=True, help_text="Null until they are selected.")
    done = serializers.IntegerField()
    differing = serializers.IntegerField(
        help_text="Without turns after a difference, and those that ask what was not recorded."
    )
    groups = WhatIfGroupSerializer(many=True)
    message = serializers.CharField(allow_null=True, help_text="Why there is no result.")
    createdAt = serializers.DateTimeField()
    startedAt = serializers.DateTimeField(allow_null=True)
    finishedAt = serializers.DateTimeField(allow_null=True)


class WhatIfSideSerializer(serializers.Serializer[Any]):
    """How a turn ended on one configuration."""

    intent = serializers.CharField(allow_null=True)
    state = serializers.CharField(allow_null=True)
    error = serializers.CharField(allow_null=True)
    actions = serializers.ListField(child=serializers.CharField())
    answer = serializers.CharField()


class WhatIfTurnSerializer(serializers.Serializer[Any]):
    """A turn with old and new; both null when it cannot run again, or asks what was not recorded."""

    conversationId = serializers.UUIDField()
    turnNo = serializers.IntegerField()
    kind = serializers.CharField(help_text="SAME occurs after a difference only.")
    afterDifference = serializers.BooleanField()
    message = serializers.CharField()
    table = serializers.CharField(allow_null=True)
    row = serializers.CharField(allow_null=True)
    notes = serializers.ListField(child=serializers.CharField())
    old = WhatIfSideSerializer(allow_null=True)
    new = WhatIfSideSerializer(allow_null=True)


class WhatIfTurnPageSerializer(serializers.Serializer[Any]):
    """A page of turns."""

    next = serializers.IntegerField(allow_null=True, help_text="The number of the next page.")
    results = WhatIfTurnSerializer(many=True)


class _View(ApiView):
    """What the views share."""

    scope = "audit"
    authentication_classes = [ApiKeyAuthentication, SignedInAuthentication]
    permission_classes = [MayReadReplays]


class WhatIfView(_View):
    """`POST /api/v1/what-if`."""

    address = "what-if"

    @extend_schema(operation_id="createWhatIf", request=WhatIfSerializer, responses={202: WhatIfRunSerializer})
    def post(self, request: Request) -> Response:
        """Run stored conversations on a configuration, and list what differs. Nothing is called, nothing written.

        One run of a key, or of a person, is under way at a time.
        """
        sent = WhatIfSerializer().run_validation(request.data)
        key = request.auth if isinstance(request.auth, CeApiKey) else None
        filters = {name: value for name, value in sent.get("filters", {}).items() if value not in (None, "")}
        form = FindForm({name: str(value) for name, value in filters.items()})
        if form.errors:
            raise RequestInvalid(
                fields={name: [str(error) for error in errors] for name, errors in form.errors.items()}
            )
        run = CeWhatIf(
            owner=f"key:{key.pk}" if key else f"user:{request.user.get_username()}",
            workspace_id=key.workspace_id if key else "",
            configuration=sent["configuration"],
            base=sent.get("comparedWith", CeWhatIf.Base.LIVE),
            last=sent.get("last", DEFAULT_LAST),
            filters={name: text for name, text in form.filled_filters.items() if name in FILTERS},
        )
        _require_configuration_right(request, run.configuration)
        log_access(request, CeAccessLog.Kind.WHAT_IF, search=run.configuration)
        try:
            start_run(run)
        except (LookupError, ValueError) as error:
            text = str(error) if isinstance(error, ValueError) else f"“{run.configuration}” does not exist."
            raise RequestInvalid(fields={"configuration": [text]}) from None
        return Response(_build_document(run), status=202, headers={"Location": f"/api/v1/what-if/{run.pk}"})


_ID = OpenApiParameter("what_if_id", OpenApiTypes.UUID, OpenApiParameter.PATH)


class WhatIfRunView(_View):
    """`GET /api/v1/what-if/{id}`."""

    address = "what-if/<str:what_if_id>"

    @extend_schema(operation_id="getWhatIf", parameters=[_ID], responses={200: WhatIfRunSerializer})
    def get(self, request: Request, what_if_id: str) -> Response:
        """How far a run is, and what it found. It is kept for a week."""
        what_ifs.mark_lost()
        return Response(_build_document(_get_run(request, what_if_id)))


class WhatIfCancelView(_View):
    """`POST /api/v1/what-if/{id}/cancel`."""

    address = "what-if/<str:what_if_id>/cancel"

    @extend_schema(operation_id="cancelWhatIf", parameters=[_ID], request=None, responses={200: WhatIfRunSerializer})
    def post(self, request: Request, what_if_id: str) -> Response:
        """End a what-if run. What it found so far stays; a run that has ended does not change."""
        run = _get_run(request, what_if_id)
        what_ifs.cancel(run.pk)
        run.refresh_from_db()
        return Response(_build_document(run))


class WhatIfTurnsView(_View):
    """`GET /api/v1/what-if/{id}/turns`."""

    address = "what-if/<str:what_if_id>/turns"

    @extend_schema(
        operation_id="listWhatIfTurns",
        parameters=[
            _ID,
            OpenApiParameter("kind", str, enum=KINDS, description="The group; absent: all."),
            OpenApiParameter("table", str, description="With the group, only those that this row caused."),
            OpenApiParameter("row", str, description="Likewise."),
            OpenApiParameter(
                "page", {"type": "integer", "minimum": 1, "maximum": 99_999}, description="The page; absent: the first."
            ),
        ],
        responses={200: WhatIfTurnPageSerializer},
    )
    def get(self, request: Request, what_if_id: str) -> Response:
        """The turns of a run or of a group, each with old and new. They run again, on the configurations of now."""
        run = _get_run(request, what_if_id)
        given = {name: request.query_params.get(name, "") for name in ("kind", "table", "row")}
        if given["kind"] and given["kind"] not in KINDS:
            raise RequestInvalid(fields={"kind": [f"Must be one of {', '.join(KINDS)}."]})
        page = request.query_params.get("page", "1")
        if not (page.isascii() and page.isdecimal() and len(page) < 6 and int(page)):
            raise RequestInvalid(fields={"page": ["Must be the number of a page, from 1."]})
        log_access(request, CeAccessLog.Kind.WHAT_IF, search=str(run.pk))
        try:
            comparison = read_comparison(run)
        except LookupError:
            raise RequestInvalid(f"“{run.configuration}” does not exist any more, so its turns cannot run.") from None
        wanted = {name: text for name, text in given.items() if text}
        start = (int(page) - 1) * PAGE
        rows = list(select_results(run, wanted)[start : start + PAGE + 1])
        turns = [
            {
                "conversationId": str(turn.row.conversation_id),
                "turnNo": turn.row.turn_no,
                "kind": turn.result.difference.kind.value,
                "afterDifference": turn.row.is_after_difference,
                "message": turn.message,
                "table": turn.row.table_name or None,
                "row": turn.row.row_pk or None,
                "notes": list(turn.result.difference.notes),
                "old": None,
                "new": None,
                **turn.result.sides_as_json(),
            }
            for turn in show_turns(comparison, rows[:PAGE])
        ]
        return Response({"next": int(page) + 1 if len(rows) > PAGE else None, "results": turns})


def _get_run(request: Request, what_if_id: str) -> CeWhatIf:
    """Raises RequestInvalid, and ConversationNotFound, also for one of another workspace."""
    run: CeWhatIf | None = CeWhatIf.objects.filter(pk=read_uuid(what_if_id, "id")).first()
    key = request.auth
    if run is None or (isinstance(key, CeApiKey) and run.workspace_id != key.workspace_id):
        raise ConversationNotFound("This run does not exist.")
    _require_configuration_right(request, run.configuration)
    return run


def _require_configuration_right(request: Request, configuration: str) -> None:
    """Raises PermissionDenied for a person or a key that may not read such a configuration."""
    right, key = get_read_right(configuration), request.auth
    if not right:
        return
    if isinstance(key, CeApiKey) and "config" not in key.scopes:
        raise PermissionDenied("The key needs the scope config, too, for a draft or a release.")
    if not isinstance(key, CeApiKey) and not request.user.has_perm(right):
        raise PermissionDenied("You may not read this configuration.")


def _build_document(run: CeWhatIf) -> dict[str, Any]:
    groups = read_groups(run)
    return {
        "id": str(run.pk),
        "status": run.status,
        "configuration": run.configuration,
        "title": run.title,
        "comparedWith": run.base,
        "conversations": run.conversations,
        "turns": run.turns,
        "done": run.done,
        "differing": count_differences(groups),
        "groups": [
            {
                "kind": group.kind,
                "count": group.count,
                "causes": [
                    {"count": cause.count, "table": cause.table or None, "row": cause.pk or None, "note": cause.note}
                    for cause in group.causes
                ],
            }
            for group in groups
        ],
        "message": run.error or None,
        "createdAt": run.created_at,
        "startedAt": run.started_at,
        "finishedAt": run.finished_at,
    }
