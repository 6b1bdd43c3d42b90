"""The conversation that a turn begins with, as its lease read it (R78)."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from django.db import connection

from convengine.engine.memory.settings import ENABLED as MEMORY_ENABLED
from convengine.engine.memory.settings import HISTORY_MAX_TURNS
from convengine.engine.turn import live_settings
from convengine.engine.turn.codec import load_column
from convengine.engine.turn.conversation import Loaded
from convengine.engine.turn.payload import to_spoken_text
from convengine.engine.turn.session import Exchange
from convengine.engine.turn.snapshot import Snapshot
from convengine.engine.turn.turn import TurnRequest
from convengine.server.database.dialect import dialect
from convengine.server.memory.session_memory import recall_previous_session
from convengine.server.turns.lease import Lease

#: The newest committed turns of an epoch.
_HISTORY = """
    SELECT user_input, assistant_output FROM ce_conversation_history
     WHERE conversation_id = %s AND status = 'OK' AND context_epoch = %s
     ORDER BY turn_no DESC LIMIT %s"""


@dataclass
class StoredConversation:
    """The conversations port on the database. Reads once, however often it is called."""

    lease: Lease
    request: TurnRequest
    snapshot: Snapshot
    _loaded: Loaded | None = field(default=None, repr=False)

    def load(self) -> Loaded:
        """The conversation as the lease read it, and its recent history, oldest first."""
        if self._loaded is None:
            self._loaded = Loaded(
                self.lease.conversation,
                self._history(),
                self.lease.previous_turn,
                self._recall_memory(),
                self.lease.created,
            )
        return self._loaded

    def store(self) -> None:
        """Nothing to do: the lease made the row."""

    def _recall_memory(self) -> str | None:
        """The memory of an earlier session, looked up until a turn of this session is committed (R78)."""
        if self.lease.conversation.turn_count or not live_settings.read(self.snapshot, MEMORY_ENABLED).value:
            return None
        return recall_previous_session(self.lease.conversation)

    def _history(self) -> tuple[Exchange, ...]:
        """The recent turns; rows with a blank side do not count (R61)."""
        return tuple(
            [
                Exchange(user, said)
                for user, answer in reversed(self._past())
                if user and user.strip() and (said := to_spoken_text(answer))
            ]
        )

    def _past(self) -> Sequence[tuple[str | None, Any]]:
        limit = live_settings.read(self.snapshot, HISTORY_MAX_TURNS).value
        if limit <= self.lease.past_limit:
            return self.lease.past[:limit]
        # The limit was raised since this process pinned a release: the lease did not read that far.
        row = self.lease.conversation
        with connection.cursor() as cursor:
            cursor.execute(_HISTORY, [dialect().uuid_param(row.conversation_id), row.context_epoch, limit])
            return [(user, load_column(answer)) for user, answer in cursor.fetchall()]
