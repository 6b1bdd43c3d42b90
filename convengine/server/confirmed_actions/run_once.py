"""Claims of confirmed actions, tools and rules' tasks: each runs at most once, even if a process dies."""

import json
import uuid
from collections.abc import Callable
from dataclasses import asdict
from datetime import datetime
from typing import Any

import structlog
from django.db import DatabaseError, connection, transaction
from django.db.models import BooleanField, QuerySet
from django.db.models.expressions import RawSQL

from convengine.engine.errors import ConversationPersistFailed
from convengine.engine.turn.codec import dumps, load_column
from convengine.engine.turn.ports import Execution, ExecutionClaim
from convengine.engine.turn.recording import Tape
from convengine.json_value import Json
from convengine.server.database.sql import Dialect, database_time, dialect
from convengine.server.sessions.models import CePendingActionExecution

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
        """The answer, through the tape.

        Raises ConversationPersistFailed for a fault of the database. The tape has the fault, so that the turn that
        failed for it can be replayed.
        """

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
        while True:
            # An earlier opening with an unknown or unreported end blocks a new one, which would be its retry.
            cursor.execute(
                f"""INSERT INTO ce_pending_action_execution
                    (conversation_id, runtime_nonce, turn_id, action_key, action_ref, request_hash, status, started_at)
                SELECT %s, %s, %s, %s, %s, %s, 'CLAIMED', {sql.now()}
                 WHERE NOT EXISTS (SELECT 1 FROM ce_pending_action_execution e WHERE {in_the_way})
                ON CONFLICT (conversation_id, runtime_nonce) DO NOTHING RETURNING id, started_at""",
                [*opening, turn_id, claim.action_key, claim.action_ref, claim.request_hash, *blockers],
            )
            if made := cursor.fetchone():
                number, started_at = made
                proof = _prove_claim(claim, sql.read_time(started_at))
                cursor.execute("UPDATE ce_pending_action_execution SET proof = %s WHERE id = %s", [proof, number])
                return asdict(Execution(True, number, "CLAIMED", None, claim.request_hash))
            cursor.execute(
                f"""SELECT e.id, e.status, e.result_json, e.request_hash, e.runtime_nonce
                  FROM ce_pending_action_execution e
                 WHERE (e.conversation_id = %s AND e.runtime_nonce = %s) OR ({in_the_way})
                 ORDER BY CASE WHEN e.runtime_nonce = %s THEN 0 ELSE 1 END, e.id LIMIT 1""",
                [*opening, *blockers, opening[1]],
            )
            # Between the two statements, a person may have decided what blocks.
            if earlier := cursor.fetchone():
                break
        number, status, result, digest, nonce = earlier
        if status == "EXECUTED":
            _take_over(sql, number, {**(load_column(result) or {}), TAKEN_OVER_BY: str(turn_id)})
        stored, own = uuid.UUID(str(nonce)), uuid.UUID(claim.nonce)
        other = str(stored) if stored != own else None
        return asdict(Execution(False, number, status, load_column(result), digest, other))


def _prove_claim(claim: ExecutionClaim, started_at: datetime) -> str:
    return CePendingActionExecution.prove(
        {
            **{name: uuid.UUID(getattr(claim, name)) for name in ("conversation_id", "turn_id")},
            "runtime_nonce": uuid.UUID(claim.nonce),
            **{name: getattr(claim, name) for name in ("action_key", "action_ref", "request_hash")},
            "status": "CLAIMED",
            "started_at": started_at,
        }
    )


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
                 AND NOT {_known_to_conversation_sql(sql, "e")}))"""
    action = [sql.uuid_param(claim.conversation_id), claim.action_key, claim.action_ref]
    return condition, [*action, turn_id, str(turn_id), *request]


def _known_to_conversation_sql(sql: Dialect, execution: str) -> str:
    taken_over_by = sql.json_member(f"{execution}.result_json", TAKEN_OVER_BY)
    return f"""EXISTS (
        SELECT 1 FROM ce_conversation_history h
         WHERE h.conversation_id = {execution}.conversation_id AND h.status IN ('OK', 'BLOCKED')
           AND (h.turn_id = {execution}.turn_id OR CAST(h.turn_id AS TEXT) = {taken_over_by}))"""


def _take_over(sql: Dialect, number: int, result: Json) -> None:
    """Record which turn reports the result; if that one dies too, the next will."""
    is_known = _known_to_conversation_sql(sql, CePendingActionExecution._meta.db_table)
    is_unknown = RawSQL(f"NOT {is_known}", [], output_field=BooleanField())  # noqa: S611 - fixed text
    change_execution(CePendingActionExecution.objects.filter(is_unknown, pk=number), result_json=result)


def _store_end(claim: ExecutionClaim, status: str, result: Json) -> dict[str, Json]:
    with transaction.atomic(durable=True):
        # A decision that a person made about an open claim meanwhile stays.
        open_claim = CePendingActionExecution.objects.filter(
            conversation_id=uuid.UUID(claim.conversation_id), runtime_nonce=uuid.UUID(claim.nonce), status="CLAIMED"
        )
        end_execution(open_claim, status, result)
    return {}


def end_execution(open_claim: QuerySet[CePendingActionExecution], status: str, result: Json) -> bool:
    """Store the end of a claim; false if it has ended. Needs an open transaction."""
    return change_execution(open_claim, status=status, result_json=result, finished_at=database_time())


def change_execution(rows: QuerySet[CePendingActionExecution], *, result_json: Json, **values: Any) -> bool:
    """Change the execution that a query finds, with its proof; false if it finds none. Needs an open transaction."""
    row = rows.select_for_update(of=("self",)).first()
    if row is None:
        return False
    row.change(result_json=json.loads(dumps(result_json)), **values)
    row.save(update_fields=["result_json", *values, "proof"])
    return True
