"""A person decides about an execution with an unknown end: it ran, or it did not."""

from dataclasses import dataclass

from django.contrib.auth.base_user import AbstractBaseUser
from django.db import connection, transaction
from django.utils import timezone

from convengine.json_value import Json
from convengine.server.confirmed_actions.run_once import end_execution
from convengine.server.database.sql import dialect
from convengine.server.sessions.models import CePendingActionExecution

#: The error of a run that never happened, according to a person.
DID_NOT_RUN = "DID_NOT_RUN"


class NotSettled(ValueError):
    """The execution cannot be decided now; the message says why and what to do."""


@dataclass(frozen=True)
class Settlement:
    """What a person found out, who it was, and their reason."""

    ran: bool
    by: AbstractBaseUser
    reason: str
    #: The task's result, if it ran.
    result: Json = None

    @property
    def status(self) -> str:
        return "EXECUTED" if self.ran else "FAILED"


def settle_execution(execution_id: int, settlement: Settlement) -> None:
    """Set the end of a claim as a person found it out.

    The next yes of the conversation gets this result: an action that ran is done, and one that did not may be confirmed
    again. Raises NotSettled for a blank reason, for an execution that has ended, and while its turn still runs.
    """
    if not settlement.reason.strip():
        raise NotSettled("Explain how you know, so that others can follow it later.")
    with transaction.atomic():
        row = CePendingActionExecution.objects.select_for_update().select_related("conversation").get(pk=execution_id)
        if row.status != "CLAIMED":
            raise NotSettled(f"The outcome of this execution is already recorded: {row.status}.")
        if is_turn_running(row):
            raise NotSettled("The turn that started it is still running. Wait until it has ended and try again.")
        _store_settlement(row, settlement)


def is_turn_running(row: CePendingActionExecution) -> bool:
    """True while the turn that claimed it may still report its end."""
    sql = dialect()
    if (row.conversation.lease_info or {}).get("turnId") != str(row.turn_id):
        return False
    with connection.cursor() as cursor:
        cursor.execute(
            f"""SELECT 1 FROM ce_conversation
                 WHERE conversation_id = %s AND lease_token IS NOT NULL AND lease_expires_at > {sql.now()}""",
            [sql.uuid_param(row.conversation_id)],
        )
        return cursor.fetchone() is not None


def _store_settlement(row: CePendingActionExecution, settlement: Settlement) -> None:
    now = timezone.now()
    reason = settlement.reason.strip()
    result = {
        "status": settlement.status,
        "values": [] if settlement.result is None else [settlement.result],
        "effects": [],
        "finishedAt": now.isoformat(),
        "errorType": None if settlement.ran else DID_NOT_RUN,
        "message": None if settlement.ran else "A person found that the action did not run.",
        "settled": {"by": settlement.by.get_username(), "at": now.isoformat(), "reason": reason},
    }
    # Do not overwrite an end that the turn or another person stores at this moment.
    open_claim = CePendingActionExecution.objects.filter(pk=row.pk, status="CLAIMED")
    if not end_execution(open_claim, settlement.status, result):
        raise NotSettled("Someone else recorded the outcome meanwhile.")
