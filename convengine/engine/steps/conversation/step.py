"""The steps at both ends of a turn: load the conversation, and make the result that the commit stores."""

from dataclasses import asdict
from typing import Any

from convengine.engine.dialogue.language import speak
from convengine.engine.errors import PipelineNoFinalResult, PipelineNoResponsePayload
from convengine.engine.memory.context_summary import add_question
from convengine.engine.memory.summary import recall_memory
from convengine.engine.pipeline.engine import audit_timing
from convengine.engine.pipeline.step import Continue, Step
from convengine.engine.rules.actions.contract import clear_at_path
from convengine.engine.steps.conversation.stages import (
    CACHE_INSPECTION,
    CONTEXT_REPAIRED,
    CONTEXT_TRIMMED,
    CONVERSATION_CREATED,
    CONVERSATION_LOADED,
    CONVERSATION_MOVED,
    INPUT_PARAM_IGNORED,
    RELEASE_CHOSEN,
    USER_INPUT,
)
from convengine.engine.text.compare import blank, compose, match_text, shorten, truthy
from convengine.engine.threads.ending import apply_end_of_turn
from convengine.engine.threads.resume import EXPLICIT_RESET, RETURNING_FIELDS, resume_session
from convengine.engine.threads.settings import RESET_FAMILY, TEXT_COMMANDS
from convengine.engine.turn.audit_settings import CACHE_INSPECTOR, MAX_TEXT_CHARS
from convengine.engine.turn.codec import dumps
from convengine.engine.turn.conversation import build_closing_context, restore_context, restore_session
from convengine.engine.turn.enums import Lifecycle, ResetReason
from convengine.engine.turn.fault import unreadable_faults
from convengine.engine.turn.live_settings import boolean, declare, integer
from convengine.engine.turn.payload import to_document
from convengine.engine.turn.releases import ReleaseReason
from convengine.engine.turn.reset import RESET, reset_session
from convengine.engine.turn.scope import UNKNOWN
from convengine.engine.turn.session import FinalResult, Session
from convengine.engine.turn.stages import ENGINE_RETURN
from convengine.engine.turn.turn import Turn

RESET_ALLOW_PUNCTUATION = declare(
    RESET_FAMILY,
    "RESET_ALLOW_PUNCTUATION",
    boolean(),
    False,
    "Let such a message end with punctuation, as in “reset.”",
    label="Allow punctuation at the end",
)
MAX_CONTEXT_BYTES = declare(
    "PersistConversationStep",
    "MAX_CONTEXT_BYTES",
    integer(1024),
    262_144,
    "Maximum size of the stored context. Above it, fetched data and then tool observations are dropped.",
    mark="LR",
    label="Maximum size of the context (bytes)",
)

#: The params that ask for a reset, in the order in which they give the reason.
_RESET_PARAMS = (
    ("reset", ResetReason.PARAM_RESET),
    ("_reset", ResetReason.PARAM_RESET),
    ("restart", ResetReason.PARAM_RESTART),
    ("conversation_reset", ResetReason.PARAM_CONVERSATION_RESET),
)
#: How many unreadable rows one turn reports, because a whole table may be damaged.
_MAX_REPORTED = 50


class LoadOrCreateConversationStep(Step):
    """Load everything that a turn knows of the past, so that any worker can run any turn."""

    rank = 100
    always_runs = True
    writes = RETURNING_FIELDS | frozenset(
        {
            "intent", "state", "turn_start_intent", "turn_start_state", "context", "params", "tools", "memory",
            "user_input_params", "history", "epoch", "version", "status", "lifecycle", "context_summary", "preferences",
            "last_assistant", "clarification", "intent_locked", "intent_lock_reason", "mounted_kb_id",
        }
    )  # fmt: skip

    def execute(self, session: Session, turn: Turn) -> Continue:
        """Restore the session and record what was found."""
        loaded = turn.ports.conversations.load()
        request, row = turn.request, loaded.conversation
        session = speak(restore_session(session, loaded, request.input_params, request.preferences), turn)
        if loaded.created:
            turn.audit(session, CONVERSATION_CREATED, conversationId=request.conversation_id)
        else:
            turn.audit(
                session,
                CONVERSATION_LOADED,
                **session.where,
                status=row.status,
                turnNo=turn.turn_no,
                configVersion=turn.snapshot.config_version,
            )
        session = _apply_release_choice(session, turn)
        _, problem = restore_context(loaded)
        if problem:
            turn.audit(session, CONTEXT_REPAIRED, reason=problem, raw_excerpt=shorten(str(row.context_json), 200))
        if request.ignored_params:
            turn.audit(session, INPUT_PARAM_IGNORED, keys=list(request.ignored_params))
        return Continue(resume_session(recall_memory(session, turn), turn))


