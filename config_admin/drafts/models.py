"""`ce_draft` and what belongs to it: edits, reviews, schedules. Not configuration: no turn reads them."""

from collections.abc import Sequence
from typing import ClassVar

from django.conf import settings
from django.db import models
from django.utils import timezone

from convengine.server.interfaces.sealed_states import SealedStateModel


class DraftStatus(models.TextChoices):
    """Whether a draft is still edited."""

    OPEN = "OPEN", "Open"
    PUBLISHED = "PUBLISHED", "Published"
    DISCARDED = "DISCARDED", "Discarded"


class CeDraft(SealedStateModel):
    """A named set of edits."""

    SEALED: ClassVar[Sequence[str]] = (
        *("title", "status", "created_by", "created_at", "config_version", "ended_at", "editors"),
    )

    draft_id = models.BigAutoField(primary_key=True)
    title = models.CharField(max_length=150, help_text="What the draft is for. It becomes the title of its release.")
    description = models.TextField(blank=True, help_text="Why, for those who review it.")
    status = models.CharField(
        max_length=10,
        choices=DraftStatus.choices,
        default=DraftStatus.OPEN,
        editable=False,
        help_text="Whether the draft is still edited.",
    )
    created_by = models.CharField(max_length=150, blank=True, editable=False, help_text="Who made the draft.")
    created_at = models.DateTimeField(default=timezone.now, editable=False, help_text="When it was made.")
    config_version = models.BigIntegerField(
        "release", null=True, blank=True, editable=False, help_text="The release that published the draft."
    )
    ended_at = models.DateTimeField(
        null=True, blank=True, editable=False, help_text="When it was published or discarded."
    )
    editors = models.JSONField(
        default=list, editable=False, help_text="The names of all who edited the draft; they cannot approve it."
    )

    class Meta:
        db_table = "ce_draft"
        verbose_name = "draft"
        default_permissions = ("add", "change", "view")
        permissions = [
            ("publish_draft", "Can publish drafts"),
            ("review_draft", "Can comment on drafts, approve and return them"),
            ("change_release_settings", "Can change how changes become live"),
        ]
        constraints = [
            # Two open drafts of one title could not be told apart in a list or a command.
            models.UniqueConstraint(
                fields=["title"],
                condition=models.Q(status=DraftStatus.OPEN),
                name="ce_draft_open_title",
                violation_error_message="An open draft of this title already exists. Choose another title.",
            )
        ]

    def __str__(self) -> str:
        return self.title

    @property
    def offered_reason(self) -> str:
        """The reason that pages offer for its release, in one line."""
        return " ".join((self.description or self.title).split())


class CeDraftEdit(models.Model):
    """One row that a draft adds, changes or deletes."""

    id = models.BigAutoField(primary_key=True)
    draft = models.ForeignKey(
        CeDraft, on_delete=models.CASCADE, related_name="edits", help_text="The draft that the edit belongs to."
    )
    table_name = models.TextField(help_text="The table of the row.")
    row_pk = models.TextField(help_text="The primary key of the row.")
    before = models.JSONField(
        null=True, help_text="The row in the live configuration when it was last edited; null for a new one."
    )
    after = models.JSONField(null=True, help_text="The row as the draft has it; null for a deleted one.")
    editor = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        null=True,
        on_delete=models.SET_NULL,
        related_name="+",
        help_text="The user who edited the row last.",
    )
    editor_name = models.CharField(max_length=150, blank=True, help_text="The name of the user, or of an API key.")
    edited_at = models.DateTimeField(default=timezone.now, help_text="When the row was edited last.")
    reason = models.TextField(blank=True, help_text="The reason that the editor gave.")
    content_hash = models.CharField(
        max_length=64, blank=True, help_text="The hash of the row before and after, which approvals name."
    )

    class Meta:
        db_table = "ce_draft_edit"
        verbose_name = "edit of a draft"
        default_permissions = ()
        constraints = [
            models.UniqueConstraint(fields=["draft", "table_name", "row_pk"], name="ce_draft_edit_once"),
        ]
        indexes = [models.Index(fields=["table_name", "row_pk"], name="ce_draft_edit_row")]

    def __str__(self) -> str:
        return f"{self.table_name} {self.row_pk}"


