"""Messages that wait for their turn, and the answers to those that had it."""

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

from django.db import models
from django.db.models import Q

from convengine.server.jobs.outbox import OutboxRow, OutboxStatus


class CeQueuedMessage(OutboxRow):
    """A message whose caller does not wait for the answer."""

    id = models.BigAutoField(primary_key=True)
    status = models.CharField(
        max_length=7,
        choices=[
            (OutboxStatus.PENDING, "Waiting"),
            (OutboxStatus.SENT, "Answered"),
            (OutboxStatus.FAILED, "Failed"),
        ],
        default=OutboxStatus.PENDING,
        help_text="What became of it.",
    )
    message_id = models.UUIDField("message ID", unique=True, help_text="The ID that the caller got.")
    #: The key of the call, which makes the turn happen once.
    owner = models.TextField("API key", help_text="The ID of the API key of the caller.")
    key = models.CharField(max_length=128, help_text="The Idempotency-Key of the call, or one that was made for it.")
    body_hash = models.TextField("hash of the request", help_text="The same for the same request.")
    opened_by = models.CharField(
        "prefix of the API key", max_length=20, blank=True, help_text="It owns a conversation that the message begins."
    )
    workspace_id = models.CharField("workspace", max_length=200)
    conversation_id = models.UUIDField(
        "conversation", null=True, help_text="Empty for a message of a thread that was not answered yet."
    )
    thread: Any = models.JSONField(null=True, help_text="Channel and participant of a message of a thread.")
    order_key = models.UUIDField(help_text="Messages with the same one are answered in the order of their IDs.")
    request: Any = models.JSONField(help_text="The message, as the engine gets it.")
    answer: Any = models.JSONField(null=True, help_text="The answer or the error. Empty while the message waits.")

    class Meta:
        db_table = "ce_queued_message"
        verbose_name = "queued message"
        default_permissions = ("view",)
        indexes = [
            models.Index(
                fields=["order_key", "id"],
                condition=Q(status=OutboxStatus.PENDING),
                name="ce_queued_message_order",
            ),
            models.Index(
                fields=["next_attempt_at"], condition=Q(status=OutboxStatus.PENDING), name="ce_queued_message_due"
            ),
            models.Index(fields=["conversation_id"], name="ce_queued_message_of"),
            models.Index(fields=["sent_at"], name="ce_queued_message_age"),
            models.Index(fields=["owner", "created_at"], name="ce_queued_message_owner"),
        ]

    def __str__(self) -> str:
        return str(self.message_id)

    @property
    def most_attempts(self) -> int:
        """Fewer than for receivers outside: a user waits, and so do the later messages of the conversation."""
        return 8


#: Called in the transaction that stores an answer: the message, its turn or error, and when.
answer_listeners: list[Callable[[CeQueuedMessage, Mapping[str, Any], datetime], None]] = []
