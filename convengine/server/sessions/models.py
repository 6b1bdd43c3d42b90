"""Tables of conversations: written by the server, read-only for users."""

import json
import uuid
from collections.abc import Callable
from datetime import datetime
from typing import Any

from django.db import models
from django.db.models import Q
from django.utils import timezone

from convengine.engine.turn.conversation import PLAIN_CHANNEL
from convengine.engine.turn.enums import ConversationStatus, Lifecycle, TurnStatus
from convengine.engine.turn.labels import code_label
from convengine.engine.turn.ports import RULE_CLAIMANT
from convengine.engine.turn.scope import UNKNOWN
from convengine.server.database.signed_rows import SignedModel, SignedState, sign_claim

#: What frees the lease of a conversation, in SQL.
FREE_LEASE = "lease_token = NULL, lease_expires_at = NULL, lease_info = NULL, lease_interrupted_by = NULL"
#: In the detail of a session that was closed for good: a message of the plain turn API does not open it again.
CLOSED_BY_CALL = "close"
#: The reason there of one whose content was erased.
ERASED = "erased"
#: The channel of the demonstration's sample week.
SAMPLE = "sample"
#: The lifecycles of a session that has ended.
ENDED = (Lifecycle.COMPLETE.value, Lifecycle.ABORTED.value)


def is_closed_for_good(channel: str, lifecycle: str, by: str | None) -> bool:
    """Whether a session takes no more messages. `by`: who closed it, in its detail.

    One of the plain turn API goes on with the next message, unless a call closed it.
    """
    return lifecycle in ENDED and (channel != PLAIN_CHANNEL or by == CLOSED_BY_CALL)


def describe_identity(conversation_id: uuid.UUID | str, *identity: str | None) -> str:
    """Whose conversation it is, as its proof says it: workspace, channel, participant, and who opened it.

    The session before it follows, if there is one.
    """
    return json.dumps([str(uuid.UUID(str(conversation_id))), *identity])


def prove_identity(conversation_id: uuid.UUID | str, *identity: str | None) -> str:
    """The proof of a new conversation, of the same values."""
    return sign_claim("ce_conversation", describe_identity(conversation_id, *identity))


def list_previous(conversation_id: uuid.UUID | str | None) -> list[str]:
    """What the identity of a session says of the one before it."""
    return [str(uuid.UUID(str(conversation_id)))] if conversation_id else []


