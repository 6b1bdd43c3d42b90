"""LoadOrCreateConversationStep: attach the conversation and restore where the dialogue stood (pipeline-1 2)."""

from convengine.continuity.returning import RETURNING_FIELDS, met
from convengine.domain.opening import opened, restored_context
from convengine.domain.outcome import Continue
from convengine.domain.session import Session
from convengine.domain.stages import Stage
from convengine.domain.text import excerpt
from convengine.domain.turn import Turn
from convengine.memory.recall import recalled
from convengine.pipeline.step import Step


class LoadOrCreateConversationStep(Step):
    """Any worker can serve any turn: everything that a turn knows of the past comes in here, once."""

    rank = 100
    writes = RETURNING_FIELDS | frozenset(
        {
            "intent", "state", "turn_start_intent", "turn_start_state", "context", "input_params",
            "user_input_params", "history", "epoch", "status", "lifecycle", "context_summary", "preferences",
            "last_assistant", "clarification", "intent_locked", "intent_lock_reason", "mounted_kb_id",
        }
    )  # fmt: skip

    def execute(self, session: Session, turn: Turn) -> Continue:
        """Restore the session and tell what was found."""
        loaded = turn.ports.conversations.load()
        request, row = turn.request, loaded.conversation
        session = opened(session, loaded, request.input_params, request.preferences)
        if loaded.created:
            turn.audit(session, Stage.CONVERSATION_CREATED, conversationId=request.conversation_id)
        else:
            turn.audit(
                session,
                Stage.CONVERSATION_LOADED,
                intent=session.intent,
                state=session.state,
                status=row.status,
                turnNo=turn.turn_no,
                configVersion=turn.snapshot.config_version,
            )
        _, problem = restored_context(loaded)
        if problem:
            turn.audit(session, Stage.CONTEXT_REPAIRED, reason=problem, raw_excerpt=excerpt(str(row.context_json), 200))
        if request.ignored_params:
            turn.audit(session, Stage.INPUT_PARAM_IGNORED, keys=list(request.ignored_params))
        return Continue(met(recalled(session, turn), turn))
