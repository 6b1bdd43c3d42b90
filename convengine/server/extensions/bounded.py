"""Call registered code: recorded, and with a time limit."""

import contextvars
import threading
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import TypeVar

from convengine.engine.turn.recording import Tape
from convengine.server.database.sql import release_connections
from convengine.server.extensions.registry import Registry
from convengine.server.resilience.time_left import clip_seconds

T = TypeVar("T")
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


def call_within(milliseconds: float, call: Callable[[], T], afterwards: Callable[[], None] = lambda: None) -> T:
    """Call code with a time limit: its result or exception. TimeoutError after that time, or the turn's remaining one.

    The waiting thread holds no connection.

    It runs in a thread of its own, which ends with `afterwards` (to return database connections). A thread cannot be
    stopped: it may still finish, and its result is lost.
    """
    milliseconds = clip_seconds(milliseconds / 1000) * 1000
    outcome: Future[T] = Future()
    context = contextvars.copy_context()

    def run() -> None:
        try:
            outcome.set_result(context.run(call))
        except SystemExit as error:
            # Code that tries to end the process has failed; the process serves others too.
            outcome.set_exception(RuntimeError(f"The code tried to end the process (SystemExit: {error})."))
        except BaseException as error:
            outcome.set_exception(error)
        finally:
            afterwards()

    threading.Thread(target=run, name="registered code", daemon=True).start()
    release_connections()
    try:
        return outcome.result(milliseconds / 1000)
    except TimeoutError:
        if outcome.done():
            raise
        raise TimeoutError(f"The call took longer than {milliseconds:.0f} ms.") from None
