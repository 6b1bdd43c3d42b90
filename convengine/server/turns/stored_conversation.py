"""The conversations port on the database: the row that the lease read, and its recent past."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from django.db import connection

from convengine.engine.memory.settings import ENABLED as MEMORY_ENABLED
from convengine.engine.memory.settings import HISTORY_MAX_TURNS
from convengine.engine.turn import live_settings
from convengine.engine.turn.codec import load_column
from convengine.engine.turn.conversation import Loaded, list_exchanges
from convengine.engine.turn.snapshot import Snapshot
from convengine.server.database.sql import dialect
from convengine.server.memory.session_memory import recall_previous_session
from convengine.server.turns.acquire import Lease, select_past


@dataclass
class StoredConversation:
    """The conversations port on the database. Reads once, however often it is called."""

    lease: Lease
    snapshot: Snapshot
    _loaded: Loaded | None = field(default=None, repr=False)

    def load(self) -> Loaded:
        """The conversation as the lease read it, and its recent history, oldest first."""
        if self._loaded is None:
            self._loaded = Loaded(
                self.lease.conversation,
                list_exchanges(reversed(self._past())),
                self.lease.previous_turn,
                self._recall_memory(),
                self.lease.created,
            )
        return self._loaded

    def store(self) -> None:
        """Nothing to do: the lease made the row."""

    def _recall_memory(self) -> str | None:
        """The memory of the previous session.

        Returns None if there is none, memory is off, or this session has a committed turn.
        """
        if self.lease.conversation.turn_count or not live_settings.read(self.snapshot, MEMORY_ENABLED).value:
            return None
        return recall_previous_session(self.lease.conversation)

    def _past(self) -> Sequence[tuple[str | None, Any]]:
        """User text and answer of the newest committed turns, newest first; as many as the release allows."""
        limit = live_settings.read(self.snapshot, HISTORY_MAX_TURNS).value
        if limit <= self.lease.past_limit:
            return self.lease.past[:limit]
        # The limit was raised since this process pinned a release: the lease did not read that far.
        row = self.lease.conversation
        with connection.cursor() as cursor:
            cursor.execute(
                select_past("%s", "%s"), [dialect().uuid_param(row.conversation_id), row.context_epoch, limit]
            )
            return [(user, load_column(answer)) for user, answer in cursor.fetchall()]
