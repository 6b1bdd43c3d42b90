"""Write the record of turns: its document and its index, in the turn's own commit.

Events outside of turns, and later events of a turn, get a row of their own: an ADDITION. The additions of a
conversation are a chain of their own.
"""

import uuid
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from django.db import connection
from django.db.models import Max

from audit.record.document import encode_turn
from audit.record.document_parts import encode_stored_document
from audit.record.model_calls import add_up_costs, list_calls
from audit.record.turn_index import hash_entries, insert_index_stmts, list_index_entries
from audit.seal import SEALED, Seal, encode_parts, read_seal
from convengine.engine.turn.codec import dumps
from convengine.engine.turn.stage import Stage
from convengine.engine.turn.turn import Turn
from convengine.json_value import Json
from convengine.server.database.sql import execute
from convengine.server.interfaces.configuration import configuration
from convengine.server.sessions.models import ADDITION, CeConversation, CeConversationHistory

#: An event outside of turns: conversation, stage, payload.
OutsideEvent = tuple[str, Stage, Mapping[str, Any]]


def add_after_turn(turn: Turn, after_seq: int) -> None:
    """Store the events after `after_seq` and the model calls of a turn that has its row already, or that never gets
    one. Needs an open transaction.
    """
    document = encode_turn(turn, after_seq)
    if document.entries:
        key, turn_id, at = uuid.UUID(turn.request.conversation_id), uuid.UUID(turn.turn_id), turn.ports.clock.now()
        calls, index_entries = list_calls(document.entries), list_index_entries(document.entries)
        _insert_additions(
            [
                _addition_columns(key, at, turn.snapshot.config_version, document.text)
                | {
                    "turn_id": turn_id,
                    "turn_no": turn.turn_no,
                    "last_seq": len(turn.trail.events),
                    "index_hash": hash_entries(index_entries),
                    "model_calls": len(calls),
                    "cost": add_up_costs(call["cost"] for call in calls),
                }
            ]
        )
        for statement in insert_index_stmts(turn_id, at, index_entries):
            execute(statement)


def add_outside(events: Sequence[OutsideEvent], now: datetime, config_version: int) -> None:
    """Store events that belong to no turn. Needs an open transaction."""
    by_conversation = defaultdict[str, list[OutsideEvent]](list)
    for event in events:
        by_conversation[str(event[0])].append(event)
    rows = []
    for key, of_conversation in by_conversation.items():
        entries = [
            {"seq": seq, "stage": str(stage), "step": None, "ms": 0, "payload": payload}
            for seq, (_, stage, payload) in enumerate(of_conversation, start=1)
        ]
        columns = _addition_columns(uuid.UUID(key), now, config_version, dumps(entries))
        rows.append(columns | {"last_seq": len(entries)})
    _insert_additions(rows)


def _addition_columns(conversation_id: uuid.UUID, at: datetime, config_version: int, events: str) -> dict[str, Json]:
    columns: dict[str, Json] = dict.fromkeys(SEALED)
    return columns | {
        "conversation_id": conversation_id,
        "created_at": at,
        "status": ADDITION,
        "source": ADDITION,
        "intent_code": "UNKNOWN",
        "state_code": "UNKNOWN",
        "config_version": config_version,
        "model_calls": 0,
        "context_epoch": 0,
        "replayable": False,
        "audit_incomplete": False,
        "events": events,
    }


def _insert_additions(rows: Sequence[dict[str, Json]]) -> None:
    """One row for each conversation, sealed after the last addition of its conversation."""
    keys = [row["conversation_id"] for row in rows]
    _lock_conversations(keys)
    previous, hashes = _last_seals(keys), dict[int, str]()
    made = []
    for row in rows:
        version = row["config_version"]
        release = hashes.setdefault(version, configuration().content_hash(version))
        seal = Seal.create(
            previous.get(row["conversation_id"]), encode_parts(row, release, encode_stored_document(row["events"]))
        )
        made.append(CeConversationHistory(**row, modified_at=row["created_at"], seal=seal.to_bytes()))
    CeConversationHistory.additions.bulk_create(made)


def _lock_conversations(conversations: Iterable[uuid.UUID]) -> None:
    """Lock these conversations for additions until the transaction ends. Running turns do not wait for it."""
    if connection.vendor == "postgresql":
        rows = CeConversation.objects.filter(pk__in=sorted(set(conversations))).order_by("pk")
        list(rows.select_for_update(no_key=True).values_list("pk", flat=True))


def _last_seals(conversations: Sequence[uuid.UUID]) -> dict[uuid.UUID, bytes]:
    """The hash of the last addition of each conversation that has any."""
    newest = CeConversationHistory.additions.filter(conversation_id__in=conversations).values("conversation_id")
    last = newest.annotate(last=Max("history_id")).values_list("last", flat=True)
    rows = CeConversationHistory.additions.filter(pk__in=list(last)).values_list("conversation_id", "seal")
    return {key: whole.hash for key, seal in rows if (whole := read_seal(seal))}
