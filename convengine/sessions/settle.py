"""A person settles an execution whose end nobody saw: it ran, or it did not (tables 6.7, R81)."""

from dataclasses import dataclass
from typing import Any

from django.contrib.auth.base_user import AbstractBaseUser
from django.db import connection, transaction
from django.utils import timezone

from convengine.codec import dumps
from convengine.sessions.models import CePendingActionExecution
from convengine.sessions.sql import dialect

Json = Any
#: What a run is said to have failed of that a person knows never happened.
DID_NOT_RUN = "DID_NOT_RUN"


class NotSettled(ValueError):
    """The execution cannot be settled now; the message says why and what to do."""


@dataclass(frozen=True)
class Settlement:
    """What a person found out, who it was, and how they know."""

    ran: bool
    by: AbstractBaseUser
    reason: str
    #: What the task gave, where it ran.
    result: Json = None

    @property
    def status(self) -> str:
        """What becomes of the claim."""
        return "EXECUTED" if self.ran else "FAILED"


def settle(execution_id: int, settlement: Settlement) -> None:
    """Give a claim the end that a person found out.

    The next yes of the conversation hears of it as of any end that an earlier turn left: an action that ran is done,
    and one that did not may be confirmed again (R82). Raises NotSettled for a blank reason, for an execution that has
    its end, and while the turn that claimed it still runs.
    """
    if not settlement.reason.strip():
        raise NotSettled("Say how you know: whoever reads this later must be able to follow it.")
    with transaction.atomic():
        row = CePendingActionExecution.objects.select_for_update().select_related("conversation").get(pk=execution_id)
        if row.status != "CLAIMED":
            raise NotSettled(f"This execution has its end already: {row.status}.")
        if still_runs(row):
            raise NotSettled("The turn that claimed it still runs. Wait until its lease is over, and look again.")
        _write(row, settlement)


def still_runs(row: CePendingActionExecution) -> bool:
    """True while the turn that claimed it may still say how it ended."""
    here = dialect()
    if (row.conversation.lease_info or {}).get("turnId") != str(row.turn_id):
        return False
    with connection.cursor() as cursor:
        cursor.execute(
            f"""SELECT 1 FROM ce_conversation
                 WHERE conversation_id = %s AND lease_token IS NOT NULL AND lease_expires_at > {here.now()}""",
            [here.uuid(row.conversation_id)],
        )
        return cursor.fetchone() is not None


def _write(row: CePendingActionExecution, settlement: Settlement) -> None:
    here, now = dialect(), timezone.now()
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
    with connection.cursor() as cursor:
        # Whoever notes an end at this very moment, the turn or another person, is not overwritten.
        cursor.execute(
            f"""UPDATE ce_pending_action_execution
                   SET status = %s, result_json = {here.json}, finished_at = {here.now()}
                 WHERE id = %s AND status = 'CLAIMED'""",
            [settlement.status, dumps(result), row.pk],
        )
        if cursor.rowcount != 1:
            raise NotSettled("Somebody has settled it in the meantime.")
