"""Channels, and the messages that they send."""

from typing import Any

from django.core.validators import RegexValidator
from django.db import models
from django.db.models import Q

from convengine.server.interfaces.sealed_states import SealedStateModel
from convengine.server.jobs.outbox import OutboxRow, OutboxStatus


class CeChannel(SealedStateModel):
    """A channel of messages. Its name is the channel of its conversations."""

    SEALED = (
        *("name", "provider", "workspace_id", "is_enabled", "secrets", "settings", "locale", "attachment_text"),
        *("failure_text", "opt_out_words", "opt_out_text", "opt_in_words", "opt_in_text"),
    )

    channel_id = models.BigAutoField("id", primary_key=True)
    name = models.CharField(
        max_length=40,
        unique=True,
        error_messages={"unique": "Another channel has this name. Choose another one."},
        validators=[RegexValidator("^[a-z][a-z0-9-]*$", "Use small letters, digits and hyphens; begin with a letter.")],
        help_text="What its conversations call it, and the end of its address, which changes with it.",
    )
    provider = models.CharField(max_length=40, help_text="Where its messages come from.")
    workspace_id = models.CharField("workspace", max_length=200, default="default")
    is_enabled = models.BooleanField(
        "enabled", default=True, help_text="While it is off, requests are refused, and nothing is sent."
    )
    secrets: Any = models.JSONField(
        default=dict, help_text="The names of its secrets in the deployment; never the secrets themselves."
    )
    settings: Any = models.JSONField(default=dict, blank=True, help_text="What else the provider needs.")
    attachment_text = models.CharField(
        "answer to attachments",
        max_length=500,
        default="I can only read text.",
        blank=True,
        help_text="What is answered to a picture, a voice message or a file without words. Blank: your flows get it.",
    )
    failure_text = models.CharField(
        "answer after a failure",
        max_length=500,
        default="Something went wrong. Please send your message again.",
        help_text="What is answered if the turn of a message failed.",
    )
    locale = models.CharField(
        "language",
        max_length=35,
        blank=True,
        default="",
        help_text="A code such as de, for users whose language the provider does not tell.",
    )
    # Without “stop”, with which many users leave a form.
    opt_out_words = models.TextField(
        "words that opt out",
        default="unsubscribe\nopt out\nstop all",
        blank=True,
        help_text="One in each line. A user whose whole message is one of them gets no more messages.",
    )
    opt_out_text = models.CharField(
        "answer after opting out",
        max_length=500,
        default="You get no more messages here. Write START to get them again.",
        help_text="The last message that the user gets.",
    )
    opt_in_words = models.TextField(
        "words that opt in again",
        default="start\n/start\nsubscribe\nopt in",
        blank=True,
        help_text="One in each line. A user who opted out and writes one of them gets messages again.",
    )
    opt_in_text = models.CharField(
        "answer after opting in again",
        max_length=500,
        default="You get messages here again.",
        help_text="The first message that the user gets again.",
    )
    last_request_at = models.DateTimeField(
        "last request", null=True, editable=False, help_text="When the provider last sent a request that was taken."
    )
    refusal = models.CharField(
        "last refused request",
        max_length=500,
        blank=True,
        default="",
        editable=False,
        help_text="Why a request was last refused.",
    )
    refused_at = models.DateTimeField(
        "refused", null=True, editable=False, help_text="When a request was last refused."
    )

    class Meta:
        db_table = "ce_channel"
        verbose_name = "channel"

    def __str__(self) -> str:
        return self.name

    @property
    def owner(self) -> str:
        """What its queued messages have in the place of an API key."""
        return f"channel {self.pk}"


class CeChannelMessage(OutboxRow):
    """One message to a user."""

    id = models.BigAutoField(primary_key=True)
    channel = models.ForeignKey(CeChannel, on_delete=models.CASCADE, related_name="messages", db_index=False)
    # With the part, so that each part of an answer is sent once.
    source_id = models.UUIDField(
        "source", editable=False, help_text="The message that it answers, or the turn of a person."
    )
    part = models.PositiveIntegerField(help_text="Which part of the answer it is, from 0.")
    conversation_id = models.CharField("conversation", max_length=36, blank=True)
    turn_id = models.UUIDField("turn", null=True, help_text="The turn that it answers.")
    text = models.TextField(help_text="What it says.")
    recipient = models.CharField(max_length=400, help_text="Whom it goes to, as the provider names people.")
    body: Any = models.JSONField(help_text="The message, as the provider gets it.")
    provider_message_id = models.CharField(
        "message ID", max_length=400, blank=True, default="", help_text="What the provider calls the message."
    )
    receipt = models.CharField(
        max_length=10,
        blank=True,
        default="",
        help_text="What the provider reported since: sent, delivered, read or failed.",
    )

    class Meta:
        db_table = "ce_channel_message"
        verbose_name = "channel message"
        default_permissions = ("view",)
        constraints = [models.UniqueConstraint(fields=["source_id", "part"], name="ce_channel_message_once")]
        indexes = [
            models.Index(
                fields=["channel", "recipient", "id"],
                condition=Q(status=OutboxStatus.PENDING),
                name="ce_channel_message_order",
            ),
            models.Index(
                fields=["next_attempt_at"], condition=Q(status=OutboxStatus.PENDING), name="ce_channel_message_due"
            ),
            models.Index(fields=["conversation_id"], name="ce_channel_message_of"),
            models.Index(fields=["channel", "provider_message_id"], name="ce_channel_message_named"),
            models.Index(fields=["created_at"], name="ce_channel_message_age"),
        ]

    def __str__(self) -> str:
        return f"Message {self.pk}"

    def describe_change(self, values: dict[str, Any]) -> dict[str, Any]:
        """With the provider's name of the message, once it was taken, and the message that was sent instead.

        What the provider told of an earlier attempt does not hold any more.
        """
        return {**values, "provider_message_id": self.provider_message_id, "body": self.body, "receipt": ""}

    @property
    def most_attempts(self) -> int:
        """Fewer than for webhooks: an answer that comes after hours helps nobody."""
        return 12


class CeOptOut(models.Model):
    """A user of a channel who wants no messages."""

    id = models.BigAutoField(primary_key=True)
    channel = models.ForeignKey(CeChannel, on_delete=models.CASCADE, related_name="opt_outs", db_index=False)
    recipient = models.CharField(max_length=400, help_text="Who it is, as the provider names people.")
    created_at = models.DateTimeField("since")

    class Meta:
        db_table = "ce_channel_opt_out"
        verbose_name = "opt-out"
        verbose_name_plural = "opt-outs"
        default_permissions = ("view", "delete")
        constraints = [models.UniqueConstraint(fields=["channel", "recipient"], name="ce_channel_opt_out_once")]

    def __str__(self) -> str:
        return self.recipient
