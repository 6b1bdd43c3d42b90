"""What-if runs and their results. They hold keys of turns and codes, never the words of people."""

import uuid

from django.db import models
from django.db.models import Q

from convengine.server.jobs.background_runs import BackgroundRun, RunStatus
from convengine.server.sessions.models import CeConversation


class CeWhatIf(BackgroundRun):
    """One run over stored conversations. It is removed after a week."""

    class Base(models.TextChoices):
        """What the configuration is compared with."""

        LIVE = "LIVE", "Live now"
        RECORDED = "RECORDED", "As recorded"

    what_if_id = models.UUIDField("id", primary_key=True, default=uuid.uuid4, editable=False)
    workspace_id = models.TextField(
        "workspace", default="", blank=True, help_text="The workspace of the API key that started it. Empty: all."
    )
    owner = models.TextField(
        help_text="Who started it: key: and the id of an API key, or user: and the name of a user."
    )
    configuration = models.TextField(help_text="The configuration: live, release:12 or draft:7.")
    title = models.TextField(help_text="What the configuration was called.")
    unsaved = models.JSONField(
        null=True, help_text="Unsaved rows on top of the configuration, as [table, primary key, row]."
    )
    base = models.TextField(
        choices=Base.choices, default=Base.LIVE, help_text="What the configuration is compared with."
    )
    filters = models.JSONField(default=dict, help_text="The filters of the conversations.")
    last = models.IntegerField(help_text="How many of the newest matching conversations.")
    status = models.TextField(choices=RunStatus.choices, default=RunStatus.PENDING, help_text="The progress.")
    #: Of the two configurations, to notice later changes.
    hashes = models.JSONField(default=list, help_text="The hashes of the contents of both configurations.")
    conversations = models.IntegerField(default=0, help_text="The number of conversations.")
    turns = models.IntegerField(null=True, help_text="The number of turns. Empty until they are selected.")
    done = models.IntegerField(default=0, help_text="The number of turns that ran.")
    error = models.TextField(default="", blank=True, help_text="Why there is no result.")
    created_at = models.DateTimeField("created", help_text="When it was requested.")
    started_at = models.DateTimeField("started", null=True, help_text="When it started.")
    finished_at = models.DateTimeField("finished", null=True, help_text="When it finished.")
    lease_expires_at = models.DateTimeField(
        "lease expires", help_text="If the process does not respond by then, the run is lost."
    )

    class Meta:
        db_table = "ce_what_if"
        verbose_name = "what-if run"
        default_permissions = ()
        indexes = [models.Index(fields=["created_at"], name="ce_what_if_created")]
        constraints = [
            models.UniqueConstraint(
                fields=["owner"], condition=Q(status__in=["PENDING", "RUNNING"]), name="ce_what_if_one_of_an_owner"
            )
        ]

    def __str__(self) -> str:
        return f"what if {self.title}"


class CeWhatIfTurn(models.Model):
    """A turn that differs, cannot be compared, or comes after a difference. It is removed with its conversation."""

    id = models.BigAutoField(primary_key=True)
    what_if = models.ForeignKey(CeWhatIf, models.CASCADE, related_name="results", help_text="The run.")
    conversation = models.ForeignKey(CeConversation, models.CASCADE, related_name="+", help_text="The conversation.")
    turn_no = models.IntegerField("turn", help_text="The number of the turn.")
    history_id = models.BigIntegerField("record", help_text="The record of the turn.")
    kind = models.TextField(help_text="What of the turn differs first.")
    is_after_difference = models.BooleanField(
        "after a difference", help_text="An earlier turn of the conversation differs."
    )
    table_name = models.TextField("table", default="", blank=True, help_text="The table of the row that caused it.")
    row_pk = models.TextField("row", default="", blank=True, help_text="The primary key of that row.")
    note = models.TextField(
        default="", blank=True, help_text="Which call has no recorded answer, or why it cannot run."
    )

    class Meta:
        db_table = "ce_what_if_turn"
        verbose_name = "turn of a what-if run"
        default_permissions = ()
        indexes = [models.Index(fields=["what_if", "kind", "table_name", "row_pk"], name="ce_what_if_turn_group")]

    def __str__(self) -> str:
        return f"turn {self.turn_no} of {self.conversation_id}"
