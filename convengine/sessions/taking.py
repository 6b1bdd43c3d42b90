"""The one statement that takes a conversation's lease (sessions 6; R26, R27).

It raises the turn number, says who runs, and reads the row, the last turn's facts, the recent history and the head of
the configuration.
"""

import os
import socket
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from typing import Any, Protocol

from django.db import connection

from convengine import conf
from convengine.codec import dumps, loaded
from convengine.domain import settings
from convengine.domain.catalogue.memory import HISTORY_MAX_TURNS
from convengine.domain.catalogue.session import LEASE_SECONDS
from convengine.domain.conversation import Conversation
from convengine.domain.turn import TurnRequest
from convengine.rules.redacting import Redaction
from convengine.sessions.idempotency import IdempotencyKey
from convengine.sessions.sql import Dialect, dialect

_WORKER = f"{socket.gethostname()}:{os.getpid()}"
_READ = (
    "workspace_id, channel, remote_jid, status, intent_code, state_code, context_json, "
    "input_params_json, last_user_text, last_assistant_json, version, turn_count, context_epoch, lifecycle, "
    "lifecycle_detail, context_summary, preferences, mounted_kb_id, created_at"
)
_COLUMNS = tuple(_READ.split(", "))
_JSON_COLUMNS = ("context_json", "input_params_json", "last_assistant_json", "lifecycle_detail", "preferences")


@dataclass(frozen=True)
class Lease:
    """A taken lease and everything that was read with it."""

    token: str
    turn_id: str
    turn_no: int
    conversation: Conversation
    #: The turn-lifetime params of the last committed turn.
    previous_turn: Mapping[str, Any]
    #: The configuration's head, to be pinned.
    head: str
    #: The database's time, which is the turn's.
    now: datetime
    #: User text and answer of up to `past_limit` committed turns of the epoch, newest first.
    past: Sequence[tuple[str | None, Any]] = ()
    past_limit: int = 0
    created: bool = False
    #: The hash of the newest seal of the conversation's record.
    chain_head: bytes | None = None


class Condition(Protocol):
    """What must hold for a turn to begin: part of the statement that takes the lease, so that it costs none itself."""

    @property
    def sql(self) -> str:
        """An expression."""

    @property
    def params(self) -> Sequence[Any]:
        """Its parameters."""

    @property
    def opener(self) -> str:
        """The prefix of the API key that calls: a conversation that begins with this turn is its."""

    def check(self) -> None:
        """Look by itself. Raises what the caller is to be told when it does not hold."""


@dataclass(frozen=True)
class Claim:
    """A turn that wants the lease."""

    turn_id: str
    request: TurnRequest
    key: IdempotencyKey | None = None
    condition: Condition | None = None


def seconds() -> int:
    """How long a lease holds without renewal, as the newest configuration of this process says."""
    return settings.read(conf.load("SNAPSHOT").latest, LEASE_SECONDS).value


def take_free(claim: Claim, ticket: int | None = None) -> Lease | None:
    """The lease, when it is free; null otherwise. Nobody overtakes a live ticket that is older than one's own.

    PostgreSQL takes the row as it is after waiting for its lock, but reads everything else as it was before. Comparing
    the version as read with the row's own refuses such a mixture, in which a whole turn of another could be missing.
    """
    here, token, request = dialect(), uuid.uuid4(), claim.request
    snapshots = conf.load("SNAPSHOT")
    info = {
        "turnId": claim.turn_id,
        "userText": request.message and Redaction.of(snapshots.latest).text(request.message),
        "inputParamNames": sorted(request.input_params),
        "worker": _WORKER,
        **({"call": claim.key.call} if claim.key else {}),
    }
    sql = _taking(
        here,
        snapshots.head_sql,
        here.now(),
        here.now(seconds()),
        here.soon_durable(),
        claim.key is not None,
        claim.condition.sql if claim.condition else None,
    )
    limit = settings.read(snapshots.latest, HISTORY_MAX_TURNS).value
    params = [
        here.uuid(token),
        dumps(info),
        here.uuid(request.conversation_id),
        request.workspace_id,
        ticket or 2**62,
        *((claim.key.owner, claim.key.key) if claim.key else ()),
        *(claim.condition.params if claim.condition else ()),
        limit,
    ]
    with connection.cursor() as cursor:
        cursor.execute(sql, params)
        row = cursor.fetchone()
    if row is None:
        return None
    *columns, head, turn_no, now, pinned, facts, past, _ = row
    return Lease(
        str(token),
        claim.turn_id,
        turn_no,
        _conversation(request.conversation_id, columns),
        loaded(facts) or {},
        pinned,
        here.read_time(now),
        loaded(past) or (),
        limit,
        created=turn_no == 1,
        chain_head=head and bytes(head),
    )


@lru_cache(maxsize=64)
def _taking(
    here: Dialect, head: str, now: str, until: str, soon_durable: str, keyed: bool, condition: str | None
) -> str:
    """The statement, which is nearly always the same text."""
    unanswered = f"AND NOT EXISTS (SELECT 1 FROM ce_idempotency WHERE api_key = %s AND key = %s AND expires_at > {now})"
    open_again = f"{here.member('lifecycle_detail', 'by')} IS NULL"
    # A lease needs no disk: the turn's commit writes it out too, and a database that dies ends the turn anyway.
    told = here.merged("turnNo", "last_turn_no + 1", "head", head, "startedAt", now)
    return f"""
        UPDATE ce_conversation
           SET lease_token = %s, lease_expires_at = {until}, last_turn_no = last_turn_no + 1,
               last_message_at = {now}, lease_info = {told}
         WHERE conversation_id = %s AND workspace_id = %s AND lease_token IS NULL
           AND version = (SELECT r.version FROM ce_conversation r
                           WHERE r.conversation_id = ce_conversation.conversation_id)
           AND (lifecycle NOT IN ('COMPLETE', 'ABORTED') OR (channel = 'api' AND {open_again}))
           AND NOT EXISTS (SELECT 1 FROM ce_turn_ticket t
                            WHERE t.conversation_id = ce_conversation.conversation_id
                              AND t.expires_at > {now} AND t.id < %s)
           {unanswered if keyed else ""}
           {f"AND {condition}" if condition else ""}
        RETURNING {_READ}, chain_head, last_turn_no, last_message_at, {head},
                  (SELECT h.facts FROM ce_conversation_history h
                    WHERE h.conversation_id = ce_conversation.conversation_id AND h.status IN ('OK', 'BLOCKED')
                    ORDER BY h.turn_no DESC LIMIT 1),
                  (SELECT {here.pairs("p.user_input", "p.assistant_output")}
                     FROM (SELECT h.user_input, h.assistant_output FROM ce_conversation_history h
                            WHERE h.conversation_id = ce_conversation.conversation_id AND h.status = 'OK'
                              AND h.context_epoch = ce_conversation.context_epoch
                            ORDER BY h.turn_no DESC LIMIT %s) p),
                  {soon_durable}"""


def _conversation(conversation_id: str, columns: list[Any]) -> Conversation:
    here = dialect()
    values = dict(zip(_COLUMNS, columns, strict=True))
    values["conversation_id"] = conversation_id
    values["created_at"] = here.read_time(values["created_at"])
    for name in _JSON_COLUMNS:
        values[name] = loaded(values[name])
    return Conversation(**values)
