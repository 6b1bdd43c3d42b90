"""Views of drafts: make, read, review, publish, schedule and discard them. Imports edit them (`draft`)."""

from collections.abc import Callable
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import Count
from rest_framework import serializers
from rest_framework.exceptions import NotFound
from rest_framework.request import Request
from rest_framework.response import Response

from config_admin.api.gradual_views import AudienceSerializer
from config_admin.api.release_views import IF_NONE_MATCH, ReleaseView
from config_admin.api.serializers import RowReferenceSerializer
from config_admin.drafts.conditions import PublicationRefused
from config_admin.drafts.describe import describe_draft, describe_review
from config_admin.drafts.edits import DraftConflict, MergedEdits, merge_edits
from config_admin.drafts.models import CeDraft, DraftStatus, ReviewKind, ScheduleStatus
from config_admin.drafts.open_draft import DraftEnded
from config_admin.drafts.publish_draft import DraftEmpty, DraftMoved, discard_draft, publish_draft
from config_admin.drafts.review import REVIEW, ReviewRefused, add_comment, judge_draft, send_for_review
from config_admin.drafts.schedule import ScheduleRefused, cancel_schedule, schedule_draft
from config_admin.releases.audience import AudienceInvalid, AudienceSpec
from config_admin.releases.restore_rows import RestoreRefused, RowsBelongTogether
from config_admin.transfer.import_report import serialize_differences
from convengine.engine.errors import RequestInvalid
from convengine.server.api.authentication import get_api_key
from convengine.server.api.schema import extend_schema
from convengine.server.api.serializers import ClosedSerializer, FailureSerializer
from convengine.server.turns.failure import envelope


def _text(limit: int = 5000) -> serializers.CharField:
    return serializers.CharField(default="", allow_blank=True, max_length=limit)


class WriteDraftSerializer(ClosedSerializer):
    """A new draft."""

    title = serializers.CharField(max_length=150)
    description = _text()


class DraftSerializer(serializers.Serializer[Any]):
    """A draft."""

    id = serializers.IntegerField()
    title = serializers.CharField()
    description = serializers.CharField()
    status = serializers.CharField(help_text=f"{', '.join(DraftStatus.values)}.")
    createdBy = serializers.CharField()
    createdAt = serializers.DateTimeField()
    edits = serializers.IntegerField(help_text="The number of edited rows.")
    release = serializers.IntegerField(allow_null=True, help_text="The release that published it.")


class DraftListSerializer(serializers.Serializer[Any]):
    """The newest 100 drafts, newest first."""

    drafts = DraftSerializer(many=True)


class DraftConflictSerializer(RowReferenceSerializer):
    """A row that was changed live too, and the fields that differ."""

    fields_ = serializers.ListField(child=serializers.CharField())

    def get_fields(self) -> dict[str, Any]:
        """`fields` is a name of the base class."""
        fields = super().get_fields()
        fields["fields"] = fields.pop("fields_")
        return fields


class ReviewEntrySerializer(serializers.Serializer[Any]):
    """An entry of the review; `isCurrent` is false if the draft was edited since."""

    kind = serializers.CharField(help_text=f"{', '.join(ReviewKind.values)}.")
    by = serializers.CharField()
    at = serializers.DateTimeField()
    text = serializers.CharField()
    table = serializers.CharField()
    row = serializers.CharField()
    isCurrent = serializers.BooleanField()


class ScheduleSerializer(serializers.Serializer[Any]):
    """When the draft is published, and taken back."""

    status = serializers.CharField(help_text=f"{', '.join(ScheduleStatus.values)}.")
    publishAt = serializers.DateTimeField()
    takeBackAt = serializers.DateTimeField(allow_null=True)
    by = serializers.CharField()
    problem = serializers.CharField()
    audience = AudienceSerializer(allow_null=True, help_text="Who gets the release. Null means all.")


class DraftDetailsSerializer(DraftSerializer):
    """A draft with what it would change live, its conflicts, its review, and what prevents publishing."""

    diff = serializers.JSONField(help_text="By table: added, removed, and changed rows with before and after.")
    conflicts = DraftConflictSerializer(many=True)
    problems = serializers.ListField(child=serializers.CharField())
    editsHash = serializers.CharField(help_text="Send it with an approval: then the approval is for these edits.")
    approvals = serializers.ListField(child=serializers.CharField())
    neededApprovals = serializers.IntegerField()
    entries = ReviewEntrySerializer(many=True)
    schedule = ScheduleSerializer(allow_null=True)


class SendDraftSerializer(ClosedSerializer):
    """Users or a group, and a comment for them."""

    reviewers = serializers.ListField(child=serializers.CharField(max_length=150), default=list, max_length=50)
    group = _text(150)
    text = _text()


