"""AuditUserInputStep: record the user's message (pipeline-1 6)."""

from typing import Any

from convengine.engine.pipeline.step import Continue, Step
from convengine.engine.steps.conversation.stages import USER_INPUT
from convengine.engine.turn.audit_settings import MAX_TEXT_CHARS
from convengine.engine.turn.fault import unreadable_faults
from convengine.engine.turn.session import Session
from convengine.engine.turn.turn import Turn

#: How many unreadable rows one turn reports, because a whole table may be damaged.
_MAX_REPORTED = 50


class AuditUserInputStep(Step):
    """Write the first event of the timeline; no filter drops it."""

    after = ("PersistConversationBootstrapStep",)
    rank = 500
    requires_persisted = True

    def execute(self, session: Session, turn: Turn) -> Continue:
        """Write USER_INPUT. A text beyond MAX_TEXT_CHARS is cut and marked."""
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
