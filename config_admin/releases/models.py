"""Tables of configuration versions: the head, the releases, their content-addressed blobs (R5, R56, R57)."""

from django.db import models
from django.utils import timezone

from convengine.server.database.sealed_tables import SealedModel


class Origin(models.TextChoices):
    """The origin of a configuration change."""

    ADMIN = "ADMIN", "Admin"
    API = "API", "API"
    IMPORT = "IMPORT", "Import"
    SHELL = "SHELL", "Script or shell"
    REVERT = "REVERT", "Revert"
    ROLLBACK = "ROLLBACK", "Roll-back"
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

    class Meta:
        db_table = "ce_config_head"
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
