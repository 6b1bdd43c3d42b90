"""LoadOrCreateConversationStep: load the conversation and restore its state (pipeline-1 2)."""

from convengine.engine.memory.recall import recall_memory
from convengine.engine.pipeline.step import Continue, Step
from convengine.engine.steps.conversation.stages import (
    CONTEXT_REPAIRED,
    CONVERSATION_CREATED,
    CONVERSATION_LOADED,
    INPUT_PARAM_IGNORED,
)
from convengine.engine.text.compare import shorten
from convengine.engine.threads.resume import RETURNING_FIELDS, resume_session
from convengine.engine.turn.session import Session
from convengine.engine.turn.stored_session import restore_context, restore_session
from convengine.engine.turn.turn import Turn


class LoadOrCreateConversationStep(Step):
    """Load everything that a turn knows of the past, so that any worker can run any turn."""

    rank = 100
    writes = RETURNING_FIELDS | frozenset(
        {
            "intent", "state", "turn_start_intent", "turn_start_state", "context", "input_params",
            "user_input_params", "history", "epoch", "status", "lifecycle", "context_summary", "preferences",
            "last_assistant", "clarification", "intent_locked", "intent_lock_reason", "mounted_kb_id",
        }
    )  # fmt: skip

    def execute(self, session: Session, turn: Turn) -> Continue:
        """Restore the session and record what was found."""
        loaded = turn.ports.conversations.load()
        request, row = turn.request, loaded.conversation
        session = restore_session(session, loaded, request.input_params, request.preferences)
        if loaded.created:
            turn.audit(session, CONVERSATION_CREATED, conversationId=request.conversation_id)
        else:
            turn.audit(
                session,
                CONVERSATION_LOADED,
                intent=session.intent,
                state=session.state,
                status=row.status,
                turnNo=turn.turn_no,
                configVersion=turn.snapshot.config_version,
            )
        _, problem = restore_context(loaded)
        if problem:
            turn.audit(session, CONTEXT_REPAIRED, reason=problem, raw_excerpt=shorten(str(row.context_json), 200))
        if request.ignored_params:
            turn.audit(session, INPUT_PARAM_IGNORED, keys=list(request.ignored_params))
        return Continue(resume_session(recall_memory(session, turn), turn))
