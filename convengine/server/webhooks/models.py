"""Webhooks, and what they are to send."""

from typing import Any

from django.db import models
from django.db.models import Q

from convengine.server.database.signed_rows import SignedState
from convengine.server.interfaces.sealed_states import SealedStateModel
from convengine.server.jobs.outbox import OutboxRow, OutboxStatus

#: The event without meaning that a person sends to try a webhook.
TEST = "webhook.test"


class CeWebhook(SealedStateModel):
    """A subscription: which events go to which address, and with which secret they are signed."""

    SEALED = ("name", "url", "events", "workspace_id", "is_enabled", "deactivated_at", "secret", "old_secret")

    webhook_id = models.BigAutoField("id", primary_key=True)
    name = models.CharField(max_length=150, unique=True, help_text="What the webhook is called on pages.")
    url = models.CharField("URL", max_length=2000, help_text="Where the events are posted to; begins with https://.")
    events = models.JSONField(default=list, help_text="The names of the events that it gets.")
    workspace_id = models.CharField(
        "workspace",
        max_length=200,
        blank=True,
        help_text="Only events of conversations of this workspace. Empty: all workspaces.",
    )
    is_enabled = models.BooleanField(
        "enabled", default=True, help_text="While it is off, no event is added, and nothing is sent."
    )
    deactivated_at = models.DateTimeField(
        "deactivated", null=True, editable=False, help_text="When the receiver answered 410: it wants no more events."
    )
    secret = models.CharField(max_length=100, editable=False, help_text="Signs every message.")
    #: Signs beside the new one while receivers change it.
    old_secret = models.CharField(
        max_length=100, blank=True, default="", editable=False, help_text="The secret before; it signs, too."
    )

    class Meta:
        db_table = "ce_webhook"
        verbose_name = "webhook"

    def __str__(self) -> str:
        return self.name

    def save(self, *args: Any, **options: Any) -> None:
        """A webhook that is turned on again is no longer deactivated."""
        if self.is_enabled:
            self.deactivated_at = None
        super().save(*args, **options)


class CeWebhookDelivery(SignedState, OutboxRow):
    """One event for one webhook."""

    #: Not `attempts` and `next_attempt_at`, which only say when it is tried.
    SEALED = (
        *("webhook_id", "event_id", "event", "conversation_id", "body", "created_at", "status", "error", "sent_at"),
    )

    delivery_id = models.BigAutoField("id", primary_key=True)
    webhook = models.ForeignKey(
        CeWebhook, on_delete=models.CASCADE, related_name="deliveries", db_index=False, help_text="Where it goes."
    )
    event_id = models.UUIDField("event ID", help_text="The same for all webhooks and all attempts.")
    event = models.CharField(max_length=40, help_text="The name of the event.")
    #: Deliveries of one conversation to one webhook are sent one after the other.
    conversation_id = models.CharField(
        "conversation", max_length=36, blank=True, help_text="Empty for an event of no conversation."
    )
    body = models.TextField(help_text="What is sent, as it is signed.")

    class Meta:
        db_table = "ce_webhook_delivery"
        verbose_name = "webhook delivery"
        verbose_name_plural = "webhook deliveries"
        default_permissions = ("view",)
        permissions = [("resend_delivery", "Can send deliveries of webhooks again")]
        constraints = [models.UniqueConstraint(fields=["webhook", "event_id"], name="ce_webhook_delivery_once")]
        indexes = [
            models.Index(
                fields=["webhook", "conversation_id", "delivery_id"],
                condition=Q(status=OutboxStatus.PENDING),
                name="ce_webhook_delivery_order",
            ),
            models.Index(
                fields=["next_attempt_at"], condition=Q(status=OutboxStatus.PENDING), name="ce_webhook_delivery_due"
            ),
            models.Index(fields=["status", "-delivery_id"], name="ce_webhook_delivery_list"),
            models.Index(fields=["conversation_id"], name="ce_webhook_delivery_of"),
        ]

    def __str__(self) -> str:
        return f"{self.event} {self.event_id}"

    @property
    def most_attempts(self) -> int:
        """A test has one, because a person waits for its result."""
        return 1 if self.event == TEST else super().most_attempts

    def describe_change(self, values: dict[str, Any]) -> dict[str, Any]:
        """With the proof of the row as it is then."""
        return self.sign_change(**values)