class CeConversation(SignedModel):
    """A session: the state that the next turn starts from."""

    conversation_id = models.UUIDField("conversation", primary_key=True, default=uuid.uuid4)
    #: Processes of the version before, which still run while it is replaced, do not set it.
    proof = models.TextField(default="", db_default="", help_text="Proof that the product wrote this row.")
    status = models.TextField(choices=ConversationStatus.choices(), default=ConversationStatus.RUNNING.value)
    intent_code = models.TextField("intent", default=UNKNOWN)
    state_code = models.TextField("state", default=UNKNOWN)
    context_json = models.JSONField("context", default=dict)
    input_params_json = models.JSONField("parameters", default=dict)
    last_user_text = models.TextField("last message", null=True)
    last_assistant_json = models.JSONField("last answer", null=True)
    created_at = models.DateTimeField("created", default=timezone.now)
    updated_at = models.DateTimeField("changed", default=timezone.now)
    version = models.IntegerField(default=0, help_text="Increases with every commit.")
    last_turn_no = models.IntegerField("last turn", default=0, help_text="Number of the last turn that took the lease.")
    turn_count = models.IntegerField("turns", default=0, help_text="Turns that committed.")
    context_epoch = models.IntegerField("resets", default=0, help_text="Number of resets.")
    workspace_id = models.TextField("workspace", default="default")
    channel = models.TextField(default="api")
    remote_jid = models.TextField(
        "participant", help_text="The participant on the channel. On the plain turn API, the id of the conversation."
    )
    lifecycle = models.TextField(choices=Lifecycle.choices(), default=Lifecycle.RUNNING.value)
    lifecycle_detail = models.JSONField("lifecycle details", default=dict)
    lease_token = models.UUIDField("lease", null=True)
    lease_expires_at = models.DateTimeField("lease expires", null=True)
    lease_info = models.JSONField(
        "running turn", null=True, help_text="The running turn, so that it can be recorded if its process dies."
    )
    lease_interrupted_by = models.UUIDField("interrupted by", null=True)
    previous_session = models.ForeignKey("self", null=True, on_delete=models.SET_NULL, related_name="next_sessions")
    context_summary = models.TextField(default="", blank=True)
    preferences = models.JSONField(default=dict)
    mounted_kb_id = models.TextField("knowledge base", null=True)
    last_message_at = models.DateTimeField(null=True)
    expires_at = models.DateTimeField("expires", null=True)
    compacted_version = models.IntegerField(
        db_default=-1, help_text="The version for which the ended session was compacted."
    )
    opened_by = models.TextField(
        null=True,
        help_text="The prefix of the API key that started the conversation. Empty if a user of the admin started it.",
    )
    chain_head = models.BinaryField("seal", null=True, help_text="The hash of the seal of the newest turn record.")
    watched_until = models.DateTimeField(
        null=True, help_text="Until then, turns store their events while they run, for readers of the live stream."
    )

    class Meta:
        db_table = "ce_conversation"
        verbose_name = "conversation"
        permissions = [
            ("try_conversation", "Can try conversations"),
            ("take_real_turns", "Can really call from the simulator"),
        ]
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
        return (
            f"{self.remote_jid or self.conversation_id} ({code_label(self.intent_code)}, {code_label(self.state_code)})"
        )

    def save(self, *args: Any, **options: Any) -> None:
        """As in Django; a new conversation gets its proof."""
        if self._state.adding:
            self.sign()
        super().save(*args, **options)

    def claim(self) -> str:
        """Whose conversation it is."""
        identity = (self.workspace_id, self.channel, self.remote_jid, self.opened_by)
        return describe_identity(self.pk, *identity, *list_previous(self.previous_session_id))

    @property
    def ended_turns(self) -> int:
        """The number of turns that ended, whether they were saved or not. Retention may have removed some."""
        return self.last_turn_no - (self.lease_token is not None)

    @property
    def unsaved_turns(self) -> int:
        """How many of them failed or were interrupted."""
        return max(self.ended_turns - self.turn_count, 0)

    @property
    def is_erased(self) -> bool:
        """True when its content was erased."""
        return bool(self.lifecycle_detail.get("reason") == ERASED)


class CeThread(SignedState):
    """Everything that one participant writes on one channel; a row since its first session, kept when its sessions are
    removed.
    """

    SEALED = ("workspace_id", "channel", "remote_jid")

    id = models.BigAutoField(primary_key=True)
    workspace_id = models.TextField("workspace")
    channel = models.TextField()
    remote_jid = models.TextField("participant")
    created_at = models.DateTimeField("created", default=timezone.now)

    class Meta:
        db_table = "ce_thread"
        verbose_name = "thread"
        indexes = [models.Index(fields=["remote_jid"], name="ce_thread_participant")]
        constraints = [
            models.UniqueConstraint(fields=["workspace_id", "channel", "remote_jid"], name="ce_thread_once"),
        ]

    def __str__(self) -> str:
        return f"{self.remote_jid} on {self.channel}"


#: The `source` of a turn that the product ran, of one handled elsewhere, and of a row that is no turn.
TURN, EXTERNAL, ADDITION = "TURN", "EXTERNAL", "ADDITION"
#: Columns that only readers of a turn's details need.
DOCUMENTS = ("events", "recording", "seal")


class TurnManager(models.Manager["CeConversationHistory"]):
    """Turns without their documents, which load when they are asked for."""

    def get_queryset(self) -> models.QuerySet["CeConversationHistory"]:
        """No additions, and no documents."""
        return super().get_queryset().exclude(source=ADDITION).defer(*DOCUMENTS)


