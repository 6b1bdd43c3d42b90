"""CacheInspectAuditStep: on demand, note what the turn started from (pipeline-1 3, R34)."""

from dataclasses import asdict

from convengine.domain.catalogue.audit import CACHE_INSPECTOR
from convengine.domain.outcome import Continue
from convengine.domain.session import Session
from convengine.domain.stages import Stage
from convengine.domain.turn import Turn
from convengine.pipeline.step import Step


class CacheInspectAuditStep(Step):
    """One event with the conversation as stored and the size of each configuration table."""

    after = ("LoadOrCreateConversationStep",)
    rank = 200

    def active(self, session: Session, turn: Turn) -> bool:
        """Only while the switch is on; otherwise the step is absent from the trace."""
        return turn.config(session, CACHE_INSPECTOR)

    def execute(self, session: Session, turn: Turn) -> Continue:
        """Write CACHE_INSPECTION."""
        turn.audit(
            session,
            Stage.CACHE_INSPECTION,
            cache_snapshot=asdict(turn.ports.conversations.load().conversation),
            config_version=turn.snapshot.config_version,
            config_tables={name: len(table) for name, table in turn.snapshot.tables.items()},
        )
        return Continue(session)
