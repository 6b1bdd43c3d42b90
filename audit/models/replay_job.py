"""Replays through the API, and their results."""

import uuid

from django.db import models
from django.db.models import Q

from convengine.server.jobs.background_runs import BackgroundRun, RunStatus
from convengine.server.sessions.models import CeConversation

#: Nobody cancels a replay.
REPLAY_STATUSES = [choice for choice in RunStatus.choices if choice[0] != RunStatus.CANCELLED]


class CeReplayJob(BackgroundRun):
    """One replay of turns of a conversation. It is removed with the conversation, or after some days."""

    class Mode(models.TextChoices):
        """The release of the replay."""

        RECORDED = "RECORDED", "On the release of each turn, where nothing may differ"
        WHAT_IF = "WHAT_IF", "On another release, with the recorded answers"

    replay_id = models.UUIDField("id", primary_key=True, default=uuid.uuid4, editable=False)
    conversation = models.ForeignKey(
        CeConversation, models.CASCADE, related_name="+", help_text="The conversation to replay."
    )
    workspace_id = models.TextField("workspace", help_text="Only API keys of this workspace may read it.")
    owner = models.TextField(
        help_text="Who started it: key: and the id of an API key, or user: and the name of a user."
    )
    mode = models.TextField(choices=Mode.choices, help_text="The release of the replay.")
    asked = models.JSONField("request", help_text="The requested turns, release and expectations.")
    status = models.TextField(choices=REPLAY_STATUSES, default=RunStatus.PENDING, help_text="The progress.")
    result = models.JSONField(null=True, help_text="Turns, failures and differences. Empty until it is finished.")
    error = models.TextField(default="", blank=True, help_text="Why there is no result.")
    created_at = models.DateTimeField("created", help_text="When it was requested.")
    started_at = models.DateTimeField("started", null=True, help_text="When it started.")
    finished_at = models.DateTimeField("finished", null=True, help_text="When it finished.")
    lease_expires_at = models.DateTimeField(
        "lease expires", help_text="If the process does not respond by then, the job is lost."
    )

    class Meta:
        db_table = "ce_replay_job"
        verbose_name = "replay"
        indexes = [models.Index(fields=["created_at"], name="ce_replay_created")]
        constraints = [
            models.UniqueConstraint(
                fields=["owner"], condition=Q(status__in=["PENDING", "RUNNING"]), name="ce_replay_one_of_an_owner"
            )
        ]

    def __str__(self) -> str:
        return f"replay of {self.conversation_id}"
