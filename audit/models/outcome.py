"""What became of conversations, and of the forms that began in them."""

from typing import ClassVar

from django.db import models


class CeOutcome(models.Model):
    """What became of a conversation, or of a form that began in it: as far as turns are counted.

    The job that counts turns fills it, and the reports count it at the beginning of the conversation or of the form, so
    that the outcomes add up to what began.
    """

    #: The `schema_id` of the row of the conversation itself.
    CONVERSATION = 0

    id = models.BigAutoField(primary_key=True)
    conversation = models.ForeignKey(
        "ce_sessions.CeConversation", on_delete=models.CASCADE, related_name="+", db_index=False
    )
    schema_id = models.BigIntegerField("form", default=CONVERSATION, help_text="0 for the conversation itself.")
    turn_no = models.IntegerField("turn", help_text="The turn in which it began.")
    hour = models.DateTimeField(help_text="The hour in which it began.")
    workspace_id = models.TextField("workspace")
    channel = models.TextField()
    config_version = models.BigIntegerField("release")
    intent_code = models.TextField("intent", help_text="The intent after the turn in which it began.")
    outcome = models.TextField(help_text="What became of it.")
    field = models.TextField(default="", help_text="The field at which the form ended, or which it asks for.")

    class Meta:
        db_table = "ce_outcome"
        verbose_name = "outcome"
        default_permissions = ()
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["conversation", "schema_id", "turn_no"], name="ce_outcome_once")
        ]

    def __str__(self) -> str:
        return f"{self.conversation_id} {self.schema_id}: {self.outcome}"
