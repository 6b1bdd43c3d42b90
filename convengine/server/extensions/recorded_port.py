"""What the ports that call code of the deployment have in common."""

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass

from convengine.engine.turn.recording import Tape
from convengine.server.extensions.registry import Registry

Wait = Callable[[], AbstractContextManager[None]]


@dataclass(eq=False)
class RecordedPort:
    """A port that calls registered code and records each answer.

    The turn's thread holds `wait` during a call. A call with a time limit has a thread of its own, where `afterwards`
    is called when it ends.
    """

    registry: Registry
    tape: Tape
    afterwards: Callable[[], None] = lambda: None
    wait: Wait = nullcontext
