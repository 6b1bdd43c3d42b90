"""The book of executed actions: what lets a confirmed action run at most once, whatever dies (R81, tables 6.7)."""

import uuid
from collections.abc import Callable
from dataclasses import asdict
from typing import Any

import structlog
from django.db import DatabaseError, connection, transaction

from convengine.codec import dumps, loaded
from convengine.domain.ports import Execution, ExecutionClaim
from convengine.domain.recording import Tape
from convengine.errors import ConversationPersistFailed
from convengine.sessions.sql import Dialect, dialect

log = structlog.get_logger(__name__)
Json = Any

_SAME_ACTION = "e.conversation_id = %s AND e.action_key = %s AND e.action_ref = %s"
#: Who took over what a turn executed that did not live to tell of it.
TAKEN_OVER_BY = "takenOverBy"


class Executions:
    """The executions port: each call is a transaction of its own, committed before it answers."""

    def __init__(self, tape: Tape) -> None:
        self._tape = tape

    def claim(self, claim: ExecutionClaim) -> Execution:
        """Make the claim, or find it made. Raises ConversationPersistFailed: without a claim nothing may run."""
        return Execution(**self._asked("execution.claim", asdict(claim), lambda: _claimed(claim)))

    def finish(self, claim: ExecutionClaim, status: str, result: Json) -> None:
        """Note how the run ended. Raises ConversationPersistFailed; the claim then stays open."""
        request = {"nonce": claim.nonce, "status": status}
        self._asked("execution.finish", request, lambda: _finished(claim, status, result))

    def _asked(self, port: str, request: Json, call: Callable[[], dict[str, Json]]) -> dict[str, Json]:
        """The answer; a fault of the database is one too, so that the turn that failed for it can be replayed."""

        def answer() -> dict[str, Json]:
            try:
                return call()
            except DatabaseError as error:
                log.error("action execution not stored", error=str(error), exc_info=True)
                return {"fault": type(error).__name__}

        found: dict[str, Json] = self._tape.ask(port, request, answer)
        if "fault" in found:
            raise ConversationPersistFailed()
        return found


def _claimed(claim: ExecutionClaim) -> dict[str, Json]:
    here = dialect()
    opening = [here.uuid(claim.conversation_id), here.uuid(claim.nonce)]
    action = [here.uuid(claim.conversation_id), claim.action_key, claim.action_ref]
    in_the_way = f"{_SAME_ACTION} AND ({_unsettled(here)})"
    with transaction.atomic(durable=True), connection.cursor() as cursor:
        # An earlier opening whose end nobody knows, or nobody was told, stands in the way of a new one: it would be
        # its retry (tables 6.7).
        cursor.execute(
            f"""INSERT INTO ce_pending_action_execution
                    (conversation_id, runtime_nonce, turn_id, action_key, action_ref, request_hash, status, started_at)
                SELECT %s, %s, %s, %s, %s, %s, 'CLAIMED', {here.now()}
                 WHERE NOT EXISTS (SELECT 1 FROM ce_pending_action_execution e WHERE {in_the_way})
                ON CONFLICT (conversation_id, runtime_nonce) DO NOTHING RETURNING id""",
            [*opening, here.uuid(claim.turn_id), claim.action_key, claim.action_ref, claim.request_hash, *action],
        )
        if made := cursor.fetchone():
            return asdict(Execution(True, made[0], "CLAIMED", None, claim.request_hash))
        cursor.execute(
            f"""SELECT e.id, e.status, e.result_json, e.request_hash, e.runtime_nonce
                  FROM ce_pending_action_execution e
                 WHERE (e.conversation_id = %s AND e.runtime_nonce = %s) OR ({in_the_way})
                 ORDER BY CASE WHEN e.runtime_nonce = %s THEN 0 ELSE 1 END, e.id LIMIT 1""",
            [*opening, *action, opening[1]],
        )
        number, status, result, digest, nonce = cursor.fetchone()
        if status == "EXECUTED":
            _take_over(cursor, here, number, {**(loaded(result) or {}), TAKEN_OVER_BY: str(here.uuid(claim.turn_id))})
        found, own = uuid.UUID(str(nonce)), uuid.UUID(claim.nonce)
        other = str(found) if found != own else None
        return asdict(Execution(False, number, status, loaded(result), digest, other))


def _unsettled(here: Dialect) -> str:
    """Left open; or executed by a turn that was not committed, so that no conversation knows of it yet."""
    return f"e.status = 'CLAIMED' OR (e.status = 'EXECUTED' AND NOT {_told(here)})"


def _told(here: Dialect) -> str:
    return f"""EXISTS (
        SELECT 1 FROM ce_conversation_history h
         WHERE h.conversation_id = e.conversation_id AND h.status IN ('OK', 'BLOCKED')
           AND (h.turn_id = e.turn_id OR CAST(h.turn_id AS TEXT) = {here.member("e.result_json", TAKEN_OVER_BY)}))"""


def _take_over(cursor: Any, here: Dialect, number: int, result: Json) -> None:
    """Note which turn tells of it now; should that one die as well, the next will."""
    cursor.execute(
        f"""UPDATE ce_pending_action_execution AS e SET result_json = {here.json}
             WHERE e.id = %s AND NOT {_told(here)}""",
        [dumps(result), number],
    )


def _finished(claim: ExecutionClaim, status: str, result: Json) -> dict[str, Json]:
    here = dialect()
    with transaction.atomic(durable=True), connection.cursor() as cursor:
        # What a person has decided of an open claim in the meantime stands.
        cursor.execute(
            f"""UPDATE ce_pending_action_execution
                   SET status = %s, result_json = {here.json}, finished_at = {here.now()}
                 WHERE conversation_id = %s AND runtime_nonce = %s AND status = 'CLAIMED'""",
            [status, dumps(result), here.uuid(claim.conversation_id), here.uuid(claim.nonce)],
        )
    return {}
