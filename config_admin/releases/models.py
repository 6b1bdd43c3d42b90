"""Tables of configuration versions: the head, the releases, their content-addressed blobs."""

from collections.abc import Sequence
from typing import ClassVar

from django.db import models
from django.utils import timezone

from convengine.engine.turn.labels import format_percent
from convengine.server.database.sealed_tables import SealedModel
from convengine.server.interfaces.sealed_states import SealedStateModel


class Origin(models.TextChoices):
    """The origin of a configuration change."""

    ADMIN = "ADMIN", "Admin"
    API = "API", "API"
    IMPORT = "IMPORT", "Import"
    SHELL = "SHELL", "Script or shell"
    REVERT = "REVERT", "Revert"
    ROLLBACK = "ROLLBACK", "Roll-back"
    DRAFT = "DRAFT", "Draft"
    OUT_OF_BAND = "OUT_OF_BAND", "Direct database change"
    MIGRATION = "MIGRATION", "Installation or upgrade"


#: A released counter that no head has at the end of a transaction.
AMENDING = -1


class CeConfigHead(models.Model):
    """One row: the release in force, and whether the tables were written since.

    Triggers on the tables raise `write_counter`; a release sets `released_counter` to it. Changes lock this row, so
    releases follow one another without gaps. AMENDING as `released_counter` lets the transaction that made the newest
    release complete it; no other transaction ever sees it.
    """

    id = models.SmallIntegerField(primary_key=True, default=1)
    config_version = models.BigIntegerField(default=0)
    content_hash = models.CharField(max_length=64)
    write_counter = models.BigIntegerField(default=1)
    released_counter = models.BigIntegerField(default=0)
    audience = models.CharField(
        max_length=32, default="", help_text="The key of the audience of a gradual release; blank when all have it."
    )

    class Meta:
        db_table = "ce_config_head"
        verbose_name = "active release"
        default_permissions = ()
        constraints = [models.CheckConstraint(condition=models.Q(id=1), name="ce_config_head_one_row")]

    def __str__(self) -> str:
        return f"Release {self.config_version}"

    @property
    def settled(self) -> bool:
        """True when the tables hold what the release says."""
        return self.write_counter == self.released_counter


class CeRelease(SealedModel):
    """One immutable version of the whole configuration."""

    config_version = models.BigIntegerField("version", primary_key=True)
    parent = models.ForeignKey("self", null=True, on_delete=models.PROTECT, related_name="+")
    change_set = models.UUIDField(unique=True)
    origin = models.CharField(max_length=16, choices=Origin.choices)
    author = models.CharField(max_length=150, blank=True)
    reason = models.TextField(blank=True)
    created_at = models.DateTimeField(default=timezone.now)
    content_hash = models.CharField(max_length=64)
    manifest = models.JSONField(help_text="For each table that has rows, the hash of its blob.")
    write_counter = models.BigIntegerField()
    history_hash = models.CharField(
        max_length=64, default="", help_text="The blob that lists the release's rows of history with their hashes."
    )
    previous_seal = models.CharField(max_length=64, default="", help_text="The seal of the release before it.")
    seal = models.CharField(
        max_length=64, default="", help_text="The hash of the whole row with the seal of the release before it."
    )

    class Meta:
        db_table = "ce_release"
        verbose_name = "release"
        default_permissions = ("view",)
        permissions = [
            ("roll_back_release", "Can roll back and revert releases"),
            ("import_configuration", "Can import configuration"),
        ]

    def __str__(self) -> str:
        return f"Release {self.config_version}{f' · {self.reason}' if self.reason else ''}"

    @property
    def made_by(self) -> str:
        """Who made it, or where it came from."""
        return self.author or str(self.get_origin_display())


class CeReleaseBlob(SealedModel):
    """A part of a release's content, named by its hash, so that unchanged parts are stored once."""

    hash = models.CharField(max_length=64, primary_key=True)
    codec = models.CharField(max_length=16)
    data = models.BinaryField()

    class Meta:
        db_table = "ce_release_blob"
        verbose_name = "release blob"
        default_permissions = ()

    def __str__(self) -> str:
        return str(self.hash)[:12]


class CeReleaseMove(models.Model):
    """Where the open conversations of an intent and state go on, when a release removed these."""

    id = models.BigAutoField(primary_key=True)
    draft = models.ForeignKey(
        "config_admin.CeDraft",
        null=True,
        on_delete=models.CASCADE,
        related_name="moves",
        help_text="The draft that was published with it.",
    )
    config_version = models.BigIntegerField(
        "release", null=True, db_index=True, help_text="The release that it belongs to; null until it is published."
    )
    from_intent = models.TextField(help_text="The intent of the conversations.")
    from_state = models.TextField(help_text="Their state; ANY for every state of the intent.")
    to_intent = models.TextField(help_text="The intent with which they go on.")
    to_state = models.TextField(help_text="The state in which they go on.")

    class Meta:
        db_table = "ce_release_move"
        verbose_name = "move of conversations"
        verbose_name_plural = "moves of conversations"
        default_permissions = ()
        constraints = [
            models.UniqueConstraint(fields=["draft", "from_intent", "from_state"], name="ce_release_move_once")
        ]

    def __str__(self) -> str:
        return f"{self.from_intent} / {self.from_state} → {self.to_intent} / {self.to_state}"