class AdditionManager(models.Manager["CeConversationHistory"]):
    """Events outside of turns, and events that were written after the commit of their turn."""

    def get_queryset(self) -> models.QuerySet["CeConversationHistory"]:
        """Additions only."""
        return super().get_queryset().filter(source=ADDITION)


class CeThreadPart(models.Model):
    """A part of a participant's name, in the form in which names are compared: the index of the search for people."""

    id = models.BigAutoField(primary_key=True)
    thread = models.ForeignKey(CeThread, on_delete=models.CASCADE, related_name="parts")
    part = models.TextField()

    class Meta:
        db_table = "ce_thread_part"
        verbose_name = "part of a participant's name"
        default_permissions = ()
        indexes = [
            models.Index(
                fields=["part", "thread"], name="ce_thread_part_prefix", opclasses=["text_pattern_ops", "int8_ops"]
            )
        ]

    def __str__(self) -> str:
        return self.part


class CeConversationHistory(models.Model):
    """One turn: its record, the history for prompts, and everything that it leaves.

    `events` is a JSON list, verbatim: `{seq, stage, step, ms, payload}`, described in `audit/record/document.py`. An
    ADDITION has later events of a turn, or, without a number, events outside of turns.
    """

    history_id = models.BigAutoField("id", primary_key=True)
    conversation = models.ForeignKey(CeConversation, on_delete=models.CASCADE, related_name="turns", db_index=False)
    user_input = models.TextField("message", null=True)
    assistant_output = models.JSONField("answer", null=True)
    created_at = models.DateTimeField("created", default=timezone.now)
    modified_at = models.DateTimeField("changed", default=timezone.now)
    # Null outside of turns only: `objects` gives none of those.
    turn_id: "models.UUIDField[Any, uuid.UUID]" = models.UUIDField(default=uuid.uuid4, null=True)  # type: ignore[misc]
    turn_no: "models.IntegerField[Any, int]" = models.IntegerField("turn", null=True)  # type: ignore[misc]
    context_epoch = models.IntegerField("resets", default=0)
    status = models.TextField(choices=TurnStatus.choices(), default=TurnStatus.OK.value)
    source = models.TextField(
        default=TURN,
        help_text="TURN, EXTERNAL for a turn handled elsewhere, or ADDITION for events without a turn of their own.",
    )
    error_code = models.TextField(null=True)
    error_message = models.TextField("error", null=True)
    intent_before = models.TextField(null=True)
    state_before = models.TextField(null=True)
    intent_code = models.TextField("intent", default=UNKNOWN)
    state_code = models.TextField("state", default=UNKNOWN)
    config_version = models.BigIntegerField("release")
    duration_ms = models.IntegerField("duration (ms)", null=True)
    cost = models.DecimalField(max_digits=18, decimal_places=9, null=True, help_text="Of the model calls with a price.")
    model_calls = models.IntegerField(default=0)
    last_seq = models.IntegerField("last event", default=0, help_text="The number of the last event.")
    index_hash = models.BigIntegerField(null=True, help_text="The hash of the row's entries in ce_turn_index.")
    request_id = models.TextField("request ID", null=True, help_text="The ID of the API call (X-Request-ID).")
    facts = models.JSONField("parameters", null=True, help_text="Parameters of the turn at its end.")
    audit_incomplete = models.BooleanField("record incomplete", default=False)
    replayable = models.BooleanField("can be replayed", default=True)
    replay_note = models.TextField("why it cannot be replayed", null=True)
    events = models.TextField(null=True, help_text="The events as a JSON list. No turn reads it.")
    recording = models.BinaryField(null=True, help_text="Everything that the turn read and received. No turn reads it.")
    seal = models.BinaryField(null=True, help_text="The seal of the whole row, with the hash of the seal before it.")

    objects = TurnManager()
    additions = AdditionManager()

    class Meta:
        db_table = "ce_conversation_history"
        verbose_name = "turn"
        indexes = [
            models.Index("conversation", models.F("created_at").desc(), name="ce_history_newest"),
            # Not unique: the lease gives each turn its number, and a partitioned table has no such constraint.
            models.Index(fields=["conversation", "turn_no"], include=["source"], name="ce_history_turn"),
            models.Index(fields=["turn_id"], name="ce_history_turn_id"),
            models.Index(
                fields=["conversation", "history_id"], condition=Q(source="ADDITION"), name="ce_history_additions"
            ),
            # The past that a turn reads: the committed turns, without failed ones.
            models.Index(
                "conversation",
                models.F("turn_no").desc(),
                condition=Q(status__in=["OK", "BLOCKED"]),
                name="ce_history_committed",
            ),
            models.Index(fields=["history_id"], condition=Q(model_calls__gt=0), name="ce_history_model_calls"),
            # For searches, each newest first. With the source, so that turns are counted without reading their rows.
            models.Index(fields=["intent_code", "history_id"], include=["source"], name="ce_history_intent"),
            models.Index(fields=["state_code", "history_id"], include=["source"], name="ce_history_state"),
            models.Index(fields=["config_version", "history_id"], include=["source"], name="ce_history_release"),
            models.Index(
                fields=["error_code", "history_id"],
                condition=Q(error_code__isnull=False),
                include=["source"],
                name="ce_history_error",
            ),
            models.Index(
                fields=["status", "history_id"], condition=~Q(status="OK"), include=["source"], name="ce_history_not_ok"
            ),
        ]

    def __str__(self) -> str:
        return f"Turn {self.turn_no}"


