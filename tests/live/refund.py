"""A task whose effect is a line in the file CE_TEST_EFFECTS, and places around its run where the process ends.

Loaded as a deployment's extension after `doom`, whose header names the place: `claimed`, `ran` or `noted`.
"""

import os
from typing import Any

from convengine.engine.turn.ports import Execution, ExecutionClaim
from convengine.server.confirmed_actions.run_once import Executions
from convengine.server.extensions.registry import task
from convengine.server.extensions.tasks import TaskCall
from tests.live.doom import strike_if_reached


@task("refund")
def refund(call: TaskCall) -> dict[str, Any]:
    """Pay, which cannot be taken back."""
    with open(os.environ["CE_TEST_EFFECTS"], "a") as effects:
        effects.write(f"{call.idempotency_key}\n")
    call.set_context("refund", "paid")
    return {"paid": True}


def _claim(self: Executions, claim: ExecutionClaim, make: Any = Executions.claim) -> Execution:
    """`claimed`: the claim stands, and the task has not begun."""
    made: Execution = make(self, claim)
    strike_if_reached("claimed")
    return made


def _finish(self: Executions, claim: ExecutionClaim, status: str, result: Any, note: Any = Executions.finish) -> None:
    """`ran`: the task has ended, and only it knows; `noted`: its end is noted, and the turn is not committed."""
    strike_if_reached("ran")
    note(self, claim, status, result)
    strike_if_reached("noted")


Executions.claim = _claim  # type: ignore[method-assign]
Executions.finish = _finish  # type: ignore[method-assign]
