"""Handing work to a worker: by name, with arguments that JSON can say, to the broker."""

from typing import Any

import structlog

from convengine import conf
from convengine.jobs.processes import EMBEDDED

log = structlog.get_logger(__name__)


def hand_over(name: str, *args: Any) -> bool:
    """Give work that `HANDED_WORK` names to a worker; false where there is no broker, or it cannot be reached.

    Waits for the broker, a few seconds at most: nothing that answers a user may call this.
    """
    if conf.get("BROKER_URL") in ("", EMBEDDED):
        return False
    from kombu.exceptions import OperationalError

    from convengine.jobs.worker import do

    try:
        do.apply_async([name, *args], retry=False)
    except OperationalError as error:
        log.warning("broker out of reach, work done here", work=name, error=str(error))
        return False
    return True
