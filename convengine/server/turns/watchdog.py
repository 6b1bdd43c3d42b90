"""End a turn that outlasts its time limit in code that never returns, with the process that runs it.

A turn looks at its time between its steps, and what it waits for has deadlines. Only code that computes for ever, in
Python or in C, gets here. No thread can be stopped from outside, so the process ends: its supervisor starts a new one,
and other processes go on with the conversations.
"""

import faulthandler
import os
import sys
import threading
import time
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import structlog

from convengine.engine.errors import TurnTimeout
from convengine.server.deployment import conf
from convengine.server.sessions.models import CeExtensionFault
from convengine.server.turns.dead_turns import end_overdue_turn

log = structlog.get_logger(__name__)
#: Seconds between two looks at the running turns.
_PAUSE = 1.0
#: Seconds after which C code that does not let go of the interpreter has stopped the process: it answers nobody.
STALL_SECONDS = 10.0
#: Seconds in which the end of a turn must be recorded.
_LAST_SECONDS = 5.0
_STANDARD_ERROR, _STATUS = 2, 1


def find_longest_seconds() -> float:
    """After this time a turn is ended from outside. The rest beyond its limit is for a slow step, and the commit."""
    return float(conf.get("TURN_TIMEOUT_SECONDS")) * 1.2 + 5


@dataclass(frozen=True)
class RunningTurn:
    conversation_id: str
    turn_no: int
    lease_token: str
    thread: int
    began: float

    def format_stack(self) -> str:
        """The calls where its thread is, without local variables, which hold texts of users."""
        frame = sys._current_frames().get(self.thread)
        return "".join(traceback.format_stack(frame)) if frame else ""


class Watchdog:
    """Knows the running turns of this process. It begins with the first turn."""

    def __init__(self) -> None:
        self._running: dict[str, RunningTurn] = {}
        self._thread: threading.Thread | None = None
        self._lock = threading.Lock()

    @contextmanager
    def watching(self, conversation_id: str, turn_no: int, lease_token: str) -> Iterator[None]:
        """Watch the turn that this thread runs in the block."""
        turn = RunningTurn(conversation_id, turn_no, lease_token, threading.get_ident(), time.monotonic())
        with self._lock:
            self._running[lease_token] = turn
            # Started at first use, so that a server that forks its workers has one in each.
            if self._thread is None or not self._thread.is_alive():
                _set_alarm(STALL_SECONDS)
                self._thread = threading.Thread(target=self._run, name="watchdog", daemon=True)
                self._thread.start()
        try:
            yield
        finally:
            self._running.pop(lease_token, None)

    def _run(self) -> None:
        try:
            while True:
                # C code that does not let go of the interpreter stops this thread, and nothing sets the alarm again.
                _set_alarm(STALL_SECONDS)
                time.sleep(_PAUSE)
                seconds = find_longest_seconds()
                with self._lock:
                    running = tuple(self._running.values())
                if overdue := [turn for turn in running if time.monotonic() - turn.began > seconds]:
                    _end_process(overdue)
        finally:
            # A fault of this thread, which the next turn starts again, is no stall.
            faulthandler.cancel_dump_traceback_later()


def _set_alarm(seconds: float) -> None:
    """Unless it is set again, write where all threads are to standard error after this time, and end the process.

    It is a thread in C, which needs no interpreter.
    """
    faulthandler.dump_traceback_later(seconds, exit=True, file=_STANDARD_ERROR)


def _end_process(overdue: Sequence[RunningTurn]) -> None:
    """Log where the turns are, record that they failed, and end the process, also if the database does not answer."""
    _set_alarm(_LAST_SECONDS)
    for turn in overdue:
        stack = turn.format_stack()
        log.critical(
            "turn outlasted its time limit; ending the process",
            conversation_id=turn.conversation_id,
            turn_no=turn.turn_no,
            seconds=round(time.monotonic() - turn.began, 1),
            turn_stack=stack,
        )
        try:
            if end_overdue_turn(turn.conversation_id, turn.lease_token):
                CeExtensionFault.objects.create(
                    conversation_id=turn.conversation_id,
                    turn_no=turn.turn_no,
                    kind="TURN",
                    name="time limit",
                    error_type=TurnTimeout.__name__,
                    message="The turn was here when the server ended it.",
                    traceback=stack,
                )
        except Exception as error:
            # The turn is recorded when its lease has expired.
            log.warning("overdue turn not recorded", turn_no=turn.turn_no, error=str(error), exc_info=error)
    os._exit(_STATUS)


# The thread of the alarm does not exist in a child, which would wait for its end.
os.register_at_fork(before=faulthandler.cancel_dump_traceback_later)
watchdog = Watchdog()
