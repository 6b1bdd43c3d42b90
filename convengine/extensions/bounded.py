"""Waiting no longer than agreed for code that a deployment registered."""

import contextvars
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import TypeVar

T = TypeVar("T")


def call_within(milliseconds: float, call: Callable[[], T], afterwards: Callable[[], None] = lambda: None) -> T:
    """What `call` returns or raises; TimeoutError when it takes longer.

    It runs in a thread of its own, which ends with `afterwards` (giving database connections back). A thread cannot
    be stopped: one that overruns may still finish, and nobody hears what it returns.
    """
    outcome: Future[T] = Future()
    context = contextvars.copy_context()

    def run() -> None:
        try:
            outcome.set_result(context.run(call))
        except SystemExit as error:
            # Code that asks for the end of the process has failed; the process serves others as well.
            outcome.set_exception(RuntimeError(f"It tried to end the process (SystemExit: {error})."))
        except BaseException as error:
            outcome.set_exception(error)
        finally:
            afterwards()

    threading.Thread(target=run, name="registered code", daemon=True).start()
    try:
        return outcome.result(milliseconds / 1000)
    except TimeoutError:
        if outcome.done():
            raise
        raise TimeoutError(f"It took longer than {milliseconds:g} ms.") from None
