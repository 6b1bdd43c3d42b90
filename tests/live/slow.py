"""A deployment's extension for tests: a message that begins with "slowly" takes CE_TEST_SLEEP_SECONDS longer."""

import os
import time

from convengine.engine.pipeline.hooks import StepHook
from convengine.engine.turn.session import Session
from convengine.engine.turn.turn import Turn
from convengine.server.extensions.registry import step_hook


@step_hook
class Slow(StepHook):
    """Dawdles before the rules."""

    def before_step(self, step_name: str, session: Session, turn: Turn) -> Session:
        if step_name == "RulesStep" and (turn.request.message or "").startswith("slowly"):
            time.sleep(float(os.environ["CE_TEST_SLEEP_SECONDS"]))
        return session
