"""Safe retries: one Idempotency-Key, one effect, one answer (R52)."""

import hashlib
import uuid
from dataclasses import dataclass
from typing import Any

from django.db import connection

from convengine import conf
from convengine.codec import dumps, loaded
from convengine.errors import IdempotencyKeyReused
from convengine.sessions.sql import dialect
from convengine.sessions.writes import Write

_NAMESPACE = uuid.UUID("6f1d2ec6-5a3f-4d47-9c55-6f0f0f2f7f11")


@dataclass(frozen=True)
class IdempotencyKey:
    """A caller's key and the body that it came with."""

    owner: str
    key: str
    body_hash: str

    @classmethod
    def of(cls, owner: str, key: str, body: Any) -> "IdempotencyKey":
        """The key of a call; `body` is the parsed request, so that spacing does not matter."""
        return cls(owner, key, hashlib.sha256(dumps(_sorted(body)).encode()).hexdigest())

    @property
    def conversation_id(self) -> str:
        """The id of the conversation that a call without an id opens: the same for every retry."""
        return self.call

    @property
    def call(self) -> str:
        """A name of the call: the same for every retry, another one for every other key."""
        return str(uuid.uuid5(_NAMESPACE, f"{self.owner}\n{self.key}"))


def find(key: IdempotencyKey) -> Any | None:
    """The stored answer, or null. Raises IdempotencyKeyReused when the key came with another body before."""
    here = dialect()
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT body_hash, answer FROM ce_idempotency "
            f"WHERE api_key = %s AND key = %s AND expires_at > {here.now()}",
            [key.owner, key.key],
        )
        row = cursor.fetchone()
    if row is None:
        return None
    if row[0] != key.body_hash:
        raise IdempotencyKeyReused()
    return loaded(row[1])


def runs(key: IdempotencyKey | None, conversation_id: str) -> bool:
    """True when the turn that runs in a conversation is an earlier call with the same key: its answer is waited for."""
    if key is None:
        return False
    here = dialect()
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT 1 FROM ce_conversation WHERE conversation_id = %s AND lease_token IS NOT NULL "
            f"AND {here.member('lease_info', 'call')} = %s",
            [here.uuid(conversation_id), key.call],
        )
        return cursor.fetchone() is not None


def kept(key: IdempotencyKey, conversation_id: str, turn_id: str, answer: Any) -> Write:
    """The answer kept, in the turn's own commit. It meets no row when another live answer holds the key already."""
    here = dialect()
    expiry = here.now(conf.get("IDEMPOTENCY_HOURS") * 3600)
    return Write(
        f"""INSERT INTO ce_idempotency
    (api_key, key, body_hash, conversation_id, turn_id, answer, created_at, expires_at)
VALUES (%s, %s, %s, %s, %s, {here.json}, {here.now()}, {expiry})
ON CONFLICT (api_key, key) DO UPDATE
SET body_hash = excluded.body_hash, conversation_id = excluded.conversation_id, turn_id = excluded.turn_id,
    answer = excluded.answer, created_at = excluded.created_at, expires_at = excluded.expires_at
WHERE ce_idempotency.expires_at <= {here.now()}""",
        [key.owner, key.key, key.body_hash, here.uuid(conversation_id), here.uuid(turn_id), dumps(answer)],
        must=True,
    )


def _sorted(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _sorted(value[key]) for key in sorted(value)}
    return [_sorted(item) for item in value] if isinstance(value, list) else value
