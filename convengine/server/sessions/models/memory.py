"""Memory of sessions for later ones: summaries and units (tables 6.5, 6.6)."""

from django.db import models
from django.utils import timezone

from convengine.server.sessions.models.conversation import CeConversation


class CeMemory(models.Model):
    """A summary beyond the prompt window (tables 6.5, R59)."""

    class MemoryType(models.TextChoices):
        """The kind of a memory row."""

        SESSION_SUMMARY = "SESSION_SUMMARY", "Rolling summary of a session"
        COMPACTED = "COMPACTED", "Written when a session ended"

    memory_id = models.BigAutoField(primary_key=True)
    conversation = models.ForeignKey(CeConversation, on_delete=models.CASCADE, related_name="memories", db_index=False)
    memory_type = models.TextField(choices=MemoryType.choices, default=MemoryType.SESSION_SUMMARY)
    workspace_id = models.TextField()
    channel = models.TextField()
    remote_jid = models.TextField()
    summary_text = models.TextField()
    source = models.TextField(choices=[("TEMPLATE", "Built"), ("LLM", "Written by a model")], default="TEMPLATE")
    detail_json = models.JSONField(default=dict)
    from_turn = models.IntegerField()
    to_turn = models.IntegerField()
    created_at = models.DateTimeField(default=timezone.now)
    updated_at = models.DateTimeField(default=timezone.now)

    class Meta:
        db_table = "ce_memory"
        verbose_name = "memory"
        verbose_name_plural = "memory"
        constraints = [models.UniqueConstraint(fields=["conversation", "memory_type"], name="ce_memory_one_of_a_type")]
        indexes = [
            models.Index(
                "workspace_id", "channel", "remote_jid", models.F("created_at").desc(), name="ce_memory_thread"
            )
        ]

    def __str__(self) -> str:
        return f"{self.memory_type} of {self.conversation_id}"


class CeSessionUnit(models.Model):
    """A reusable fact, constraint, definition or guidance taken from the turns (tables 6.6)."""

    unit_id = models.BigAutoField(primary_key=True)
    conversation = models.ForeignKey(CeConversation, on_delete=models.CASCADE, related_name="units", db_index=False)
    kind = models.TextField(choices=[(kind, kind.title()) for kind in ("FACT", "CONSTRAINT", "DEFINITION", "GUIDANCE")])
    topic = models.TextField()
    claim = models.TextField()
    source_turn = models.IntegerField()
    content_hash = models.TextField()
    utility = models.JSONField(default=list)
    phases = models.JSONField(default=list)
    committed_at = models.DateTimeField(default=timezone.now)

    class Meta:
        db_table = "ce_session_unit"
        verbose_name = "session unit"
        constraints = [models.UniqueConstraint(fields=["conversation", "content_hash"], name="ce_session_unit_once")]

    def __str__(self) -> str:
        return f"{self.kind}: {self.topic}"
