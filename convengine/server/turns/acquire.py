"""The lease of a conversation, which is the right to run its next turn: acquire it and renew it.

One statement acquires a free lease, or makes a conversation with its lease, and reads what the turn begins with. Only a
turn that finds the lease held looks further.
One background thread a process renews the leases of running turns.
"""

import os
import socket
import threading
import time
import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields
from datetime import datetime
from functools import lru_cache, partial
from typing import Any

from django.db import DatabaseError, connection

from convengine.engine.errors import ConversationClosed, ConversationNotFound, TurnInProgress
from convengine.engine.memory.settings import HISTORY_MAX_TURNS
from convengine.engine.redaction import Redaction
from convengine.engine.threads.settings import ALLOW_CLIENT_CONVERSATION_IDS, LEASE_SECONDS, ON_CONCURRENT_TURN
from convengine.engine.turn import live_settings
from convengine.engine.turn.codec import dumps, load_column
from convengine.engine.turn.conversation import PLAIN_CHANNEL, Conversation
from convengine.engine.turn.turn import TurnRequest
from convengine.server.database.sql import Dialect, dialect
from convengine.server.interfaces.configuration import configuration
from convengine.server.sessions.models import CLOSED_BY_CALL, ENDED, is_closed_for_good, prove_identity
from convengine.server.turns import idempotency
from convengine.server.turns.dead_turns import recover_expired_lease
from convengine.server.turns.idempotency import IdempotencyKey
from convengine.server.turns.interruption import interrupt_running_turn
from convengine.server.turns.waiting import LAST_TICKET, wait_for_lease
from convengine.server.turns.watchdog import find_longest_seconds


@dataclass(frozen=True)
class Lease:
    """An acquired lease and everything that was read with it."""

    token: str
    turn_id: str
    turn_no: int
    conversation: Conversation
    #: The turn-lifetime params of the last committed turn.
    previous_turn: Mapping[str, Any]
    #: The release of that turn; None when there is none.
    last_release: int | None
    #: The configuration's head, to be pinned.
    head: str
    #: The database's time, which is the turn's time.
    now: datetime
    #: User text and answer of up to `past_limit` committed turns of the epoch, newest first.
    past: Sequence[tuple[str | None, Any]] = ()
    past_limit: int = 0
    created: bool = False
    #: The hash of the newest seal of the conversation's record.
    chain_head: bytes | None = None
    #: Somebody reads the events of running turns.
    watched: bool = False


def lease_seconds() -> int:
    """The duration of a lease without renewal, by the newest configuration of this process."""
    return live_settings.read(configuration().latest, LEASE_SECONDS).value


def renew_lease(token: str) -> bool | None:
    """Renew a lease. True if somebody reads the conversation, false if nobody does, None if the lease was lost."""
    sql = dialect()
    with connection.cursor() as cursor:
        cursor.execute(
            f"UPDATE ce_conversation SET lease_expires_at = {sql.now(lease_seconds())} WHERE lease_token = %s "
            f"RETURNING watched_until > {sql.now()}",
            [sql.uuid_param(token)],
        )
        row = cursor.fetchone()
        return None if row is None else bool(row[0])


class LeaseRenewer:
    """Knows the running turns of this process, renews their leases, and learns who of them is watched meanwhile."""

    def __init__(self) -> None:
        self._running: dict[str, float] = {}
        self._watched: set[str] = set()
        self._lock = threading.Lock()
        self._wake = threading.Event()
        self._thread: threading.Thread | None = None

    @contextmanager
    def renewing(self, token: str) -> Iterator[None]:
        """Renew the lease of a turn while the block runs."""
        with self._lock:
            self._running[token] = time.monotonic()
            # Started at first use, so that a server that forks its workers has one in each.
            if self._thread is None or not self._thread.is_alive():
                self._thread = threading.Thread(target=self._run, name="lease-renewer", daemon=True)
                self._thread.start()
        self._wake.set()
        try:
            yield
        finally:
            with self._lock:
                self._running.pop(token, None)
                self._watched.discard(token)

    def is_watched(self, token: str) -> bool:
        """True when somebody began to read the turn's conversation before the last renewal."""
        return token in self._watched

    def _run(self) -> None:
        """Every third of the duration of a lease, renew the leases of turns that run for at least that long.

        The lease of a turn that should have been ended expires.
        """
        while True:
            self._wake.wait()
            pause = lease_seconds() / 3
            time.sleep(pause)
            now, longest = time.monotonic(), find_longest_seconds()
            with self._lock:
                due = [token for token, since in self._running.items() if pause <= now - since <= longest]
                if not self._running:
                    self._wake.clear()
            if due:
                self._renew(due)

    def _renew(self, tokens: list[str]) -> None:
        """Renew these leases, and note which of them are watched. An error of the database ends the round."""
        try:
            for token in tokens:
                is_watched = renew_lease(token)
                with self._lock:
                    if is_watched and token in self._running:
                        self._watched.add(token)
        except DatabaseError:
            # The turn notices at its commit; the next round tries again.
            return
        finally:
            connection.close()


