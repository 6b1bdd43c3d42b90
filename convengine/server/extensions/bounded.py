"""Call registered code with a time limit."""

import contextvars
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import TypeVar

from convengine.server.database.release import release_connections
from convengine.server.resilience.time_left import clip_seconds

T = TypeVar("T")


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
