"""Tables and views of what turns leave beside their rows."""

from django.db import models
from django.db.models import Q
from django.utils import timezone

from audit.models.sealed import AppendOnly, ReadOnlyView
from convengine.engine.turn.labels import purpose_label


class CeTurnIndex(AppendOnly):
    """What a turn can be found by: a configuration row that decided something in it, or a rare stage of its events.

    Derived from the turn's row, and written with it.
    """

    #: The `kind` of a stage; of a configuration row it is its table.
    STAGE = "STAGE"

    id = models.BigAutoField(primary_key=True)
    turn_id = models.UUIDField()
    at = models.DateTimeField("time", default=timezone.now, help_text="When the turn began.")
    kind = models.TextField("table", help_text="The table of the row that decided; STAGE for a stage.")
    value = models.TextField("row", help_text="The key of the row, or the stage.")
    role = models.TextField("decision", help_text="The decision: POLICY, CLASSIFIER, RULE, RESPONSE and others.")

    class Meta:
        db_table = "ce_turn_index"
        verbose_name = "deciding row"
        indexes = [
            models.Index("kind", "value", models.F("at").desc(), name="ce_turn_index_value"),
            models.Index(fields=["turn_id"], name="ce_turn_index_turn"),
            models.Index(
                models.F("at").desc(),
                models.F("id").desc(),
                name="ce_turn_index_form_step",
                condition=Q(kind="STAGE")
                & (Q(role__contains="/LEFT:") | Q(role__contains="/REFUSED:") | Q(role__contains="/MISSED:")),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.value}"


class CeRunningEvent(models.Model):
    """Events of a running turn, for readers: until its commit, or until its record is written for it."""

    id = models.BigAutoField(primary_key=True)
    conversation_id = models.UUIDField("conversation")
    lease_token = models.UUIDField("lease", help_text="The lease of the turn that wrote them.")
    turn_id = models.UUIDField()
    turn_no = models.IntegerField("turn")
    config_version = models.BigIntegerField("release")
    created_at = models.DateTimeField("began", help_text="When the turn began.")
    last_seq = models.IntegerField("last event", help_text="The number of the last event.")
    events = models.TextField(help_text="A part of the turn's events, as a JSON list.")

    class Meta:
        db_table = "ce_running_event"
        verbose_name = "events of a running turn"
        verbose_name_plural = "events of running turns"
        default_permissions = ()
        indexes = [models.Index(fields=["conversation_id", "id"], name="ce_running_event_order")]

    def __str__(self) -> str:
        return f"Turn {self.turn_no}, up to event {self.last_seq}"


class CeAudit(ReadOnlyView):
    """One event: a view on the rows of turns, for people with SQL tools and the list of events.

    `audit_id` is the row × 10,000 + the number of the event. The columns are those of the original's table.
    """

    audit_id = models.BigIntegerField("id", primary_key=True)
    conversation_id = models.UUIDField("conversation")
    stage = models.TextField()
    payload_json = models.JSONField("payload")
    created_at = models.DateTimeField("time")
    turn_id = models.UUIDField(null=True)
    turn_no = models.IntegerField("turn", null=True)
    seq = models.IntegerField("number")
    config_version = models.BigIntegerField("release", null=True)

    class Meta:
        managed = False
        db_table = "ce_audit"
        verbose_name = "audit event"

    def __str__(self) -> str:
        return f"Turn {self.turn_no}, event {self.seq}: {self.stage}"


class CeLlmCallLog(ReadOnlyView):
    """One call to a model, including failed ones: a view on the rows of turns."""

    llm_call_id = models.BigIntegerField("id", primary_key=True)
    conversation_id = models.UUIDField("conversation")
    intent_code = models.TextField("intent", default="UNKNOWN")
    state_code = models.TextField("state", default="UNKNOWN")
    provider = models.TextField(default="UNKNOWN")
    model = models.TextField(default="UNKNOWN")
    temperature = models.DecimalField(max_digits=3, decimal_places=2, null=True)
    prompt_text = models.TextField("prompt")
    user_context = models.TextField("context", default="{}")
    response_text = models.TextField("response", null=True)
    success = models.BooleanField(default=False)
    error_message = models.TextField("error", null=True)
    created_at = models.DateTimeField("time")
    turn_id = models.UUIDField(null=True)
    turn_no = models.IntegerField("turn", null=True)
    purpose = models.TextField(null=True)
    attempt = models.IntegerField(null=True)
    latency_ms = models.IntegerField("time (ms)", null=True)
    input_tokens = models.IntegerField(null=True)
    output_tokens = models.IntegerField(null=True)
    cost = models.DecimalField(max_digits=18, decimal_places=9, null=True)
    template_id = models.BigIntegerField("prompt template", null=True)
    config_version = models.BigIntegerField("release", null=True)

    class Meta:
        managed = False
        db_table = "ce_llm_call_log"
        verbose_name = "model call"

    def __str__(self) -> str:
        return f"{purpose_label(self.purpose)} of turn {self.turn_no}"