class ReviewKind(models.TextChoices):
    """What somebody did in the review of a draft, or the product with its schedule."""

    SENT = "SENT", "Sent for review"
    COMMENT = "COMMENT", "Commented"
    APPROVED = "APPROVED", "Approved"
    RETURNED = "RETURNED", "Returned"
    SCHEDULED = "SCHEDULED", "Scheduled"
    CANCELLED = "CANCELLED", "Schedule cancelled"
    NOT_PUBLISHED = "NOT_PUBLISHED", "Not published as scheduled"
    PUBLISHED = "PUBLISHED", "Published"
    TAKEN_BACK = "TAKEN_BACK", "Taken back as scheduled"
    NOT_TAKEN_BACK = "NOT_TAKEN_BACK", "Not taken back as scheduled"


class CeDraftReview(SealedStateModel):
    """An entry of the review of a draft. Entries are only added."""

    SEALED: ClassVar[Sequence[str]] = (
        *("draft_id", "kind", "author_name", "made_at", "text", "edits_hash", "table_name", "row_pk"),
        *("reviewers", "reviewer_group"),
    )

    id = models.BigAutoField(primary_key=True)
    draft = models.ForeignKey(
        CeDraft, on_delete=models.CASCADE, related_name="reviews", help_text="The draft that is reviewed."
    )
    kind = models.CharField(max_length=16, choices=ReviewKind.choices, help_text="What was done.")
    author_name = models.CharField(max_length=150, blank=True, help_text="Who did it.")
    made_at = models.DateTimeField(default=timezone.now, help_text="When it was done.")
    text = models.TextField(blank=True, help_text="The comment.")
    edits_hash = models.CharField(max_length=64, blank=True, help_text="The hash of all edits of the draft then.")
    table_name = models.TextField(blank=True, help_text="The table of the row that the comment is about.")
    row_pk = models.TextField(blank=True, help_text="The primary key of that row.")
    reviewers = models.JSONField(default=list, help_text="The users that the draft was sent to.")
    reviewer_group = models.CharField(max_length=150, blank=True, help_text="The group that it was sent to.")

    class Meta:
        db_table = "ce_draft_review"
        verbose_name = "entry of a review"
        default_permissions = ()

    def __str__(self) -> str:
        return f"{self.get_kind_display()} by {self.author_name}"


class ScheduleStatus(models.TextChoices):
    """Whether a schedule is still to be done."""

    WAITING = "WAITING", "Waiting"
    PUBLISHED = "PUBLISHED", "Published"
    ENDED = "ENDED", "Taken back"
    FAILED = "FAILED", "Failed"
    CANCELLED = "CANCELLED", "Cancelled"


class CeDraftSchedule(SealedStateModel):
    """When a draft is published, and when that is taken back."""

    #: Not `author_id`, which the removal of the user empties.
    SEALED: ClassVar[Sequence[str]] = (
        *("draft_id", "publish_at", "take_back_at", "reason", "edits_hash", "author_name", "api_key", "people"),
        *("audience", "made_at", "status", "problem"),
    )

    id = models.BigAutoField(primary_key=True)
    draft = models.ForeignKey(
        CeDraft, on_delete=models.CASCADE, related_name="schedules", help_text="The draft that is published."
    )
    publish_at = models.DateTimeField(help_text="When the draft is published.")
    take_back_at = models.DateTimeField(null=True, help_text="When its release is taken back; null for never.")
    reason = models.TextField(blank=True, help_text="The reason of the release.")
    edits_hash = models.CharField(max_length=64, help_text="The hash of all edits that were to be published.")
    author = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        null=True,
        on_delete=models.SET_NULL,
        related_name="+",
        help_text="The user who publishes.",
    )
    author_name = models.CharField(max_length=150, blank=True, help_text="The name of the user, or of an API key.")
    api_key = models.CharField(
        "API key", max_length=8, blank=True, help_text="The first characters of the key that scheduled it; or blank."
    )
    people = models.JSONField(
        default=list, help_text="The active users that it needs then: its scheduler and the owner of the draft."
    )
    audience = models.JSONField(null=True, help_text="Who gets the release; null for all.")
    made_at = models.DateTimeField(default=timezone.now, help_text="When the schedule was made.")
    status = models.CharField(
        max_length=10,
        choices=ScheduleStatus.choices,
        default=ScheduleStatus.WAITING,
        help_text="Whether it is still to be done.",
    )
    problem = models.TextField(blank=True, help_text="What prevented it.")

    class Meta:
        db_table = "ce_draft_schedule"
        verbose_name = "schedule of a draft"
        default_permissions = ()
        constraints = [
            models.UniqueConstraint(
                fields=["draft"], condition=models.Q(status="WAITING"), name="ce_draft_schedule_waiting"
            )
        ]

    def __str__(self) -> str:
        return f"{self.draft_id} at {self.publish_at}"
