"""Events, deciding rows and model calls of turns (tables 6.3, 6.4; R58, R84)."""

from django.db import models
from django.utils import timezone

from audit.models.sealed import AppendOnly
from convengine.engine.stages import COMMON, stored_names
from convengine.engine.turn.labels import purpose_label

_COMMON = tuple(sorted(name for stage in COMMON for name in stored_names(stage)))
#: The stages in the index. The others occur in nearly every turn and are searched turn by turn.
_UNCOMMON = ~models.Q(stage__in=_COMMON)
#: Written exactly like the index.
IN_INDEX = f"NOT (stage IN ({', '.join(repr(name) for name in _COMMON)}))"


class CeAudit(AppendOnly):
    """One event of a turn. On PostgreSQL partitioned by range of `audit_id` (R84)."""

    audit_id = models.BigAutoField("id", primary_key=True)
    # No foreign key, because each turn would pay for a check per event.
    conversation_id = models.UUIDField("conversation")
    stage = models.TextField()
    payload_json = models.JSONField("payload")
    created_at = models.DateTimeField("time", default=timezone.now)
    turn_id = models.UUIDField(null=True)
    turn_no = models.IntegerField("turn", null=True)
    seq = models.IntegerField("number")
    config_version = models.BigIntegerField("release", null=True)

    class Meta:
        db_table = "ce_audit"
        verbose_name = "audit event"
        indexes = [
            # None by conversation and time: the turns give the order of a conversation's events, and every index costs
            # a write per event. Without `seq`: then the events of one turn are one entry, and readers sort its eighty
            # events.
            models.Index(fields=["conversation_id", "turn_no"], name="ce_audit_turn"),
            models.Index(fields=["stage", "created_at"], name="ce_audit_stage", condition=_UNCOMMON),
        ]

    def __str__(self) -> str:
        return f"Turn {self.turn_no}, event {self.seq}: {self.stage}"


class CeTurnRow(AppendOnly):
    """A configuration row that decided something in a turn; winners only (R58)."""

    id = models.BigAutoField(primary_key=True)
    turn_id = models.UUIDField()
    created_at = models.DateTimeField("time", default=timezone.now)
    table_name = models.TextField("table")
    row_pk = models.TextField("row")
    role = models.TextField("decision", help_text="The decision: POLICY, CLASSIFIER, RULE, RESPONSE and others.")

    class Meta:
        db_table = "ce_turn_row"
        verbose_name = "deciding row"
        indexes = [
            models.Index("table_name", "row_pk", models.F("created_at").desc(), name="ce_turn_row_of_a_row"),
            models.Index(fields=["turn_id"], name="ce_turn_row_of_a_turn"),
        ]

    def __str__(self) -> str:
        return f"{self.table_name} {self.row_pk}"


class CeLlmCallLog(AppendOnly):
    """One call to a model, including failed ones (tables 6.4)."""

    llm_call_id = models.BigAutoField("id", primary_key=True)
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
    created_at = models.DateTimeField("time", default=timezone.now)
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
        db_table = "ce_llm_call_log"
        verbose_name = "model call"
        indexes = [
            models.Index(fields=["conversation_id", "turn_no"], name="ce_llm_call_turn"),
            models.Index(fields=["intent_code", "state_code"], name="ce_llm_call_scope"),
        ]

    def __str__(self) -> str:
        return f"{purpose_label(self.purpose)} of turn {self.turn_no}"
