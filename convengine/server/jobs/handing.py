"""Send work to a worker: by name, with JSON arguments, to the broker."""

from typing import Any

import structlog

from convengine.server.deployment import conf
from convengine.server.jobs.processes import EMBEDDED

log = structlog.get_logger(__name__)


def hand_over(name: str, *args: Any) -> bool:
    """Send work that `HANDED_WORK` names to a worker; false without a reachable broker.

    Waits for the broker up to a few seconds, so nothing that answers a user may call this.
    """
    if conf.get("BROKER_URL") in ("", EMBEDDED):
        return False
    from kombu.exceptions import OperationalError

    from convengine.server.jobs.worker import do

    try:
        do.apply_async([name, *args], retry=False)
    except OperationalError as error:
        log.warning("broker out of reach, work done here", work=name, error=str(error))
        return False
    return True
