"""Which turns run again: those of the newest conversations with a turn that matches the filters."""

import uuid
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import NamedTuple

from audit.search.query import CONVERSATIONS, SearchQuery
from audit.search.walk import Cursor, find_turns
from convengine.server.database.unreadable import read_rows
from convengine.server.sessions.models import CeConversationHistory

#: The most conversations and turns of one run.
MAX_CONVERSATIONS, MAX_TURNS = 10_000, 20_000
#: Conversations of a page of the search, and turns read at a time.
_PAGE, _BATCH = 200, 100
_COLUMNS = (
    *("history_id", "conversation_id", "turn_no", "turn_id", "config_version"),
    *("recording", "replayable", "replay_note", "source", "user_input"),
)


class TurnKey(NamedTuple):
    conversation_id: uuid.UUID
    turn_no: int
    history_id: int


def select_turns(search: SearchQuery, last: int) -> list[TurnKey]:
    """The turns of the newest `last` conversations with a matching turn: by conversation, in order; at most MAX_TURNS.

    A time range limits the turns as well.
    """
    keys: list[TurnKey] = []
    for conversations in _find_conversations(search, min(last, MAX_CONVERSATIONS)):
        turns = CeConversationHistory.objects.filter(conversation_id__in=conversations)
        if search.since:
            turns = turns.filter(created_at__gte=search.since)
        if search.until:
            turns = turns.filter(created_at__lte=search.until)
        rows = turns.order_by("conversation_id", "turn_no").values_list(*TurnKey._fields)[:MAX_TURNS]
        by_conversation = {key: list(group) for key, group in groupby(rows, key=lambda row: row[0])}
        for conversation in conversations:
            keys += [TurnKey(*row) for row in by_conversation.get(conversation, ())]
        if len(keys) >= MAX_TURNS:
            return keys[:MAX_TURNS]
    return keys


def _find_conversations(search: SearchQuery, last: int) -> Iterator[list[uuid.UUID]]:
    """The newest `last` matching conversations in pages, newest first; each once."""
    search = SearchQuery(**{**vars(search), "kind": CONVERSATIONS})
    cursor: Cursor | None = None
    seen: set[uuid.UUID] = set()
    while len(seen) < last:
        page = find_turns(search, cursor, min(_PAGE, last - len(seen)))
        matches = [match.conversation_id for match in page.matches if match.conversation_id not in seen]
        seen.update(matches)
        yield matches
        cursor = page.older
        if cursor is None:
            return


def read_turns(keys: Sequence[TurnKey]) -> Iterator[tuple[TurnKey, CeConversationHistory | None]]:
    """The records of turns in the given order, with None for a removed one. One query for each batch."""
    for start in range(0, len(keys), _BATCH):
        batch = keys[start : start + _BATCH]
        rows = CeConversationHistory.objects.filter(history_id__in=[key.history_id for key in batch])
        records = {row.history_id: row for row in read_rows(rows.defer(None).only(*_COLUMNS))}
        for key in batch:
            yield key, records.get(key.history_id)
