"""MemoryStep: what is remembered of this turn (pipeline-2 10, sessions 8). A model sums up later, after the answer."""

from convengine.domain.catalogue.memory import ENABLED, RECENT_TURNS_FOR_SUMMARY, SUMMARY_MAX_CHARS
from convengine.domain.outcome import Continue
from convengine.domain.session import Session
from convengine.domain.stages import Stage
from convengine.domain.turn import Turn
from convengine.memory.extracting import extracted
from convengine.memory.known import context_summary
from convengine.memory.recall import BRANCH, branch_after, tell_faults
from convengine.memory.rewriting import WRITTEN_AFTER, kept, written_after
from convengine.memory.summary import session_summary
from convengine.memory.units import staged
from convengine.pipeline.step import Step


class MemoryStep(Step):
    """The context summary and the units always; the running summary, and the stores, unless they are switched off."""

    after = ("ResponseResolutionStep",)
    rank = 2500
    requires_persisted = True
    writes = frozenset({"context", "input_params", "context_summary"})

    def execute(self, session: Session, turn: Turn) -> Continue:
        """Summarise. The row of `ce_memory` is written with the turn's commit."""
        turns = 1 if turn.left else turn.ports.conversations.load().conversation.turn_count + 1
        session = session.evolve(context_summary=context_summary(session, turn.snapshot, turns))
        session = staged(extracted(session, turn))
        if not turn.config(session, ENABLED):
            return Continue(session)
        return Continue(_remembered(session, turn))


def _remembered(session: Session, turn: Turn) -> Session:
    by_model = kept(session, turn)
    summary = by_model or session_summary(
        session,
        recent_turns=turn.config(session, RECENT_TURNS_FOR_SUMMARY),
        max_chars=turn.config(session, SUMMARY_MAX_CHARS),
    )
    answer = turn.ports.memory.write(session, summary)
    tell_faults(session, turn, "write", answer)
    by_whom = {WRITTEN_AFTER: written_after(session)} if by_model else {}
    session = session.with_context({BRANCH: {**branch_after(session, summary), **by_whom}})
    session = session.with_params({"memory_session_summary": summary})
    turn.audit(
        session,
        Stage.MEMORY_UPDATED,
        summaryChars=len(summary),
        recalled="memory_recall" in session.input_params,
        stores=["ce_memory", *answer.stores],
        intent=session.intent,
        state=session.state,
    )
    return session