class CeMemory(models.Model):
    """A summary beyond the prompt window."""

    class MemoryType(models.TextChoices):
        """The kind of a memory row."""

        SESSION_SUMMARY = "SESSION_SUMMARY", "Running summary"
        COMPACTED = "COMPACTED", "Summary of an ended session"

    memory_id = models.BigAutoField("id", primary_key=True)
    conversation = models.ForeignKey(CeConversation, on_delete=models.CASCADE, related_name="memories", db_index=False)
    memory_type = models.TextField("type", choices=MemoryType.choices, default=MemoryType.SESSION_SUMMARY)
    workspace_id = models.TextField("workspace")
    channel = models.TextField()
    remote_jid = models.TextField("participant")
    summary_text = models.TextField("summary")
    source = models.TextField(choices=[("TEMPLATE", "Built"), ("LLM", "Written by a model")], default="TEMPLATE")
    detail_json = models.JSONField("details", default=dict)
    from_turn = models.IntegerField()
    to_turn = models.IntegerField()
    created_at = models.DateTimeField("created", default=timezone.now)
    updated_at = models.DateTimeField("changed", default=timezone.now)

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
        return str(self.get_memory_type_display())


class CeSessionUnit(models.Model):
    """A reusable fact, constraint, definition or guidance taken from the turns."""

    unit_id = models.BigAutoField("id", primary_key=True)
    conversation = models.ForeignKey(CeConversation, on_delete=models.CASCADE, related_name="units", db_index=False)
    kind = models.TextField(choices=[(kind, kind.title()) for kind in ("FACT", "CONSTRAINT", "DEFINITION", "GUIDANCE")])
    topic = models.TextField()
    claim = models.TextField()
    source_turn = models.IntegerField("turn")
    content_hash = models.TextField("hash")
    utility = models.JSONField("useful for", default=list)
    phases = models.JSONField(default=list)
    committed_at = models.DateTimeField("created", default=timezone.now)

    class Meta:
        db_table = "ce_session_unit"
        verbose_name = "session unit"
        constraints = [models.UniqueConstraint(fields=["conversation", "content_hash"], name="ce_session_unit_once")]

    def __str__(self) -> str:
        return f"{self.get_kind_display()}: {self.topic}"


