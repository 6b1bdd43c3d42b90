"""Findings about a record: a sentence for people, and names for programs."""

import uuid
from dataclasses import dataclass
from typing import Any

#: The codes of findings. They are stable.
CODES = {
    "EVENT_CHANGED": "An event was changed.",
    "EVENT_MISSING": "An event was removed.",
    "EVENT_ADDED": "An event was added.",
    "EVENTS_SWAPPED": "Two events were swapped.",
    "EVENTS_UNREADABLE": "The events of a turn are damaged: nobody can read them.",
    "DECIDING_ROWS_CHANGED": "The index of used rows and stages was changed.",
    "RECORD_CHANGED": "The turn record was changed.",
    "RECORD_MISSING": "A turn record was removed.",
    "SEAL_MISSING": "A turn record or an addition has no valid seal.",
    "CHAIN_BROKEN": "A seal does not follow from the previous one.",
    "END_CUT": "The end of a conversation's chain was removed or replaced.",
    "CONVERSATION_MISSING": "A conversation was removed.",
    "CONVERSATION_CHANGED": "The participant, the channel or the workspace of a conversation was changed.",
    "ERASED_WITHOUT_RECORD": "Content was removed, but no erasure is recorded.",
    "RELEASE_CHANGED": "A release was changed.",
    "RELEASE_MISSING": "A release was removed.",
    "HEAD_CHANGED": "The row that says which release is in force was changed.",
    "BLOB_CHANGED": "A part of a release's content was changed.",
    "BLOB_MISSING": "A part of a release's content was removed.",
    "HISTORY_CHANGED": "An entry of a row's history was changed.",
    "HISTORY_MISSING": "An entry of a row's history was removed.",
    "HISTORY_ADDED": "An entry of a row's history was added.",
    "LOG_CHANGED": "An entry of a chained table was changed.",
    "LOG_MISSING": "Entries of a chained table were removed.",
    "ROW_CHANGED": "A row that only the product may change was changed, such as a draft or a run of an action.",
    "ROW_MISSING": "A row that only the product may change was removed, such as a draft or a run of an action.",
    "ROW_ADDED": "A row that only the product may change was added, such as a draft or a run of an action.",
    "LEDGER_DIFFERS": "The chain does not match the ledger.",
    "LEDGER_MISSING": "Something that the ledger lists was removed.",
    "VIEW_CHANGED": "The definition of a view was changed.",
    "ANCHOR_DIFFERS": "The chain does not match the anchor.",
    "ANCHOR_MISSING": "A part of the chain that the anchor lists was removed.",
}


_TURNS, _CONVERSATIONS = "ce_conversation_history", "ce_conversation"
#: The tables of findings about conversations, besides the turns.
_TABLES = {
    "DECIDING_ROWS_CHANGED": "ce_turn_index",
    "END_CUT": _CONVERSATIONS,
    "CONVERSATION_MISSING": _CONVERSATIONS,
    "CONVERSATION_CHANGED": _CONVERSATIONS,
}


@dataclass(frozen=True)
class IntegrityFinding:
    """One finding."""

    code: str
    #: None for a finding about another table, which `other_table` and `other_row` name.
    conversation_id: uuid.UUID | None
    message: str
    turn_no: int | None = None
    seq: int | None = None
    stage: str | None = None
    other_table: str = ""
    other_row: str = ""

    @property
    def table(self) -> str:
        return self.other_table or _TABLES.get(self.code, _TURNS)

    @property
    def row(self) -> str:
        """The changed row: its key, or the conversation with the turn."""
        if self.conversation_id is None:
            return self.other_row
        turn = "" if self.turn_no is None else f", turn {self.turn_no}"
        return f"{self.conversation_id}{turn}"

    def as_json(self) -> dict[str, Any]:
        """The finding as JSON."""
        return {
            "code": self.code,
            "table": self.table,
            "row": self.row,
            "conversation_id": str(self.conversation_id) if self.conversation_id else None,
            "message": self.message,
            "turn_no": self.turn_no,
            "seq": self.seq,
            "stage": self.stage,
        }

    def __str__(self) -> str:
        if self.conversation_id is None:
            return f"{self.code}: {self.table}, row {self.row}: {self.message}"
        turn = "" if self.turn_no is None else f", turn {self.turn_no}"
        event = "" if self.seq is None else f", event {self.seq}{f' {self.stage}' if self.stage else ''}"
        return f"{self.code}: {self.table}: conversation {self.conversation_id}{turn}{event}: {self.message}"


def create_table_finding(code: str, table: str, row: object, message: str) -> IntegrityFinding:
    """A finding about a row of another table than those of conversations and turns."""
    return IntegrityFinding(code, None, message, other_table=table, other_row=str(row))
