"""A task whose effect is a line in the file CE_TEST_EFFECTS. Loaded as an extension by the servers of the cluster."""

import os
from typing import Any

from convengine.server.extensions.registry import task
from convengine.server.extensions.tasks import TaskCall


@task("payment")
class Payment:
    """Payments, which cannot be taken back."""

    def pay(self, call: TaskCall) -> dict[str, Any]:
        """Pay the order."""
        file = os.open(os.environ["CE_TEST_EFFECTS"], os.O_WRONLY | os.O_APPEND)
        try:
            # One write, so that lines of several processes do not mix.
            os.write(file, f"{call.input_params['order']} {call.idempotency_key}\n".encode())
        finally:
            os.close(file)
        return {"paid": call.input_params["order"]}
