"""Request and response of the endpoints of drafts."""

from typing import Any

from rest_framework import serializers

from config_admin.api.gradual_views import AudienceSerializer
from config_admin.api.serializers import RowReferenceSerializer
from config_admin.drafts.models import DraftStatus, ReviewKind, ScheduleStatus
from convengine.server.api.serializers import ClosedSerializer, FailureSerializer


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
    audience = AudienceSerializer(allow_null=True, help_text="Who gets the release; null for all.")


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
    audience = AudienceSerializer(default=None, allow_null=True, help_text="Who gets the release; null for all.")


class DraftRefusalSerializer(FailureSerializer):
    """Nothing was changed. The problems say what prevents it."""

    problems = serializers.ListField(child=serializers.CharField())
