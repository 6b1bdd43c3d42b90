"""AuditUserInputStep: keep what the user said, word for word (pipeline-1 6)."""

from typing import Any

from convengine.domain.catalogue.audit import MAX_TEXT_CHARS
from convengine.domain.fault import unreadable_faults
from convengine.domain.outcome import Continue
from convengine.domain.session import Session
from convengine.domain.stages import Stage
from convengine.domain.turn import Turn
from convengine.pipeline.step import Step

#: How many rows with unreadable values one turn tells of; somebody may have spoilt a whole table.
_TOLD = 50


class AuditUserInputStep(Step):
    """The event that anchors the timeline; no filter drops it."""

    after = ("PersistConversationBootstrapStep",)
    rank = 500
    requires_persisted = True

    def execute(self, session: Session, turn: Turn) -> Continue:
        """Write USER_INPUT; only what is longer than MAX_TEXT_CHARS is cut, and says so."""
        text, limit = session.user_text, turn.config(session, MAX_TEXT_CHARS)
        cut: dict[str, Any] = {}
        if text is not None and len(text) > limit:
            cut = {"truncated": True, "originalChars": len(text)}
            text = text[:limit]
        turn.audit(
            session,
            Stage.USER_INPUT,
            text=text,
            inputParamKeys=sorted(session.user_input_params),
            channel=turn.request.channel,
            turnNo=turn.turn_no,
            **cut,
        )
        # Here, because no scope of theirs can be trusted; normally there are none.
        for row, fault in unreadable_faults(turn.snapshot)[:_TOLD] if turn.snapshot.unreadable else ():
            turn.row_invalid(session, row, fault)
        return Continue(session)