def _apply_release_choice(session: Session, turn: Turn) -> Session:
    """Record the release unless it is simply the newest, and move the conversation if the release does."""
    choice = turn.release_choice
    if choice is None:
        return session
    if choice.reason is not ReleaseReason.NEWEST:
        turn.audit(
            session,
            RELEASE_CHOSEN,
            configVersion=turn.snapshot.config_version,
            newest=choice.newest,
            reason=choice.reason.value,
        )
    if choice.move is None:
        return session
    intent, state = choice.move
    moved = session.evolve(intent=intent, state=state, turn_start_intent=intent, turn_start_state=state)
    turn.audit(
        moved, CONVERSATION_MOVED, fromIntent=session.intent, fromState=session.state, intent=intent, state=state
    )
    return moved


class CacheInspectAuditStep(Step):
    """Write one event with the stored conversation and the size of each configuration table."""

    after = ("LoadOrCreateConversationStep",)
    rank = 200

    def active(self, session: Session, turn: Turn) -> bool:
        """True while the switch is on; otherwise the step is not in the trace."""
        return turn.config(session, CACHE_INSPECTOR)

    def execute(self, session: Session, turn: Turn) -> Continue:
        turn.audit(
            session,
            CACHE_INSPECTION,
            cache_snapshot=asdict(turn.ports.conversations.load().conversation),
            config_version=turn.snapshot.config_version,
            config_tables={name: len(table) for name, table in turn.snapshot.tables.items()},
        )
        return Continue(session)


class ResetConversationStep(Step):
    """Params of this request first, then a text that is nothing but a command."""

    after = ("LoadOrCreateConversationStep", "CacheInspectAuditStep")
    rank = 300
    always_runs = True
    rights = (RESET,)

    def execute(self, session: Session, turn: Turn) -> Continue:
        """Reset for a param or a text of this request; a stored param must not reset again.

        With a command or without a text, the turn does nothing else.
        """
        command = turn.request.resolved == EXPLICIT_RESET or is_reset_command(session, turn)
        reason = next((why for key, why in _RESET_PARAMS if truthy(session.user_input_params.get(key))), None)
        if reason is None and not command:
            return Continue(session)
        # A bare command or a missing text leaves nothing to interpret.
        only = command or blank(session.user_text)
        return Continue(reset_session(session, turn, reason or ResetReason.USER_TEXT_COMMAND, only=only))


def is_reset_command(session: Session, turn: Turn) -> bool:
    """True when the whole text is one of TEXT_COMMANDS, trimmed and in any case.

    A setting allows punctuation at its end.
    """
    text = (session.user_text or "").strip().lower()
    commands = {command.lower() for command in turn.config(session, TEXT_COMMANDS)}
    if text in commands:
        return True
    return turn.config(session, RESET_ALLOW_PUNCTUATION) and match_text(session.user_text) in commands


class PersistConversationBootstrapStep(Step):
    """Store the conversation's row if needed. Normally the lease has made it."""

    after = ("ResetConversationStep",)
    rank = 400
    always_runs = True
    bootstrap = True

    def execute(self, session: Session, turn: Turn) -> Continue:
        """Store the row if it was never stored: it has no creation time."""
        if turn.ports.conversations.load().conversation.created_at is None:
            turn.ports.conversations.store()
        return Continue(session)


