"""Feedback on answers."""

from collections.abc import Sequence
from typing import ClassVar

from django.db import models
from django.db.models import Q
from django.utils import timezone

from audit.models.sealed import ChainedRow
from convengine.server.sessions.models import CeConversation


class CeMcpUserFeedback(ChainedRow):
    """A thumb, a comment, a correction: of one person, on one turn. A second one replaces the first, which is kept."""

    #: Not `replaced_at`, which the next feedback of the same person sets.
    SEALED: ClassVar[Sequence[str]] = (
        *("created_at", "conversation_id", "feedback_type", "message_id", "turn_id", "turn_no", "author"),
        *("intent_code", "state_code", "user_query", "assistant_response", "mcp_tool_code", "comment", "correction"),
        *("table_name", "row_pk", "config_version", "metadata_json"),
    )

    class Type(models.TextChoices):
        """The direction of the thumb."""

        THUMBS_UP = "THUMBS_UP", "Thumbs up"
        THUMBS_DOWN = "THUMBS_DOWN", "Thumbs down"

    feedback_id = models.BigAutoField("id", primary_key=True)
    conversation = models.ForeignKey(CeConversation, models.CASCADE, related_name="feedback", db_index=False)
    feedback_type = models.TextField("rating", choices=Type.choices, help_text="Thumbs up or down.")
    message_id = models.CharField(
        max_length=128, null=True, help_text="The id of the answer at the client, or of the turn."
    )
    turn_id = models.UUIDField(help_text="The rated turn.")
    turn_no = models.IntegerField("turn", help_text="The number of the turn in the conversation.")
    author = models.TextField(help_text="participant for feedback from the API, else the name of the user.")
    intent_code = models.TextField("intent", null=True, help_text="The intent at the end of the turn.")
    state_code = models.TextField("state", null=True, help_text="The state at the end of the turn.")
    user_query = models.TextField("message", null=True, help_text="The message of the user.")
    assistant_response = models.TextField("answer", null=True, help_text="The answer as it was shown or stored.")
    mcp_tool_code = models.TextField("tool", null=True, help_text="The tool of the newest result of the planner.")
    comment = models.TextField(default="", blank=True, help_text="The comment on the answer.")
    correction = models.TextField(default="", blank=True, help_text="The answer that was expected.")
    table_name = models.TextField("table", default="", blank=True, help_text="The table of the row that answered.")
    row_pk = models.TextField("row", default="", blank=True, help_text="The row that answered.")
    config_version = models.BigIntegerField("release", null=True, help_text="The release of the turn.")
    captured_query_knowledge_count = models.IntegerField(
        "captured knowledge", default=0, help_text="Always 0. Reserved for a later module."
    )
    applied_query_knowledge_json = models.JSONField(
        "applied knowledge", null=True, help_text="Empty. Reserved for a later module."
    )
    metadata_json = models.JSONField("metadata", null=True, help_text="Additional data of the caller.")
    created_at = models.DateTimeField("time", default=timezone.now)
    replaced_at = models.DateTimeField("replaced", null=True, help_text="When the same person rated this turn again.")

    class Meta:
        db_table = "ce_mcp_user_feedback"
        verbose_name = "feedback"
        verbose_name_plural = "feedback"
        indexes = [
            models.Index("conversation", models.F("created_at").desc(), name="ce_feedback_conversation"),
            models.Index(fields=["created_at"], name="ce_feedback_created", condition=Q(replaced_at=None)),
            models.Index(
                fields=["created_at"],
                name="ce_feedback_comment",
                condition=Q(replaced_at=None) & ~Q(comment="", correction=""),
            ),
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
        return self.author.removeprefix("user:") if self.author.startswith("user:") else "the user of the conversation"
