"""Claims of confirmed actions, tools and rules' tasks: each runs at most once, even if a process dies."""

import uuid
from collections.abc import Callable
from dataclasses import asdict
from typing import Any

import structlog
from django.db import DatabaseError, connection, transaction

from convengine.engine.errors import ConversationPersistFailed
from convengine.engine.turn.codec import dumps, load_column
from convengine.engine.turn.ports import Execution, ExecutionClaim
from convengine.engine.turn.recording import Tape
from convengine.json_value import Json
from convengine.server.database.sql import Dialect, dialect

log = structlog.get_logger(__name__)

#: The turn that reported the result of a turn that did not commit.
TAKEN_OVER_BY = "takenOverBy"


class Executions:
    """The executions port: each call is a transaction of its own, committed before it returns."""

    def __init__(self, tape: Tape) -> None:
        self._tape = tape

    def claim(self, claim: ExecutionClaim) -> Execution:
        """Make or find the claim. Raises ConversationPersistFailed: without a claim nothing may run."""
        return Execution(**self._ask("execution.claim", asdict(claim), lambda: _insert_claim(claim)))

    def finish(self, claim: ExecutionClaim, status: str, result: Json) -> None:
        """Store the outcome. Raises ConversationPersistFailed; the claim then stays open."""
        request = {"nonce": claim.nonce, "status": status}
        self._ask("execution.finish", request, lambda: _store_end(claim, status, result))

    def _ask(self, port: str, request: Json, call: Callable[[], dict[str, Json]]) -> dict[str, Json]:
        """The answer, or the database's fault, so that the turn that failed for it can be replayed."""

        def answer() -> dict[str, Json]:
            try:
                return call()
            except DatabaseError as error:
                log.error("action execution not stored", error=str(error), exc_info=True)
                return {"fault": type(error).__name__}

        reply: dict[str, Json] = self._tape.ask(port, request, answer)
        if "fault" in reply:
            raise ConversationPersistFailed()
        return reply


def _insert_claim(claim: ExecutionClaim) -> dict[str, Json]:
    sql = dialect()
    turn_id = sql.uuid_param(claim.turn_id)
    opening = [sql.uuid_param(claim.conversation_id), sql.uuid_param(claim.nonce)]
    in_the_way, blockers = _find_blockers_sql(sql, claim)
    with transaction.atomic(durable=True), connection.cursor() as cursor:
        # An earlier opening with an unknown or unreported end blocks a new one, which would be its retry.
        cursor.execute(
            f"""INSERT INTO ce_pending_action_execution
                    (conversation_id, runtime_nonce, turn_id, action_key, action_ref, request_hash, status, started_at)
                SELECT %s, %s, %s, %s, %s, %s, 'CLAIMED', {sql.now()}
                 WHERE NOT EXISTS (SELECT 1 FROM ce_pending_action_execution e WHERE {in_the_way})
                ON CONFLICT (conversation_id, runtime_nonce) DO NOTHING RETURNING id""",
            [*opening, turn_id, claim.action_key, claim.action_ref, claim.request_hash, *blockers],
        )
        if made := cursor.fetchone():
            return asdict(Execution(True, made[0], "CLAIMED", None, claim.request_hash))
        cursor.execute(
            f"""SELECT e.id, e.status, e.result_json, e.request_hash, e.runtime_nonce
                  FROM ce_pending_action_execution e
                 WHERE (e.conversation_id = %s AND e.runtime_nonce = %s) OR ({in_the_way})
                 ORDER BY CASE WHEN e.runtime_nonce = %s THEN 0 ELSE 1 END, e.id LIMIT 1""",
            [*opening, *blockers, opening[1]],
        )
        number, status, result, digest, nonce = cursor.fetchone()
        if status == "EXECUTED":
            _take_over(cursor, sql, number, {**(load_column(result) or {}), TAKEN_OVER_BY: str(turn_id)})
        stored, own = uuid.UUID(str(nonce)), uuid.UUID(claim.nonce)
        other = str(stored) if stored != own else None
        return asdict(Execution(False, number, status, load_column(result), digest, other))


def _find_blockers_sql(sql: Dialect, claim: ExecutionClaim) -> tuple[str, list[Json]]:
    """A condition with its parameters: the same action of another turn is open, or executed and not reported.

    It is not reported if its turn was not committed, so that the conversation does not know the result, and this turn
    has not taken it over before: a rule may run its task twice in a turn.
    """
    taken_over_by, turn_id = sql.json_member("e.result_json", TAKEN_OVER_BY), sql.uuid_param(claim.turn_id)
    same_request, request = ("AND e.request_hash = %s", [claim.request_hash]) if claim.same_request_only else ("", [])
    condition = f"""e.conversation_id = %s AND e.action_key = %s AND e.action_ref = %s AND e.turn_id <> %s
        AND (e.status = 'CLAIMED'
             OR (e.status = 'EXECUTED' AND COALESCE({taken_over_by}, '') <> %s {same_request}
                 AND NOT {_known_to_conversation_sql(sql)}))"""
    action = [sql.uuid_param(claim.conversation_id), claim.action_key, claim.action_ref]
    return condition, [*action, turn_id, str(turn_id), *request]


def _known_to_conversation_sql(sql: Dialect) -> str:
    taken_over_by = sql.json_member("e.result_json", TAKEN_OVER_BY)
    return f"""EXISTS (
        SELECT 1 FROM ce_conversation_history h
         WHERE h.conversation_id = e.conversation_id AND h.status IN ('OK', 'BLOCKED')
           AND (h.turn_id = e.turn_id OR CAST(h.turn_id AS TEXT) = {taken_over_by}))"""


def _take_over(cursor: Any, sql: Dialect, number: int, result: Json) -> None:
    """Record which turn reports the result; if that one dies too, the next will."""
    cursor.execute(
        f"""UPDATE ce_pending_action_execution AS e SET result_json = {sql.json}
             WHERE e.id = %s AND NOT {_known_to_conversation_sql(sql)}""",
        [dumps(result), number],
    )


def _store_end(claim: ExecutionClaim, status: str, result: Json) -> dict[str, Json]:
    sql = dialect()
    with transaction.atomic(durable=True), connection.cursor() as cursor:
        # A decision that a person made about an open claim meanwhile stays.
        cursor.execute(
            f"""UPDATE ce_pending_action_execution
                   SET status = %s, result_json = {sql.json}, finished_at = {sql.now()}
                 WHERE conversation_id = %s AND runtime_nonce = %s AND status = 'CLAIMED'""",
            [status, dumps(result), sql.uuid_param(claim.conversation_id), sql.uuid_param(claim.nonce)],
        )
    return {}