class CeReleaseSource(models.Model):
    """The configuration of another installation that a release contains, because a whole export of it was imported."""

    id = models.BigAutoField(primary_key=True)
    draft = models.ForeignKey(
        "config_admin.CeDraft",
        null=True,
        on_delete=models.CASCADE,
        related_name="sources",
        help_text="The draft into which it was imported.",
    )
    config_version = models.BigIntegerField(
        "release", null=True, db_index=True, help_text="The release with it; null until the draft is published."
    )
    content_hash = models.CharField(max_length=64, help_text="The content of the release there.")
    manifest = models.JSONField(help_text="Its rows with the numbers of this installation, as in a release.")
    numbers = models.JSONField(
        help_text="For each table the rows that have another number here: from the number there."
    )

    class Meta:
        db_table = "ce_release_source"
        verbose_name = "imported release"
        default_permissions = ()

    def __str__(self) -> str:
        return f"Release {self.config_version} contains {self.content_hash[:12]}"


class GradualStatus(models.TextChoices):
    """Whether a release is still given to a part of the conversations only."""

    RUNNING = "RUNNING", "Running"
    COMPLETE = "COMPLETE", "Given to all"
    STOPPED = "STOPPED", "Stopped"


class GuardMetric(models.TextChoices):
    """The rate that a guard compares between both sides."""

    NOT_UNDERSTOOD = "NOT_UNDERSTOOD", "Not understood"
    ERRORS = "ERRORS", "Errors"
    HANDED_OVER = "HANDED_OVER", "Handed over to a person"
    NEGATIVE = "NEGATIVE", "Negative feedback"


class CeGradualRelease(SealedStateModel):
    """A release that a part of the conversations gets; the others run on the release before it."""

    SEALED: ClassVar[Sequence[str]] = (
        *("config_version", "parent_version", "parent_hash", "key", "share", "participants", "channels", "status"),
        *("guard_metric", "guard_bound", "guard_turns", "first_turn", "started_by", "started_at"),
        *("ended_by", "ended_at", "ended_reason"),
    )

    gradual_id = models.BigAutoField(primary_key=True)
    config_version = models.BigIntegerField("release", help_text="The release that is given gradually.")
    parent_version = models.BigIntegerField(help_text="The release that everybody else runs on.")
    parent_hash = models.CharField(max_length=64, help_text="The hash of the content of that release.")
    key = models.CharField(max_length=32, unique=True, help_text="Names the present audience; every change renews it.")
    share = models.PositiveSmallIntegerField(default=0, help_text="The percentage of participants who get the release.")
    participants = models.JSONField(default=list, blank=True, help_text="Participants who get it in any case.")
    channels = models.JSONField(default=list, blank=True, help_text="Channels on which everybody gets it.")
    status = models.CharField(
        max_length=10,
        choices=GradualStatus.choices,
        default=GradualStatus.RUNNING,
        help_text="Whether it still is given to a part only.",
    )
    guard_metric = models.CharField(
        max_length=16, choices=GuardMetric.choices, blank=True, help_text="The rate that stops it; blank for no guard."
    )
    guard_bound = models.PositiveSmallIntegerField(
        default=5, help_text="By how many percentage points the rate may be worse than that of the others."
    )
    guard_turns = models.PositiveIntegerField(default=100, help_text="How many turns each side needs before that.")
    first_turn = models.BigIntegerField(default=0, help_text="Only turns with a higher history_id count.")
    started_by = models.CharField(max_length=150, blank=True, help_text="Who published it.")
    started_at = models.DateTimeField(default=timezone.now, help_text="When it was published.")
    ended_by = models.CharField(max_length=150, blank=True, help_text="Who stopped it, or gave it to all.")
    ended_at = models.DateTimeField(null=True, blank=True, help_text="When that was.")
    ended_reason = models.TextField(blank=True, help_text="Why it was stopped.")

    class Meta:
        db_table = "ce_gradual_release"
        verbose_name = "gradual release"
        default_permissions = ("view",)
        constraints = [
            models.UniqueConstraint(
                fields=["status"], condition=models.Q(status="RUNNING"), name="ce_gradual_release_one_runs"
            )
        ]

    def __str__(self) -> str:
        return f"Gradual release {self.config_version}"

    def describe_audience(self) -> str:
        """Who gets it: `10 % of the participants, 2 named, everybody on whatsapp`."""
        parts = (
            f"{format_percent(self.share)} of the participants" if self.share else "",
            f"{len(self.participants)} named" if self.participants else "",
            f"everybody on {', '.join(self.channels)}" if self.channels else "",
        )
        return ", ".join(filter(None, parts))