lease_renewer = LeaseRenewer()


_WORKER = f"{socket.gethostname()}:{os.getpid()}"
#: The columns that a turn begins with.
_COLUMNS = tuple(column.name for column in fields(Conversation) if column.name != "conversation_id")
_JSON_COLUMNS = ("context_json", "input_params_json", "last_assistant_json", "lifecycle_detail", "preferences")


class AlreadyAnswered(Exception):
    """The repeated call was answered; `body` is its answer."""

    def __init__(self, body: Any) -> None:
        self.body = body
        super().__init__("already answered")


@dataclass(frozen=True)
class LeaseClaim:
    """A turn that wants the lease."""

    turn_id: str
    request: TurnRequest
    key: IdempotencyKey | None = None
    #: The prefix of the API key that calls: a conversation that begins with this turn is its.
    opened_by: str | None = None


def acquire(request: TurnRequest, key: IdempotencyKey | None = None, opened_by: str | None = None) -> Lease:
    """Acquire the lease, waiting in order of arrival as `Session/ON_CONCURRENT_TURN` says.

    A call whose key was answered never gets the lease, also when the answer came while it waited.
    `opened_by` is the prefix of the API key that calls. Raises AlreadyAnswered, TurnInProgress, ServerOverloaded,
    ConversationNotFound (another workspace's, or client ids are off), ConversationClosed, IdempotencyKeyReused.
    """
    claim = LeaseClaim(str(uuid.uuid4()), request, key, opened_by)
    if request.new and request.channel == PLAIN_CHANNEL:
        # The call named no conversation, so that only a retry may find one.
        lease = _begin(claim) or acquire_free(claim)
    else:
        lease = acquire_free(claim) or (_begin(claim) if _may_begin(request) else None)
    return lease or _acquire_contended(claim)


def acquire_free(claim: LeaseClaim, ticket: int = LAST_TICKET) -> Lease | None:
    """Acquire the lease. Returns None if it is held, or if this turn may not have it.

    It may not while an older ticket than `ticket` lives, nor when the conversation is missing, closed or of another
    workspace, nor when a call with the same key was answered.

    PostgreSQL reads the row as it is after waiting for its lock, but everything else as it was before. Comparing the
    version as read with the row's own refuses such a mixture, which could miss a whole turn.
    """
    sql, request = dialect(), claim.request
    params = [sql.uuid_param(request.conversation_id), request.workspace_id, ticket]
    return _execute_claim(claim, params, is_new=False)


def _begin(claim: LeaseClaim) -> Lease | None:
    """Make the conversation, with its lease. Returns None if it exists, or if a call with the same key was answered."""
    request, row_id = claim.request, dialect().uuid_param(claim.request.conversation_id)
    identity = (request.workspace_id, request.channel, request.conversation_id, claim.opened_by)
    # It looks for the row first: a conflict with one that another commit changes would wait for that commit.
    params = [row_id, *identity, prove_identity(request.conversation_id, *identity), row_id]
    return _execute_claim(claim, params, is_new=True)


def _may_begin(request: TurnRequest) -> bool:
    return request.new or live_settings.read(configuration().current(), ALLOW_CLIENT_CONVERSATION_IDS).value


