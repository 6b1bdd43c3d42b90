"""Alerts: rules on the numbers of the reports, when they fired, and who got messages."""

import uuid
from datetime import datetime

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone

from convengine.server.database.sql import database_time
from convengine.server.jobs.outbox import OutboxRow, OutboxStatus


class CeAlertRule(models.Model):
    """A rule on a number of the reports, and its recipients."""

    class Direction(models.TextChoices):
        """On which side of the limit it fires."""

        OVER = "OVER", "over"
        UNDER = "UNDER", "under"

    class Window(models.IntegerChoices):
        """The time that the number is about, in hours."""

        HOUR = 1, "an hour"
        THREE_HOURS = 3, "3 hours"
        SIX_HOURS = 6, "6 hours"
        HALF_DAY = 12, "12 hours"
        DAY = 24, "a day"
        WEEK = 168, "a week"

    class Repeat(models.IntegerChoices):
        """After how many hours the message is repeated."""

        NEVER = 0, "never"
        HOUR = 1, "every hour"
        SIX_HOURS = 6, "every 6 hours"
        DAY = 24, "every day"

    rule_id = models.BigAutoField("id", primary_key=True)
    title = models.CharField(max_length=150, unique=True, help_text="What the alert is called in messages.")
    is_enabled = models.BooleanField("enabled", default=True, help_text="Rules that are off never fire.")
    measure = models.CharField(max_length=40, help_text="The number that is watched.")
    direction = models.CharField(
        max_length=5,
        choices=Direction.choices,
        default=Direction.OVER,
        help_text="Whether it fires over or under the limit.",
    )
    bound = models.DecimalField(
        "limit", max_digits=14, decimal_places=3, help_text="The alert fires beyond this value."
    )
    hours = models.PositiveSmallIntegerField(
        "for", choices=Window.choices, default=Window.HOUR, help_text="The time that is counted, up to now."
    )
    fewest = models.PositiveIntegerField(
        "at least",
        default=30,
        help_text="With fewer turns (or conversations) in this time, a rate or a mean does not fire.",
    )
    workspace_id = models.CharField(
        "workspace",
        max_length=200,
        default="default",
        blank=True,
        help_text="Empty: all workspaces. API keys see only alerts of their own workspace.",
    )
    channel = models.CharField(max_length=200, blank=True, help_text="Empty: all channels.")
    intent_code = models.CharField("intent", max_length=200, blank=True, help_text="After the turn. Empty: all.")
    config_version = models.BigIntegerField("release", null=True, blank=True, help_text="Empty: all releases.")
    users = models.ManyToManyField(
        settings.AUTH_USER_MODEL,
        blank=True,
        related_name="+",
        help_text="They get mail at the address of their account.",
    )
    addresses = models.JSONField(default=list, blank=True, help_text="More mail addresses, one in each line.")
    webhook = models.CharField(
        max_length=100, blank=True, help_text="The connection of the deployment that gets a signed message."
    )
    repeat_hours = models.PositiveSmallIntegerField(
        "repeat", choices=Repeat.choices, default=Repeat.DAY, help_text="How often the message is repeated meanwhile."
    )
    silenced_until = models.DateTimeField(null=True, editable=False, help_text="Until then, nobody gets a message.")
    silenced_by = models.CharField(
        max_length=150, blank=True, editable=False, help_text="A user, or the prefix of an API key."
    )
    silence_reason = models.TextField(blank=True, editable=False, help_text="Why it is silenced.")
    #: Where the pages are, because a job has no request.
    site_url = models.CharField(max_length=300, blank=True, editable=False, help_text="The address of the admin.")
    changed_by = models.CharField(max_length=150, blank=True, editable=False, help_text="Who changed it last.")
    changed_at = models.DateTimeField("changed", default=timezone.now, editable=False, help_text="When that was.")

    class Meta:
        db_table = "ce_alert_rule"
        verbose_name = "alert rule"

    def __str__(self) -> str:
        return self.title

    def is_silenced(self, now: datetime) -> bool:
        """True while nobody gets a message."""
        return self.silenced_until is not None and self.silenced_until > now


