"""`python -m tests.convengine.server.webhooks.sending KILLS`: a sender that is killed so often, and forked again.

It says `killed` when no more kills follow; the last sender goes on until its parent ends.
"""

import logging
import os
import random
import signal
import sys
import time
from dataclasses import replace
from datetime import timedelta

import django

from tests.live.processes import end_with_parent


def send_for_ever() -> None:
    """Send what is due, with pauses of milliseconds instead of minutes."""
    from convengine.server.jobs import outbox
    from convengine.server.webhooks import send

    outbox._CLAIM = timedelta(seconds=1)
    outbox.FIRST_PAUSE, outbox.LONGEST_PAUSE = timedelta(milliseconds=10), timedelta(milliseconds=100)
    outbox.MOST_ATTEMPTS = 10_000
    send._POLICY = replace(send._POLICY, circuit_open_ms=50)
    while True:
        for _ in send.send_deliveries():
            pass
        time.sleep(0.01)


def main(kills: int) -> None:
    """Fork and kill. Django is loaded once."""
    django.setup()
    logging.disable(logging.CRITICAL)
    from django.db import connections

    chance = random.Random(7)
    for number in range(kills + 1):
        connections.close_all()
        child = os.fork()
        if not child:
            end_with_parent()
            send_for_ever()
        if number < kills:
            time.sleep(chance.uniform(0.02, 0.3))
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
    print("killed", flush=True)
    signal.pause()


if __name__ == "__main__":
    main(int(sys.argv[1]))
