"""CacheInspectAuditStep: on demand, record what the turn started from (pipeline-1 3, R34)."""

from dataclasses import asdict

from convengine.engine.pipeline.step import Continue, Step
from convengine.engine.steps.conversation.stages import CACHE_INSPECTION
from convengine.engine.turn.audit_settings import CACHE_INSPECTOR
from convengine.engine.turn.session import Session
from convengine.engine.turn.turn import Turn


class CacheInspectAuditStep(Step):
    """Write one event with the stored conversation and the size of each configuration table."""

    after = ("LoadOrCreateConversationStep",)
    rank = 200

    def active(self, session: Session, turn: Turn) -> bool:
        """Only while the switch is on; otherwise the step is not in the trace."""
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
