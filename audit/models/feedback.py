"""Feedback on answers (tables 7.1)."""

from django.db import models
from django.db.models import Q
from django.utils import timezone

from convengine.server.sessions.models import CeConversation


class CeMcpUserFeedback(models.Model):
    """A thumb, a comment, a correction: of one person, on one turn. A second one replaces the first, which is kept."""

    class Type(models.TextChoices):
        """The direction of the thumb."""

        THUMBS_UP = "THUMBS_UP", "Thumbs up"
        THUMBS_DOWN = "THUMBS_DOWN", "Thumbs down"

    feedback_id = models.BigAutoField(primary_key=True)
    conversation = models.ForeignKey(CeConversation, models.CASCADE, related_name="feedback", db_index=False)
    feedback_type = models.TextField(choices=Type.choices, help_text="Thumbs up or down.")
    message_id = models.CharField(max_length=128, null=True, help_text="The client's id of the answer, or the turn's.")
    turn_id = models.UUIDField(help_text="The turn that is rated.")
    turn_no = models.IntegerField(help_text="Its number in the conversation.")
    author = models.TextField(help_text="`participant` for what came by the API, else the name of the user.")
    intent_code = models.TextField(null=True, help_text="Where the turn led.")
    state_code = models.TextField(null=True, help_text="Where the turn led.")
    user_query = models.TextField(null=True, help_text="What the user had said.")
    assistant_response = models.TextField(null=True, help_text="The answer, as it was shown or as it is stored.")
    mcp_tool_code = models.TextField(null=True, help_text="The tool that the newest observation of the planner is of.")
    comment = models.TextField(default="", blank=True, help_text="What was said about the answer.")
    correction = models.TextField(default="", blank=True, help_text="What should have been answered.")
    table_name = models.TextField(default="", blank=True, help_text="The table of the row that answered.")
    row_pk = models.TextField(default="", blank=True, help_text="The row that answered.")
    config_version = models.BigIntegerField(null=True, help_text="The release that the turn ran on.")
    captured_query_knowledge_count = models.IntegerField(default=0, help_text="Always 0: of a module that comes later.")
    applied_query_knowledge_json = models.JSONField(null=True, help_text="Empty: of a module that comes later.")
    metadata_json = models.JSONField(null=True, help_text="What the caller sent along.")
    created_at = models.DateTimeField(default=timezone.now)
    replaced_at = models.DateTimeField(null=True, help_text="When the same person gave another one on this turn.")

    class Meta:
        db_table = "ce_mcp_user_feedback"
        verbose_name = "feedback"
        verbose_name_plural = "feedback"
        indexes = [
            models.Index("conversation", models.F("created_at").desc(), name="ce_feedback_conversation"),
            models.Index(fields=["created_at"], name="ce_feedback_created", condition=Q(replaced_at=None)),
            models.Index(fields=["table_name", "row_pk"], name="ce_feedback_of_a_row", condition=Q(replaced_at=None)),
        ]
        constraints = [
            models.UniqueConstraint(
                fields=["turn_id", "author"], condition=Q(replaced_at=None), name="ce_feedback_one_of_a_person"
            )
        ]

    def __str__(self) -> str:
        return f"{self.get_feedback_type_display()} on turn {self.turn_no}"

    @property
    def who(self) -> str:
        """The author in words."""
        return self.author.removeprefix("user:") if self.author.startswith("user:") else "the user of the conversation"