class CommentDraftSerializer(ClosedSerializer):
    """A comment on the draft, or on one of its rows."""

    text = serializers.CharField(max_length=5000)
    table = _text(100)
    row = _text(500)


class JudgeDraftSerializer(ClosedSerializer):
    """A comment, and the edits that the reviewer saw."""

    text = _text()
    editsHash = serializers.CharField(max_length=64, help_text="From the draft. Refused if it was edited since.")


class PublishDraftSerializer(ClosedSerializer):
    """Why."""

    reason = _text(2000)


class ScheduleDraftSerializer(PublishDraftSerializer):
    """When, until when, and why."""

    publishAt = serializers.DateTimeField()
    takeBackAt = serializers.DateTimeField(default=None, allow_null=True)
    audience = AudienceSerializer(default=None, allow_null=True, help_text="Who gets the release. Null means all.")


class DraftRefusalSerializer(FailureSerializer):
    """Nothing was changed. The problems say what prevents it."""

    problems = serializers.ListField(child=serializers.CharField())


_REFUSALS = (
    *(DraftConflict, DraftEmpty, DraftMoved, PublicationRefused, RestoreRefused, RowsBelongTogether),
    *(AudienceInvalid, ReviewRefused, ScheduleRefused),
)
_RESULTS = {200: DraftDetailsSerializer, 422: DraftRefusalSerializer}
#: How many drafts the list has.
_LISTED = 100


class DraftsView(ReleaseView):
    """`GET` and `POST /api/v1/config/drafts`."""

    address = "config/drafts"

    @extend_schema(operation_id="listDrafts", parameters=[IF_NONE_MATCH], responses={200: DraftListSerializer})
    def get(self, request: Request) -> Response:
        """The newest 100 drafts, newest first."""
        drafts = CeDraft.objects.annotate(changes=Count("edits")).order_by("-draft_id")[:_LISTED]
        return Response(DraftListSerializer({"drafts": [_describe(draft) for draft in drafts]}).data)

    @extend_schema(operation_id="createDraft", request=WriteDraftSerializer, responses={201: DraftDetailsSerializer})
    def post(self, request: Request) -> Response:
        """Make an empty draft. Import into it with `draft` of POST /api/v1/config/import."""
        given = WriteDraftSerializer().run_validation(request.data)
        try:
            with transaction.atomic():
                draft = CeDraft.objects.create(**given, created_by=_get_name(request))
        except IntegrityError:
            raise RequestInvalid(fields={"title": ["An open draft of this title already exists."]}) from None
        return Response(_describe_in_full(draft), 201)


class DraftView(ReleaseView):
    """`GET` and `DELETE /api/v1/config/drafts/{id}`."""

    address = "config/drafts/<int:draft_id>"

    @extend_schema(operation_id="getDraft", parameters=[IF_NONE_MATCH], responses={200: DraftDetailsSerializer})
    def get(self, request: Request, draft_id: int) -> Response:
        """What the draft would change live, its conflicts, its review, and what prevents publishing."""
        return Response(_describe_in_full(_get_draft(draft_id)))

    @extend_schema(operation_id="discardDraft", request=None, responses=_RESULTS)
    def delete(self, request: Request, draft_id: int) -> Response:
        """End a draft without a release. Its contents can still be read."""
        return _act(draft_id, lambda: discard_draft(draft_id))


class SendDraftView(ReleaseView):
    """`POST /api/v1/config/drafts/{id}/send`."""

    address = "config/drafts/<int:draft_id>/send"

    @extend_schema(operation_id="sendDraft", request=SendDraftSerializer, responses=_RESULTS)
    def post(self, request: Request, draft_id: int) -> Response:
        """Send a draft for review."""
        given, author = SendDraftSerializer().run_validation(request.data), _get_name(request)
        return _act(
            draft_id,
            lambda: send_for_review(draft_id, author, given["reviewers"], given["group"], given["text"]),
        )


class CommentDraftView(ReleaseView):
    """`POST /api/v1/config/drafts/{id}/comment`."""

    address = "config/drafts/<int:draft_id>/comment"

    @extend_schema(operation_id="commentDraft", request=CommentDraftSerializer, responses=_RESULTS)
    def post(self, request: Request, draft_id: int) -> Response:
        """Comment on a draft, or on one of its rows."""
        given, author = CommentDraftSerializer().run_validation(request.data), _get_name(request)
        row = (given["table"], given["row"]) if given["table"] else None
        return _act(draft_id, lambda: add_comment(draft_id, author, given["text"], row))


class ApproveDraftView(ReleaseView):
    """`POST /api/v1/config/drafts/{id}/approve`."""

    address = "config/drafts/<int:draft_id>/approve"

    @extend_schema(operation_id="approveDraft", request=JudgeDraftSerializer, responses=_RESULTS)
    def post(self, request: Request, draft_id: int) -> Response:
        """Approve a draft, as the person who made the API key."""
        return _judge(request, draft_id, ReviewKind.APPROVED)


