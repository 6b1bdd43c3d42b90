"""Documents that tools search, their full-text index on each database, and messages that tools sent."""

from typing import Any

from django.core.validators import MaxLengthValidator
from django.db import connections, models
from django.utils import timezone

#: The language of word stems in the full-text index of documents.
LANGUAGE = "english"
POSTGRES_TEXT = f"(setweight(to_tsvector('{LANGUAGE}', title), 'A') || setweight(to_tsvector('{LANGUAGE}', body), 'B'))"
_POSTGRES = (f"CREATE INDEX IF NOT EXISTS ce_document_text ON ce_document USING gin ({POSTGRES_TEXT})",)
_OUT = (
    "INSERT INTO ce_document_text (ce_document_text, rowid, title, body)"
    " VALUES ('delete', OLD.document_id, OLD.title, OLD.body);"
)
_IN = "INSERT INTO ce_document_text (rowid, title, body) VALUES (NEW.document_id, NEW.title, NEW.body);"
_SQLITE = (
    "CREATE VIRTUAL TABLE IF NOT EXISTS ce_document_text USING fts5"
    "(title, body, content='ce_document', content_rowid='document_id', tokenize='porter unicode61')",
    f"CREATE TRIGGER IF NOT EXISTS ce_document_in AFTER INSERT ON ce_document BEGIN {_IN} END",
    f"CREATE TRIGGER IF NOT EXISTS ce_document_out AFTER DELETE ON ce_document BEGIN {_OUT} END",
    f"CREATE TRIGGER IF NOT EXISTS ce_document_new AFTER UPDATE OF title, body ON ce_document BEGIN {_OUT} {_IN} END",
)


class CeDocumentCollection(models.Model):
    """A named group of documents of one workspace."""

    collection_id = models.BigAutoField("id", primary_key=True)
    workspace_id = models.TextField("workspace", default="default", db_default="default")
    name = models.CharField(
        max_length=120,
        help_text=("Tools refer to the collection by this name. Use letters, digits, underscores, dots and hyphens."),
    )
    expires_at = models.DateTimeField(
        "expires at",
        null=True,
        blank=True,
        help_text=("After this time, its documents are no longer found. Empty means never."),
    )

    class Meta:
        db_table = "ce_document_collection"
        verbose_name = "document collection"
        constraints = [models.UniqueConstraint(fields=["workspace_id", "name"], name="ce_document_collection_name")]

    def __str__(self) -> str:
        return self.name if self.workspace_id == "default" else f"{self.name} ({self.workspace_id})"


class CeDocument(models.Model):
    """One searchable text: a page, or a section of one."""

    document_id = models.BigAutoField("id", primary_key=True)
    collection = models.ForeignKey(CeDocumentCollection, on_delete=models.CASCADE, related_name="documents")
    title = models.CharField(
        max_length=500,
        help_text=("Unique in its collection. Matches in the title count more than matches in the body."),
    )
    # PostgreSQL indexes no more than a megabyte of words.
    body = models.TextField(
        help_text="Plain text or Markdown.",
        validators=[
            MaxLengthValidator(
                200_000,
                "It has %(show_value)d characters, more than %(limit_value)d. Divide it into several documents.",
            )
        ],
    )
    metadata = models.JSONField(default=dict, blank=True, help_text="Returned with the document.")
    hash = models.CharField(max_length=64, editable=False, default="")
    #: The sentence vector of title and beginning if the extra is installed; else empty.
    vector = models.BinaryField(editable=False, default=b"")
    updated_at = models.DateTimeField("changed", default=timezone.now, editable=False)

    class Meta:
        db_table = "ce_document"
        verbose_name = "document"
        constraints = [models.UniqueConstraint(fields=["collection", "title"], name="ce_document_title")]

    def __str__(self) -> str:
        return str(self.title)


class Standing(models.TextChoices):
    """The status of a message."""

    PENDING = "PENDING", "being sent"
    SENT = "SENT", "sent"
    FAILED = "FAILED", "failed"


class CeNotification(models.Model):
    """One message of a tool: one row per call and turn."""

    notification_id = models.BigAutoField("id", primary_key=True)
    key = models.CharField(max_length=64, unique=True)
    conversation_id = models.TextField("conversation")
    turn_no = models.IntegerField("turn")
    tool_code = models.TextField("tool")
    channel = models.TextField()
    recipient = models.TextField()
    subject = models.TextField(default="", blank=True)
    body = models.TextField(default="", blank=True)
    status = models.TextField(choices=Standing.choices, default=Standing.PENDING)
    error = models.TextField(default="", blank=True)
    created_at = models.DateTimeField("created", default=timezone.now)
    sent_at = models.DateTimeField("sent", null=True, blank=True)

    class Meta:
        db_table = "ce_notification"
        verbose_name = "sent message"
        indexes = [models.Index(fields=["conversation_id", "notification_id"], name="ce_notification_conversation")]

    def __str__(self) -> str:
        return f"{self.channel} to {self.recipient}"

    def finish(self, status: Standing, error: str = "") -> None:
        """Store the result."""
        values: dict[str, Any] = {"status": status, "error": error[:1000]}
        if status == Standing.SENT:
            values["sent_at"] = timezone.now()
        type(self).objects.filter(pk=self.pk).update(**values)


def make_search_index(sender: object, using: str, **_: Any) -> None:
    """Make the full-text index of documents after a migration if it is missing; skip a database without the table."""
    connection = connections[using]
    if "ce_document" not in connection.introspection.table_names():
        return
    statements = _POSTGRES if connection.vendor == "postgresql" else _SQLITE
    with connection.cursor() as cursor:
        for statement in statements:
            cursor.execute(statement)
