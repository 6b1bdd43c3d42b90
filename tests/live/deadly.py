"""Rows of outboxes that end the process that attempts them, because they have the word "deadly": a test's extension.

Each death is noted as a file in the folder CE_TEST_STRUCK. Claims last for two seconds, so that a test sees their end.
"""

import asyncio
import os
import signal
import time
import uuid
from datetime import timedelta
from pathlib import Path
from typing import Any

from audit.alerts import messages as alerts
from convengine.engine.pipeline.hooks import StepHook
from convengine.engine.turn.session import Session
from convengine.engine.turn.turn import Turn
from convengine.server.channels import send as channels
from convengine.server.extensions.registry import step_hook
from convengine.server.queued import answer as queued
from convengine.server.webhooks import send as webhooks

#: Meanwhile, the process claims other rows, which die with it.
_PAUSE = 0.3


def _die() -> None:
    Path(os.environ["CE_TEST_STRUCK"], uuid.uuid4().hex).touch()
    os.kill(os.getpid(), signal.SIGKILL)


@step_hook
class DeadlyHook(StepHook):
    """A hook that needs more memory than there is."""

    def before_step(self, step_name: str, session: Session, turn: Turn) -> Session:
        if "deadly" in (session.user_text or ""):
            time.sleep(_PAUSE)
            _die()
        return session


def _spoil(outbox: Any, column: str) -> None:
    send = outbox.send

    async def send_or_die(row: Any) -> None:
        await asyncio.sleep(_PAUSE)
        if "deadly" in str(getattr(row, column)):
            _die()
        await send(row)

    outbox.send = send_or_die


_spoil(webhooks.outbox, "body")
_spoil(channels.outbox, "text")
_spoil(alerts.outbox, "content")
for each in (queued, webhooks, channels, alerts):
    each.outbox.claim = timedelta(seconds=2)
