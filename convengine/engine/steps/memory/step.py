"""MemoryStep: what later turns remember. A model may summarise later, after the answer."""

from convengine.engine.memory.context_summary import build_context_summary
from convengine.engine.memory.settings import ENABLED, RECENT_TURNS_FOR_SUMMARY, SUMMARY_MAX_CHARS
from convengine.engine.memory.stages import MEMORY_UPDATED
from convengine.engine.memory.summary import (
    BRANCH,
    WRITTEN_AFTER,
    audit_store_faults,
    build_branch,
    build_session_summary,
    get_model_summary,
    get_turn_of_summary,
)
from convengine.engine.memory.units import extract_units, stage_units
from convengine.engine.pipeline.step import Continue, Step
from convengine.engine.turn.owned_params import MemoryParams
from convengine.engine.turn.session import Session
from convengine.engine.turn.turn import Turn


class MemoryStep(Step):
    """Update the context summary and the units, and unless switched off the running summary and the stores."""

    after = ("ResponseResolutionStep",)
    rank = 2500
    always_runs = True
    requires_persisted = True
    writes = frozenset({"context", "memory", "context_summary"})

    def execute(self, session: Session, turn: Turn) -> Continue:
        """Summarise, by a model's summary if one was made. The commit writes the row of `ce_memory`."""
        turns = 1 if turn.previous_session else turn.ports.conversations.load().conversation.turn_count + 1
        session = session.evolve(context_summary=build_context_summary(session, turn.snapshot, turns))
        session = stage_units(extract_units(session, turn))
        if not turn.config(session, ENABLED):
            return Continue(session)
        by_model = get_model_summary(session, turn)
        summary = by_model or build_session_summary(
            session,
            recent_turns=turn.config(session, RECENT_TURNS_FOR_SUMMARY),
            max_chars=turn.config(session, SUMMARY_MAX_CHARS),
        )
        answer = turn.ports.memory.write(session, summary)
        audit_store_faults(session, turn, "write", answer)
        by_whom = {WRITTEN_AFTER: get_turn_of_summary(session)} if by_model else {}
        session = session.with_context({BRANCH: {**build_branch(session, summary), **by_whom}})
        session = session.with_values(MemoryParams(memory_session_summary=summary))
        turn.audit(
            session,
            MEMORY_UPDATED,
            summaryChars=len(summary),
            recalled=session.memory.memory_recall is not None,
            stores=["ce_memory", *answer.stores],
            **session.where,
        )
        return Continue(session)