def _execute_claim(claim: LeaseClaim, params: Sequence[Any], *, is_new: bool) -> Lease | None:
    """Execute one of the statements of `_acquire_sql`, with its own `params`."""
    sql, token, request = dialect(), uuid.uuid4(), claim.request
    snapshots = configuration()
    redaction = Redaction.of(snapshots.latest)
    info = {
        "turnId": claim.turn_id,
        "userText": request.message and redaction.text(request.message),
        "inputParamNames": redaction.names(request.input_params),
        "worker": _WORKER,
        **({"call": claim.key.call} if claim.key else {}),
    }
    update, insert = _acquire_sql(
        sql, snapshots.head_sql, sql.now(), sql.now(lease_seconds()), sql.relax_durability(), claim.key is not None
    )
    limit = live_settings.read(snapshots.latest, HISTORY_MAX_TURNS).value
    key = (claim.key.owner, claim.key.key) if claim.key else ()
    with connection.cursor() as cursor:
        cursor.execute(insert if is_new else update, [sql.uuid_param(token), dumps(info), *params, *key, limit])
        row = cursor.fetchone()
    if row is None:
        return None
    *columns, chain_head, watched, turn_no, now, config_head, last_turn, past, _ = row
    last_release, _, facts = (last_turn or " {}").partition(" ")
    return Lease(
        str(token),
        claim.turn_id,
        turn_no,
        _read_conversation(request.conversation_id, columns),
        load_column(facts) or {},
        int(last_release) if last_release else None,
        config_head,
        sql.read_time(now),
        load_column(past) or (),
        limit,
        created=turn_no == 1,
        chain_head=chain_head and bytes(chain_head),
        watched=bool(watched),
    )


@lru_cache(maxsize=64)
def _acquire_sql(
    sql: Dialect, config_head: str, now: str, until: str, relax_durability: str, with_key: bool
) -> tuple[str, str]:
    """The statements that acquire a free lease, and that make a conversation with its lease.

    Cached, because they are nearly always the same texts. `with_key`: no row is written if a call with the same key was
    answered.
    """
    answered = f"SELECT 1 FROM ce_idempotency WHERE api_key = %s AND key = %s AND expires_at > {now}"
    unanswered = f"NOT EXISTS ({answered})" if with_key else "TRUE"
    may_reopen = f"COALESCE({sql.json_member('lifecycle_detail', 'by')}, '') <> '{CLOSED_BY_CALL}'"
    # A lease need not be on disk: the turn's commit writes it too, and a database crash ends the turn anyway.
    numbers = ("last_turn_no + 1", "1")
    infos = [sql.json_merge("turnNo", number, "head", config_head, "startedAt", now) for number in numbers]
    returning = f"""
        RETURNING {", ".join(_COLUMNS)},
                  chain_head, watched_until > {now}, last_turn_no, last_message_at, {config_head},
                  (SELECT CAST(h.config_version AS TEXT) || ' ' || COALESCE(CAST(h.facts AS TEXT), '{{}}')
                     FROM ce_conversation_history h
                    WHERE h.conversation_id = ce_conversation.conversation_id AND h.status IN ('OK', 'BLOCKED')
                    ORDER BY h.turn_no DESC LIMIT 1),
                  (SELECT {sql.json_pairs("p.user_input", "p.assistant_output")}
                     FROM ({select_past("ce_conversation.conversation_id", "ce_conversation.context_epoch")}) p),
                  {relax_durability}"""
    update = f"""
        UPDATE ce_conversation
           SET lease_token = %s, lease_expires_at = {until}, last_turn_no = last_turn_no + 1,
               last_message_at = {now}, lease_info = {infos[0]}
         WHERE conversation_id = %s AND workspace_id = %s AND lease_token IS NULL
           AND version = (SELECT r.version FROM ce_conversation r
                           WHERE r.conversation_id = ce_conversation.conversation_id)
           AND (lifecycle NOT IN {ENDED} OR (channel = '{PLAIN_CHANNEL}' AND {may_reopen}))
           AND NOT EXISTS (SELECT 1 FROM ce_turn_ticket t
                            WHERE t.conversation_id = ce_conversation.conversation_id
                              AND t.expires_at > {now} AND t.id < %s)
           AND {unanswered}{returning}"""
    insert = f"""
        INSERT INTO ce_conversation
               (lease_token, lease_info, conversation_id, workspace_id, channel, remote_jid, opened_by, proof,
                status, intent_code, state_code, context_json, input_params_json, created_at, updated_at, version,
                last_turn_no, turn_count, context_epoch, lifecycle, lifecycle_detail, context_summary, preferences,
                lease_expires_at, last_message_at)
        SELECT %s, {infos[1]}, %s, %s, %s, %s, %s, %s,
               'RUNNING', 'UNKNOWN', 'UNKNOWN', '{{}}', '{{}}', {now}, {now}, 0,
               1, 0, 0, 'RUNNING', '{{}}', '', '{{}}', {until}, {now}
         WHERE NOT EXISTS (SELECT 1 FROM ce_conversation e WHERE e.conversation_id = %s) AND {unanswered}
            ON CONFLICT DO NOTHING{returning}"""
    return update, insert


