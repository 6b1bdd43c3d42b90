"""The seals of turns that were multiplied: each over what its turn has, in the order of its conversation."""

import os
import uuid
from typing import Any

from django.db import connection

from audit.chain.reading import Chunk, chunks
from convengine.domain.chain import CALLS, DECIDED, GENESIS, SALT, WORDS, Seal
from convengine.sessions.sealing import documents_of, frame, words

_STORE = """UPDATE ce_conversation_history t SET chain = made.seal
FROM unnest(%s::uuid[], %s::bytea[]) AS made(turn_id, seal) WHERE t.turn_id = made.turn_id"""
_HEADS = """UPDATE ce_conversation c SET chain_head = made.head
FROM unnest(%s::uuid[], %s::bytea[]) AS made(key, head) WHERE c.conversation_id = made.key"""


def seal_all() -> None:
    """Seal every turn, and tell each conversation its newest seal."""
    heads: dict[uuid.UUID, bytes] = {}
    with connection.cursor() as cursor:
        for chunk in chunks(None, uuid.UUID(int=2**128 - 1)):
            keys, seals = [], []
            for record in chunk.records:
                key = record["conversation_id"]
                # The few real turns have theirs; made anew, they are as good.
                seal = _seal(record, chunk, heads.get(key, GENESIS) if record["turn_no"] > 1 else GENESIS)
                keys.append(record["turn_id"])
                seals.append(seal.packed())
                heads[key] = seal.hash(frame(record))
            cursor.execute(_STORE, [keys, seals])
        cursor.execute(_HEADS, [list(heads), list(heads.values())])


def _seal(record: dict[str, Any], chunk: Chunk, previous: bytes) -> Seal:
    (own,) = chunk.events[record["conversation_id"], record["turn_no"]]
    last = int(own.heads.rsplit(b"\n", 1)[-1].split(b" ", 1)[0])
    pieces = dict(own.by_group(last) or {})
    pieces[DECIDED] = chunk.deciding.get(record["turn_id"], [])
    pieces[CALLS] = chunk.calls.get((record["conversation_id"], record["turn_id"]), [])
    pieces[WORDS] = words(record, documents_of(record))
    return Seal.over(previous, last, pieces, os.urandom(SALT))
