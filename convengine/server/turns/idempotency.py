"""Safe retries: one Idempotency-Key, one effect, one answer."""

import hashlib
import uuid
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db import connection

from convengine.engine.errors import IdempotencyKeyReused
from convengine.engine.turn.codec import dumps, load_column, sort_keys
from convengine.server.database.sql import Statement, dialect
from convengine.server.deployment import conf
from convengine.server.sessions.models import CeIdempotency

_NAMESPACE = uuid.UUID("6f1d2ec6-5a3f-4d47-9c55-6f0f0f2f7f11")


@dataclass(frozen=True)
class IdempotencyKey:
    """A caller's key and the body of its request."""

    owner: str
    key: str
    body_hash: str

    @classmethod
    def of(cls, owner: str, key: str, body: Any) -> "IdempotencyKey":
        """The key of a call; `body` is the parsed request, so that spacing does not matter."""
        return cls(owner, key, hashlib.sha256(dumps(sort_keys(body)).encode()).hexdigest())

    @property
    def conversation_id(self) -> str:
        """The id of the conversation that a call without an id opens: the same for every retry."""
        return self.call

    @property
    def call(self) -> str:
        """A name of the call: the same for every retry, different for every other key."""
        return str(uuid.uuid5(_NAMESPACE, f"{self.owner}\n{self.key}"))


def find_answer(key: IdempotencyKey) -> Any | None:
    """The stored answer.

    Returns None if there is none. Raises IdempotencyKeyReused when the key came with another body before.
    """
    sql = dialect()
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT body_hash, answer FROM ce_idempotency "
            f"WHERE api_key = %s AND key = %s AND expires_at > {sql.now()}",
            [key.owner, key.key],
        )
        row = cursor.fetchone()
    if row is None:
        return None
    if row[0] != key.body_hash:
        raise IdempotencyKeyReused()
    return load_column(row[1])


def is_running(key: IdempotencyKey | None, conversation_id: str) -> bool:
    """True when the running turn of a conversation is an earlier call with the same key."""
    if key is None:
        return False
    sql = dialect()
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT 1 FROM ce_conversation WHERE conversation_id = %s AND lease_token IS NOT NULL "
            f"AND {sql.json_member('lease_info', 'call')} = %s",
            [sql.uuid_param(conversation_id), key.call],
        )
        return cursor.fetchone() is not None


def store_answer_stmt(key: IdempotencyKey, conversation_id: str, turn_id: str, answer: Any, now: datetime) -> Statement:
    """The write of the answer, in the turn's own commit. It meets no row when another live answer has the key.

    `now` is the time of the turn.
    """
    sql = dialect()
    expiry = now + timedelta(hours=conf.get("IDEMPOTENCY_HOURS"))
    values = (key.owner, key.key, key.body_hash, uuid.UUID(conversation_id), uuid.UUID(turn_id), answer, now, expiry)
    return Statement(
        f"""INSERT INTO ce_idempotency
    (api_key, key, body_hash, conversation_id, turn_id, answer, created_at, expires_at, proof)
VALUES (%s, %s, %s, %s, %s, {sql.json}, %s, %s, %s)
ON CONFLICT (api_key, key) DO UPDATE
SET body_hash = excluded.body_hash, conversation_id = excluded.conversation_id, turn_id = excluded.turn_id,
    answer = excluded.answer, created_at = excluded.created_at, expires_at = excluded.expires_at,
    proof = excluded.proof
WHERE ce_idempotency.expires_at <= {sql.now()}""",
        [
            *(key.owner, key.key, key.body_hash, sql.uuid_param(conversation_id), sql.uuid_param(turn_id)),
            *(dumps(answer), sql.time_param(now), sql.time_param(expiry)),
            CeIdempotency.prove(dict(zip(CeIdempotency.SEALED, values, strict=True))),
        ],
        must_match=True,
    )
