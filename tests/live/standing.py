"""A deployment's extension for tests: messages whose turns never come back, each in another way."""

import re
import time

from convengine.engine.pipeline.hooks import StepHook
from convengine.engine.turn.session import Session
from convengine.engine.turn.turn import Turn
from convengine.server.extensions.registry import step_hook


def loop_in_python() -> None:
    while True:
        pass


def loop_and_swallow_errors() -> None:
    while True:
        try:
            loop_in_python()
        except BaseException:
            continue


def hold_the_interpreter() -> None:
    """A pattern that needs longer than anybody lives; Python's `re` lets no other thread run meanwhile."""
    re.match("(a+)+$", "a" * 60 + "b")


def sleep() -> None:
    time.sleep(3600)


WAYS = {
    "loops": loop_in_python,
    "swallows": loop_and_swallow_errors,
    "matches": hold_the_interpreter,
    "sleeps": sleep,
}


@step_hook
class Standing(StepHook):
    """Stands before the rules, if the message says so: `hours loops`."""

    def before_step(self, step_name: str, session: Session, turn: Turn) -> Session:
        *_, last = (turn.request.message or "-").split() or ["-"]
        if step_name == "RulesStep" and last in WAYS:
            WAYS[last]()
        return session
