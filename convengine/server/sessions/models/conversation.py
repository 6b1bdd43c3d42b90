"""Sessions, their threads and their turns (tables 6.1, 6.2)."""

import uuid

from django.db import models
from django.db.models import Q
from django.utils import timezone

from convengine.engine.turn.enums import ConversationStatus, Lifecycle, TurnStatus
from convengine.engine.turn.scope import UNKNOWN

#: In the detail of a session that was closed for good: a message of the plain turn API does not open it again (R39).
CLOSED_BY_CALL = "close"
#: The lifecycles of a session that has ended.
ENDED = (Lifecycle.COMPLETE.value, Lifecycle.ABORTED.value)


class CeConversation(models.Model):
    """A session: the state that the next turn starts from (tables 6.1)."""

    conversation_id = models.UUIDField(primary_key=True, default=uuid.uuid4)
    status = models.TextField(choices=ConversationStatus.choices(), default=ConversationStatus.RUNNING.value)
    intent_code = models.TextField(default=UNKNOWN)
    state_code = models.TextField(default=UNKNOWN)
    context_json = models.JSONField(default=dict)
    input_params_json = models.JSONField(default=dict)
    last_user_text = models.TextField(null=True)
    last_assistant_json = models.JSONField(null=True)
    created_at = models.DateTimeField(default=timezone.now)
    updated_at = models.DateTimeField(default=timezone.now)
    version = models.IntegerField(default=0, help_text="Grows by one with every commit.")
    last_turn_no = models.IntegerField(default=0, help_text="Number of the last turn that took the lease.")
    turn_count = models.IntegerField(default=0, help_text="Turns that committed.")
    context_epoch = models.IntegerField(default=0, help_text="Grows by one with every reset.")
    workspace_id = models.TextField(default="default")
    channel = models.TextField(default="api")
    remote_jid = models.TextField(help_text="The participant on the channel; the id itself on the plain turn API.")
    lifecycle = models.TextField(choices=Lifecycle.choices(), default=Lifecycle.RUNNING.value)
    lifecycle_detail = models.JSONField(default=dict)
    lease_token = models.UUIDField(null=True)
    lease_expires_at = models.DateTimeField(null=True)
    lease_info = models.JSONField(null=True, help_text="The turn that runs: enough to record it if it dies.")
    lease_interrupted_by = models.UUIDField(null=True)
    previous_session = models.ForeignKey("self", null=True, on_delete=models.SET_NULL, related_name="next_sessions")
    context_summary = models.TextField(default="", blank=True)
    preferences = models.JSONField(default=dict)
    mounted_kb_id = models.TextField(null=True)
    last_message_at = models.DateTimeField(null=True)
    expires_at = models.DateTimeField(null=True)
    compacted_version = models.IntegerField(
        db_default=-1, help_text="The version for which the ended session was compacted."
    )
    opened_by = models.TextField(
        null=True, help_text="The prefix of the API key whose call began it; null where people tried it."
    )
    chain_head = models.BinaryField(null=True, help_text="The hash of the seal of the newest turn record.")

    class Meta:
        db_table = "ce_conversation"
        verbose_name = "conversation"
        permissions = [("try_conversation", "Can try conversations")]
        indexes = [
            models.Index(fields=["status"], name="ce_conversation_status"),
            models.Index(fields=["updated_at"], name="ce_conversation_updated"),
            models.Index(fields=["workspace_id", "channel", "remote_jid", "lifecycle"], name="ce_conversation_thread"),
            # The sessions of a participant, newest first.
            models.Index(
                fields=["remote_jid", "created_at", "conversation_id"],
                condition=~Q(channel="api"),
                name="ce_conversation_participant",
            ),
            # For the jobs. No column of these changes when a turn takes its lease.
            models.Index(
                fields=["channel", "updated_at"],
                condition=~Q(channel="api") & ~Q(lifecycle__in=["COMPLETE", "ABORTED"]),
                name="ce_conversation_to_close",
            ),
            models.Index(
                fields=["updated_at"],
                condition=Q(lifecycle__in=["COMPLETE", "ABORTED"]) & ~Q(compacted_version=models.F("version")),
                name="ce_conversation_to_compact",
            ),
        ]
        constraints = [
            models.UniqueConstraint(
                fields=["workspace_id", "channel", "remote_jid"],
                condition=~Q(lifecycle__in=["COMPLETE", "ABORTED"]),
                name="ce_conversation_one_open_session",
            ),
            models.CheckConstraint(
                condition=~Q(intent_code="") & ~Q(state_code=""), name="ce_conversation_codes_not_blank"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.conversation_id} ({self.intent_code}/{self.state_code})"


class CeThread(models.Model):
    """Everything that one participant writes on one channel; a row since its first session, kept when its sessions are
    removed.
    """

    id = models.BigAutoField(primary_key=True)
    workspace_id = models.TextField()
    channel = models.TextField()
    remote_jid = models.TextField()
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        db_table = "ce_thread"
        verbose_name = "thread"
        indexes = [models.Index(fields=["remote_jid"], name="ce_thread_participant")]
        constraints = [
            models.UniqueConstraint(fields=["workspace_id", "channel", "remote_jid"], name="ce_thread_once"),
        ]

    def __str__(self) -> str:
        return f"{self.workspace_id}/{self.channel}/{self.remote_jid}"


class CeConversationHistory(models.Model):
    """One turn: both the turn record and the history for prompts (tables 6.2, R17)."""

    history_id = models.BigAutoField(primary_key=True)
    conversation = models.ForeignKey(CeConversation, on_delete=models.CASCADE, related_name="turns", db_index=False)
    user_input = models.TextField(null=True)
    assistant_output = models.JSONField(null=True)
    created_at = models.DateTimeField(default=timezone.now)
    modified_at = models.DateTimeField(default=timezone.now)
    turn_id = models.UUIDField(default=uuid.uuid4, unique=True)
    turn_no = models.IntegerField()
    context_epoch = models.IntegerField(default=0)
    status = models.TextField(choices=TurnStatus.choices(), default=TurnStatus.OK.value)
    source = models.TextField(default="TURN", help_text="TURN, or EXTERNAL for a turn handled elsewhere.")
    error_code = models.TextField(null=True)
    error_message = models.TextField(null=True)
    intent_code = models.TextField(default=UNKNOWN)
    state_code = models.TextField(default=UNKNOWN)
    config_version = models.BigIntegerField()
    duration_ms = models.IntegerField(null=True)
    facts = models.JSONField(null=True, help_text="The turn-lifetime input params at the end of the turn.")
    audit_incomplete = models.BooleanField(default=False)
    request_meta = models.JSONField(null=True)
    trace_graph = models.JSONField(null=True)
    recording = models.BinaryField(
        null=True, help_text="Everything the turn read and was answered; never read by a turn."
    )
    replayable = models.BooleanField(default=True)
    replay_note = models.TextField(null=True)
    chain = models.BinaryField(
        null=True, help_text="The seal over the turn: the hash before it, a salt, digests of what the turn left."
    )

    class Meta:
        db_table = "ce_conversation_history"
        verbose_name = "turn"
        indexes = [
            models.Index("conversation", models.F("created_at").desc(), name="ce_history_newest"),
            # The past that a turn reads: the committed turns, without failed ones.
            models.Index(
                "conversation",
                models.F("turn_no").desc(),
                condition=Q(status__in=["OK", "BLOCKED"]),
                name="ce_history_committed",
            ),
            # For searches, each newest first.
            models.Index(fields=["intent_code", "history_id"], name="ce_history_intent"),
            models.Index(fields=["state_code", "history_id"], name="ce_history_state"),
            models.Index(fields=["config_version", "history_id"], name="ce_history_release"),
            models.Index(
                fields=["error_code", "history_id"], condition=Q(error_code__isnull=False), name="ce_history_error"
            ),
            models.Index(fields=["status", "history_id"], condition=~Q(status="OK"), name="ce_history_not_ok"),
        ]
        constraints = [
            models.UniqueConstraint(fields=["conversation", "turn_no"], name="ce_history_turn_no"),
        ]

    def __str__(self) -> str:
        return f"turn {self.turn_no} of {self.conversation_id}"