class CeAlert(models.Model):
    """One time that a rule fired, from the beginning to the end. It stays when the rule is changed or deleted."""

    class Status(models.TextChoices):
        """Whether it still fires."""

        FIRING = "FIRING", "Firing"
        ENDED = "ENDED", "Ended"

    class End(models.TextChoices):
        """Why it ended."""

        NORMAL = "NORMAL", "Back to normal"
        FEW_TURNS = "FEW_TURNS", "Too few turns"
        RULE = "RULE", "The rule was changed, switched off or deleted"

    alert_id = models.BigAutoField("id", primary_key=True)
    rule = models.ForeignKey(
        CeAlertRule, null=True, on_delete=models.SET_NULL, related_name="alerts", help_text="Null: deleted."
    )
    title = models.CharField(max_length=150, help_text="The title of the rule when it fired.")
    sentence = models.TextField(help_text="The rule in words.")
    measure = models.CharField(max_length=40, help_text="The number that is watched.")
    bound = models.DecimalField("limit", max_digits=14, decimal_places=3, help_text="The limit of the rule.")
    search = models.JSONField(null=True, help_text="The filters of the search that lists the turns; null for none.")
    workspace_id = models.CharField("workspace", max_length=200, blank=True, help_text="Empty: all.")
    status = models.CharField(
        max_length=6, choices=Status.choices, default=Status.FIRING, help_text="Whether it still fires."
    )
    started_at = models.DateTimeField("started", help_text="When it fired.")
    ended_at = models.DateTimeField("ended", null=True, help_text="When it ended.")
    end = models.CharField("reason", max_length=9, choices=End.choices, blank=True, help_text="Why it ended.")
    first_value = models.DecimalField(max_digits=18, decimal_places=3, help_text="The value when it fired.")
    worst_value = models.DecimalField(max_digits=18, decimal_places=3, help_text="The worst value since.")
    value = models.DecimalField(max_digits=18, decimal_places=3, help_text="The newest value beyond the limit.")
    turns = models.BigIntegerField(help_text="Turns behind the newest value.")
    since = models.DateTimeField(help_text="The beginning of the time that this value is about.")
    until = models.DateTimeField(help_text="The end of this time.")
    #: When messages were made last; None while a silence holds the first ones back.
    notified_at = models.DateTimeField("notified", null=True, help_text="When messages were made last.")

    class Meta:
        db_table = "ce_alert"
        verbose_name = "alert"
        default_permissions = ("view",)
        permissions = [("silence_alert", "Can silence alerts")]
        constraints = [
            models.UniqueConstraint(fields=["rule"], condition=Q(status="FIRING"), name="ce_alert_fires_once"),
        ]
        indexes = [models.Index(fields=["workspace_id", "-alert_id"], name="ce_alert_workspace")]

    def __str__(self) -> str:
        return self.title

    @property
    def silenced_until(self) -> datetime | None:
        """Until when nobody gets a message about it. Returns None if messages are sent."""
        is_silenced = self.status == self.Status.FIRING and self.rule and self.rule.is_silenced(database_time())
        return self.rule.silenced_until if self.rule and is_silenced else None


class CeAlertMessage(OutboxRow):
    """A message about an alert to one recipient."""

    class Kind(models.TextChoices):
        """What it says."""

        STARTED = "STARTED", "fired"
        REPEATED = "REPEATED", "still fires"
        ENDED = "ENDED", "ended"

    class Channel(models.TextChoices):
        """How it is sent."""

        MAIL = "MAIL", "mail"
        WEBHOOK = "WEBHOOK", "webhook"

    message_id = models.UUIDField("id", primary_key=True, default=uuid.uuid4, editable=False)
    alert = models.ForeignKey(CeAlert, on_delete=models.CASCADE, related_name="messages", help_text="What it is about.")
    kind = models.CharField(max_length=8, choices=Kind.choices, help_text="What it says.")
    number = models.PositiveIntegerField(default=0, help_text="Which repetition it is.")
    channel = models.CharField(max_length=7, choices=Channel.choices, help_text="How it is sent.")
    recipient = models.CharField(max_length=320, help_text="A mail address, or the name of a connection.")
    #: As the alert was, so that every attempt sends the same.
    content = models.JSONField(help_text="What the message says.")

    class Meta:
        db_table = "ce_alert_message"
        verbose_name = "message of an alert"
        verbose_name_plural = "messages of alerts"
        default_permissions = ()
        constraints = [
            models.UniqueConstraint(
                fields=["alert", "kind", "number", "channel", "recipient"], name="ce_alert_message_once"
            )
        ]
        indexes = [
            models.Index(
                fields=["next_attempt_at"], condition=Q(status=OutboxStatus.PENDING), name="ce_alert_message_pending"
            )
        ]

    def __str__(self) -> str:
        return f"{self.get_kind_display()}: {self.channel} to {self.recipient}"