class CePendingActionExecution(SignedState):
    """The claim that lets an opened action, a tool or a rule's task run at most once."""

    SEALED = (
        *("conversation_id", "turn_id", "action_key", "action_ref", "runtime_nonce", "status", "request_hash"),
        *("result_json", "started_at", "finished_at"),
    )

    id = models.BigAutoField(primary_key=True)
    conversation = models.ForeignKey(
        CeConversation, on_delete=models.CASCADE, related_name="executions", db_index=False
    )
    turn_id = models.UUIDField()
    action_key = models.TextField("action")
    action_ref = models.TextField("task")
    runtime_nonce = models.UUIDField()
    status = models.TextField(choices=[(status, status.title()) for status in ("CLAIMED", "EXECUTED", "FAILED")])
    request_hash = models.TextField(default="")
    result_json = models.JSONField("result", null=True)
    started_at = models.DateTimeField("started", default=timezone.now)
    finished_at = models.DateTimeField("finished", null=True)

    class Meta:
        db_table = "ce_pending_action_execution"
        verbose_name = "action execution"
        permissions = [("settle_execution", "Can record the outcome of an execution whose result is unknown")]
        constraints = [
            models.UniqueConstraint(fields=["conversation", "runtime_nonce"], name="ce_pending_action_execution_once")
        ]

    def __str__(self) -> str:
        name = self.action_ref if self.action_key.startswith(RULE_CLAIMANT) else self.action_key
        return f"{name} ({self.get_status_display()})"


class CeExtensionFault(models.Model):
    """An exception of the deployment's own code in a turn, with its traceback. It is no part of the record."""

    id = models.BigAutoField(primary_key=True)
    conversation = models.ForeignKey(CeConversation, on_delete=models.CASCADE, related_name="faults", db_index=False)
    turn_no = models.IntegerField("turn")
    kind = models.TextField("extension")
    name = models.TextField()
    error_type = models.TextField("exception")
    message = models.TextField()
    traceback = models.TextField()
    created_at = models.DateTimeField("created", default=timezone.now)

    class Meta:
        db_table = "ce_extension_fault"
        verbose_name = "exception of an extension"
        verbose_name_plural = "exceptions of extensions"
        default_permissions = ("view",)
        indexes = [
            models.Index(fields=["conversation", "turn_no"], name="ce_extension_fault_turn"),
            models.Index(fields=["created_at"], name="ce_extension_fault_time"),
        ]

    def __str__(self) -> str:
        return f"{self.label} {self.name}: {self.error_type}"

    @property
    def label(self) -> str:
        """What raised it, in words."""
        return self.kind.replace("_", " ").capitalize()


class CeTurnTicket(models.Model):
    """A ticket in the queue for a conversation's lease; only turns that meet a held lease draw one."""

    id = models.BigAutoField(primary_key=True)
    conversation_id = models.UUIDField("conversation")
    arrived_at = models.DateTimeField("arrived")
    expires_at = models.DateTimeField("expires")

    class Meta:
        db_table = "ce_turn_ticket"
        verbose_name = "waiting turn"
        indexes = [models.Index(fields=["conversation_id", "id"], name="ce_turn_ticket_queue")]

    def __str__(self) -> str:
        return f"Waiting turn {self.id}"


class CeIdempotency(SignedState):
    """The stored answer of a committed turn that came with an Idempotency-Key."""

    SEALED = ("api_key", "key", "body_hash", "conversation_id", "turn_id", "answer", "created_at", "expires_at")

    id = models.BigAutoField(primary_key=True)
    api_key = models.TextField(
        "API key", help_text="The API key of the caller. Callers with other keys do not get this answer."
    )
    key = models.CharField(max_length=128)
    body_hash = models.TextField("hash of the request")
    conversation_id = models.UUIDField("conversation")
    turn_id = models.UUIDField()
    answer: Any = models.JSONField()
    created_at = models.DateTimeField("created")
    expires_at = models.DateTimeField("expires")

    class Meta:
        db_table = "ce_idempotency"
        verbose_name = "stored answer"
        constraints = [models.UniqueConstraint(fields=["api_key", "key"], name="ce_idempotency_once")]
        indexes = [models.Index(fields=["expires_at"], name="ce_idempotency_expiry")]

    def __str__(self) -> str:
        return self.key


#: Called in the transaction that stores what a person wrote: the conversation, the turn, the text, and when.
external_answer_listeners: list[Callable[[CeConversation, str, str, datetime], None]] = []
