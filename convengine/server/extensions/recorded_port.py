"""What the ports that call code of the deployment have in common."""

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext

from convengine.engine.turn.recording import Tape
from convengine.server.extensions.registry import Registry

Wait = Callable[[], AbstractContextManager[None]]


class RecordedPort:
    """A port that calls registered code and records each answer.

    The turn's thread holds `wait` during a call. A call with a time limit has a thread of its own, where `afterwards`
    is called when it ends.
    """

    def __init__(
        self,
        registry: Registry,
        tape: Tape,
        afterwards: Callable[[], None] = lambda: None,
        wait: Wait = nullcontext,
    ) -> None:
        self._registry = registry
        self._tape = tape
        self._afterwards = afterwards
        self._wait = wait