def select_past(conversation: str, epoch: str) -> str:
    """The newest committed turns of an epoch of a conversation, which are two SQL expressions; at most `%s`."""
    return f"""
        SELECT h.user_input, h.assistant_output FROM ce_conversation_history h
         WHERE h.conversation_id = {conversation} AND h.status = 'OK' AND h.context_epoch = {epoch}
         ORDER BY h.turn_no DESC LIMIT %s"""


def _read_conversation(conversation_id: str, columns: list[Any]) -> Conversation:
    values = dict(zip(_COLUMNS, columns, strict=True))
    values["conversation_id"] = conversation_id
    values["created_at"] = dialect().read_time(values["created_at"])
    for name in _JSON_COLUMNS:
        values[name] = load_column(values[name])
    return Conversation(**values)


def _acquire_contended(claim: LeaseClaim) -> Lease:
    """Acquire a lease that is not free: recover a dead turn's lease, or wait for the lease.

    Raises the errors of `acquire`.
    """
    request = claim.request
    _check_unanswered(claim)
    _check_open(request)
    if recover_expired_lease(request.conversation_id) and (lease := acquire_free(claim)):
        return lease
    _check_unanswered(claim)
    policy = live_settings.read(configuration().current(), ON_CONCURRENT_TURN, request.workspace_id).value
    if policy == "reject" and not idempotency.is_running(claim.key, request.conversation_id):
        raise TurnInProgress()
    at_each_look = _interrupt_other_turn if policy == "interrupt" else _check_unanswered
    lease = wait_for_lease(request.conversation_id, partial(acquire_free, claim), partial(at_each_look, claim))
    if lease is None:
        raise ConversationClosed()
    return lease


def _check_unanswered(claim: LeaseClaim) -> None:
    """Raises AlreadyAnswered when an earlier call with the same key was answered."""
    if claim.key and (body := idempotency.find_answer(claim.key)) is not None:
        raise AlreadyAnswered(body)


def _interrupt_other_turn(claim: LeaseClaim) -> None:
    """Interrupt the running turn, unless that arrived later. Raises AlreadyAnswered.

    A repeated call does not interrupt itself: it waits for the answer to the first.
    """
    _check_unanswered(claim)
    if not idempotency.is_running(claim.key, claim.request.conversation_id):
        message = claim.request.message
        masked = message and Redaction.of(configuration().latest).text(message)
        interrupt_running_turn(claim.request.conversation_id, claim.turn_id, masked)


def _check_open(request: TurnRequest) -> None:
    """Raises ConversationNotFound and ConversationClosed, as `acquire` says."""
    sql = dialect()
    with connection.cursor() as cursor:
        cursor.execute(
            f"""SELECT channel, lifecycle, {sql.json_member("lifecycle_detail", "by")}
                  FROM ce_conversation WHERE conversation_id = %s AND workspace_id = %s""",
            [sql.uuid_param(request.conversation_id), request.workspace_id],
        )
        row = cursor.fetchone()
    if row is None:
        # Never 403 for another workspace's, so that ids cannot be probed.
        raise ConversationNotFound()
    if is_closed_for_good(*row):
        raise ConversationClosed()
