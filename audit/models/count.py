"""What the reports count: turns by hour and by day, without persons, and what became of conversations and forms."""

from typing import ClassVar

from django.db import models
from django.db.models import Q


class CeTurnCount(models.Model):
    """How many turns of a time had something: an outcome, a state, an error, a stage, a deciding row.

    A job fills it from the records, never a turn. It stays when turns are erased or removed. Days are those of the time
    zone of the deployment; hours are kept for a month, of the kinds that anything reads by hour.
    """

    #: The `kind` of counts that are no table of a deciding row. Of the stages, only those of `STAGES` are counted.
    TURN, STATE, ERROR, STAGE, BEGUN, MODEL_CALLS = "TURN", "STATE", "ERROR", "STAGE", "BEGUN", "MODEL_CALLS"
    MODEL_FAILED, TASK_FAILED, FEEDBACK = "MODEL_FAILED", "TASK_FAILED", "FEEDBACK"
    #: Conversations by what became of them, where they began.
    OUTCOME = "OUTCOME"
    #: Turns that brought a conversation into a state, and out of the one before.
    ENTERED, EXITED = "ENTERED", "EXITED"
    #: Those turns by where they came from. The value is the intent and state before, and the state after.
    MOVED = "MOVED"
    SEPARATOR = "\x1f"
    #: Turns by duration, whose value is the first millisecond of its range; and not understood ones by state.
    TIME, NOT_UNDERSTOOD = "TIME", "NOT_UNDERSTOOD"
    #: Calls by model (`connection/model`) with their cost, failed ones, the turns that made them, and those of them in
    #: which a model gave no usable answer.
    MODEL, MODEL_ERROR, MODEL_TURN, MODEL_TURN_FAILED = "MODEL", "MODEL_ERROR", "MODEL_TURN", "MODEL_TURN_FAILED"
    #: Calls by model and duration (`connection/model:duration`), and turns by step and duration (`step:duration`)
    #: where the step took a millisecond or longer; blank for all turns with known steps.
    MODEL_TIME, STEP = "MODEL_TIME", "STEP"
    #: Rated turns by the row that answered (`table:key`).
    ANSWER_UP, ANSWER_DOWN = "ANSWER_UP", "ANSWER_DOWN"
    #: Begins the kinds of the steps of forms, such as FORM_ASKED; their value is `schema:field`.
    FORM = "FORM_"
    #: Begins the kinds of what became of forms, where they began, such as FORM_IS_LEFT; their value is `schema:field`.
    FORM_OUTCOME = "FORM_IS_"
    #: For how many days hours are kept: a month, and the week that an alert looks back.
    HOURS_KEPT = 38

    id = models.BigAutoField(primary_key=True)
    is_hour = models.BooleanField("by hour", default=False, help_text="Of an hour; otherwise of a whole day.")
    hour = models.DateTimeField(
        help_text="The beginning of the time in which the turns began; of a day its first hour."
    )
    workspace_id = models.TextField("workspace")
    channel = models.TextField()
    config_version = models.BigIntegerField("release")
    intent_code = models.TextField("intent", help_text="The intent after the turn; of EXITED the one before.")
    kind = models.TextField(help_text="What is counted: such as TURN, STATE or STAGE, or the table of a deciding row.")
    value = models.TextField(help_text="The outcome, state, error code, stage or key of the row.")
    turns = models.BigIntegerField(help_text="How many turns had it; of MODEL_CALLS, how many calls they made.")
    amount = models.DecimalField(
        max_digits=24, decimal_places=9, help_text="Of TURN their milliseconds; of MODEL_CALLS their cost."
    )

    class Meta:
        db_table = "ce_turn_count"
        verbose_name = "count of turns"
        verbose_name_plural = "counts of turns"
        default_permissions = ()
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=[
                    *("kind", "is_hour", "hour", "value"),
                    *("intent_code", "config_version", "channel", "workspace_id"),
                ],
                name="ce_turn_count_once",
            )
        ]
        indexes: ClassVar = [models.Index(fields=["hour"], condition=Q(is_hour=True), name="ce_turn_count_hours")]

    def __str__(self) -> str:
        return f"{self.kind} {self.value} at {self.hour}"


class CeCountProgress(models.Model):
    """Up to which record turns are counted, up to which rating, and up to which record outcomes: a row for each."""

    TURNS, FEEDBACK, OUTCOMES = 1, 2, 3

    id = models.SmallIntegerField(primary_key=True, default=1)
    counted = models.BigIntegerField(default=0, help_text="The last record that is counted.")
    seen = models.BigIntegerField(default=0, help_text="The newest record when the job last looked.")
    seen_at = models.DateTimeField(null=True, help_text="When that was.")
    definition = models.SmallIntegerField(default=0, help_text="Which definition of the counts they follow.")

    class Meta:
        db_table = "ce_count_progress"
        verbose_name = "progress of counting"
        verbose_name_plural = "progress of counting"
        default_permissions = ()

    def __str__(self) -> str:
        return f"counted up to record {self.counted}"


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
