"""Tables that make things happen once and in order: claims of actions, tickets of waiting turns, stored answers.

Source: tables 6.7; R28, R52.
"""

from typing import Any

from django.db import models
from django.utils import timezone

from convengine.server.sessions.models.conversation import CeConversation


class CePendingActionExecution(models.Model):
    """The claim that lets an opened action run at most once (tables 6.7, R81)."""

    id = models.BigAutoField(primary_key=True)
    conversation = models.ForeignKey(
        CeConversation, on_delete=models.CASCADE, related_name="executions", db_index=False
    )
    turn_id = models.UUIDField()
    action_key = models.TextField()
    action_ref = models.TextField()
    runtime_nonce = models.UUIDField()
    status = models.TextField(choices=[(status, status.title()) for status in ("CLAIMED", "EXECUTED", "FAILED")])
    request_hash = models.TextField(default="")
    result_json = models.JSONField(null=True)
    started_at = models.DateTimeField(default=timezone.now)
    finished_at = models.DateTimeField(null=True)

    class Meta:
        db_table = "ce_pending_action_execution"
        verbose_name = "action execution"
        permissions = [("settle_execution", "Can record the outcome of an execution whose result is unknown")]
        constraints = [
            models.UniqueConstraint(fields=["conversation", "runtime_nonce"], name="ce_pending_action_execution_once")
        ]

    def __str__(self) -> str:
        return f"{self.action_key} ({self.status})"


class CeTurnTicket(models.Model):
    """A ticket in the queue for a conversation's lease; only turns that meet a held lease draw one (R28)."""

    id = models.BigAutoField(primary_key=True)
    conversation_id = models.UUIDField()
    arrived_at = models.DateTimeField()
    expires_at = models.DateTimeField()

    class Meta:
        db_table = "ce_turn_ticket"
        verbose_name = "waiting turn"
        indexes = [models.Index(fields=["conversation_id", "id"], name="ce_turn_ticket_queue")]

    def __str__(self) -> str:
        return f"ticket {self.id} for {self.conversation_id}"


class CeIdempotency(models.Model):
    """The stored answer of a committed turn that came with an Idempotency-Key (R52)."""

    id = models.BigAutoField(primary_key=True)
    api_key = models.TextField(help_text="Whose key it is; keys of two callers never meet.")
    key = models.CharField(max_length=128)
    body_hash = models.TextField()
    conversation_id = models.UUIDField()
    turn_id = models.UUIDField()
    answer: Any = models.JSONField()
    created_at = models.DateTimeField()
    expires_at = models.DateTimeField()

    class Meta:
        db_table = "ce_idempotency"
        verbose_name = "stored answer"
        constraints = [models.UniqueConstraint(fields=["api_key", "key"], name="ce_idempotency_once")]
        indexes = [models.Index(fields=["expires_at"], name="ce_idempotency_expiry")]

    def __str__(self) -> str:
        return self.key