class AuditUserInputStep(Step):
    """Write the first event of the timeline; no filter drops it."""

    after = ("PersistConversationBootstrapStep",)
    rank = 500
    always_runs = True
    requires_persisted = True

    def execute(self, session: Session, turn: Turn) -> Continue:
        """Write USER_INPUT, and report unreadable rows. A text beyond MAX_TEXT_CHARS is cut and marked in the event."""
        text, limit = session.user_text, turn.config(session, MAX_TEXT_CHARS)
        cut: dict[str, Any] = {}
        if text is not None and len(text) > limit:
            cut = {"truncated": True, "originalChars": len(text)}
            text = text[:limit]
        turn.audit(
            session,
            USER_INPUT,
            text=text,
            inputParamKeys=sorted(session.user_input_params),
            channel=turn.request.channel,
            turnNo=turn.turn_no,
            **cut,
        )
        # Reported here because their scope cannot be trusted; normally there are none.
        for row, fault in unreadable_faults(turn.snapshot)[:_MAX_REPORTED] if turn.snapshot.unreadable else ():
            turn.audit_invalid_row(session, row, fault)
        return Continue(session)


class PersistConversationStep(Step):
    """Prepare the session for storage. The turn shell commits after the pipeline."""

    after = ("MemoryStep",)
    rank = 2600
    always_runs = True
    requires_persisted = True
    writes = frozenset(
        {
            *("intent", "state", "context", "last_assistant", "final_result"),
            *("lifecycle", "lifecycle_detail", "context_summary", "user_text"),
        }
    )

    def execute(self, session: Session, turn: Turn) -> Continue:
        """Complete the session and set its final result. Raises PipelineNoResponsePayload without an answer."""
        payload = session.payload
        if payload is None:
            raise PipelineNoResponsePayload()
        session = session.evolve(
            # What the user sent, where the turn read the message of a button.
            user_text=compose(turn.request.message),
            intent=UNKNOWN if blank(session.intent) else session.intent,
            state=UNKNOWN if blank(session.state) else session.state,
            context=build_closing_context(session),
            last_assistant=to_document(payload),
        )
        session = apply_end_of_turn(_trim_context(session, turn), turn)
        detail = session.lifecycle_detail if session.lifecycle == Lifecycle.AWAITING_USER else {}
        # The answer's question is known only now. The offer to resume updates the summary itself.
        if detail.get("question") and "resume" not in detail:
            summary = add_question(session.context_summary, str(detail["question"]))
            session = session.evolve(context_summary=summary)
        result = FinalResult(str(session.intent), str(session.state), payload, session.context)
        session = session.evolve(final_result=result)
        turn.audit(session, ENGINE_RETURN, **session.where, final_result=session.last_assistant)
        return Continue(session)


def _trim_context(session: Session, turn: Turn) -> Session:
    """Drop container data from a context beyond MAX_CONTEXT_BYTES, then observations if that is not enough.

    It may still be too large afterwards; nothing else is dropped.
    """
    limit = turn.config(session, MAX_CONTEXT_BYTES)
    size = len(dumps(session.context).encode())
    dropped: list[str] = []
    for name in ("container_data", "mcp.observations"):
        if size <= limit:
            break
        session = session.evolve(context=clear_at_path(session.context, name))
        dropped.append(name)
        size = len(dumps(session.context).encode())
    if dropped:
        turn.audit(session, CONTEXT_TRIMMED, dropped=dropped, bytes=size, maxBytes=limit)
    return session


class PipelineEndGuardStep(Step):
    """Write the timing record. For a stopped or failed turn the runner writes it."""

    rank = 2700
    always_runs = True
    requires_persisted = True
    terminal = True

    def execute(self, session: Session, turn: Turn) -> Continue:
        """Write the record. Raises PipelineNoFinalResult when there is no result."""
        if session.final_result is None or session.payload is None:
            raise PipelineNoFinalResult()
        audit_timing(session, turn, "COMPLETED")
        return Continue(session)