class ReturnDraftView(ReleaseView):
    """`POST /api/v1/config/drafts/{id}/return`."""

    address = "config/drafts/<int:draft_id>/return"

    @extend_schema(operation_id="returnDraft", request=JudgeDraftSerializer, responses=_RESULTS)
    def post(self, request: Request, draft_id: int) -> Response:
        """Return a draft with a comment, as the person who made the API key."""
        return _judge(request, draft_id, ReviewKind.RETURNED)


class PublishDraftView(ReleaseView):
    """`POST /api/v1/config/drafts/{id}/publish`."""

    address = "config/drafts/<int:draft_id>/publish"

    @extend_schema(operation_id="publishDraft", request=PublishDraftSerializer, responses=_RESULTS)
    def post(self, request: Request, draft_id: int) -> Response:
        """Publish a draft as one release. If a row has an error, nothing is published."""
        given, author = PublishDraftSerializer().run_validation(request.data), _get_author(request)
        return _act(draft_id, lambda: publish_draft(draft_id, author, given["reason"]))


class ScheduleDraftView(ReleaseView):
    """`POST` and `DELETE /api/v1/config/drafts/{id}/schedule`."""

    address = "config/drafts/<int:draft_id>/schedule"

    @extend_schema(operation_id="scheduleDraft", request=ScheduleDraftSerializer, responses=_RESULTS)
    def post(self, request: Request, draft_id: int) -> Response:
        """Publish a draft at a time, and take its release back at another."""
        given = ScheduleDraftSerializer().run_validation(request.data)
        author, key = _get_author(request), get_api_key(request)
        times = given["publishAt"], given["takeBackAt"]
        audience = AudienceSpec.read(given["audience"]) if given["audience"] else None
        return _act(draft_id, lambda: schedule_draft(draft_id, author, *times, given["reason"], audience, key.prefix))

    @extend_schema(operation_id="cancelDraftSchedule", request=None, responses=_RESULTS)
    def delete(self, request: Request, draft_id: int) -> Response:
        """Cancel what is scheduled for a draft."""
        author = _get_name(request)
        return _act(draft_id, lambda: cancel_schedule(draft_id, author))


def _judge(request: Request, draft_id: int, kind: ReviewKind) -> Response:
    given, maker = JudgeDraftSerializer().run_validation(request.data), _get_maker(request)

    def judge() -> None:
        if maker is None or not maker.has_perm(REVIEW):
            raise ReviewRefused("Only a key of a person who may review drafts can approve or return them.")
        judge_draft(draft_id, maker, kind, given["text"], given["editsHash"])

    return _act(draft_id, judge)


def _act(draft_id: int, do: Callable[[], object]) -> Response:
    """Do it, and answer with the draft, or with what prevents it."""
    _get_draft(draft_id)
    try:
        do()
    except DraftEnded:
        raise NotFound("The draft has ended.") from None
    except _REFUSALS as refused:
        problems = getattr(refused, "problems", None) or [str(refused)]
        message = "Something prevents it, so nothing was changed. `problems` says what."
        return Response({**envelope("CONFIGURATION_REFUSED", message), "problems": problems}, 422)
    return Response(_describe_in_full(_get_draft(draft_id)))


def _get_draft(draft_id: int) -> CeDraft:
    draft = CeDraft.objects.filter(pk=draft_id).first()
    if draft is None:
        raise NotFound(f"There is no draft {draft_id}. GET /api/v1/config/drafts lists the drafts.")
    return draft


def _get_author(request: Request) -> Any:
    """The person who made the key, else its name."""
    return _get_maker(request) or f"API key {request.auth}"


def _get_maker(request: Request) -> Any:
    """The person who made the key of a call. Returns None for a key of the installation."""
    return get_api_key(request).made_by


def _get_name(request: Request) -> str:
    author = _get_author(request)
    return author if isinstance(author, str) else author.get_username()


def _describe(draft: CeDraft) -> dict[str, Any]:
    changes = getattr(draft, "changes", None)
    return {
        "id": draft.pk,
        "title": draft.title,
        "description": draft.description,
        "status": draft.status,
        "createdBy": draft.created_by,
        "createdAt": draft.created_at,
        "edits": draft.edits.count() if changes is None else changes,
        "release": draft.config_version,
    }


def _describe_in_full(draft: CeDraft) -> Any:
    merged = merge_edits(draft) if draft.status == DraftStatus.OPEN else MergedEdits()
    answer = {
        **_describe(draft),
        "diff": serialize_differences(merged.differences),
        "conflicts": describe_draft(draft, merged)["conflicts"],
        **describe_review(draft, merged),
    }
    return DraftDetailsSerializer(answer).data
