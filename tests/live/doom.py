"""Places inside a turn where this very process ends, or stands still, when a request's X-Doom header says so.

Loaded as a deployment's extension (CE_EXTENSIONS). The header is `<number> <what> <place>`, such as
`17 kill before RulesStep`. The number is noted as a file in the folder CE_TEST_STRUCK just before, so that a test
knows which of its requests struck, and in which process.
"""

import os
import signal
import threading
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

import psycopg
from django.db import connection
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.backends.signals import connection_created
from django.db.utils import OperationalError

from convengine.engine.pipeline.hooks import StepHook
from convengine.engine.pipeline.step import Outcome
from convengine.engine.turn.session import Session
from convengine.engine.turn.turn import Turn
from convengine.server.extensions.registry import step_hook
from convengine.server.turns import take_turn as turns
from convengine.wsgi import application as engine


class _Doom(threading.local):
    """What the request of this thread asked for, and how many statements its commit has made."""

    number = ""
    what = ""
    place = ""
    statement: int | None = None
    #: The statement was executed, and its answer is about to come.
    heard_nothing = False


doom = _Doom()
_held: list[psycopg.Connection[Any]] = []


def _stop() -> None:
    os.kill(os.getpid(), signal.SIGSTOP)
    # The signal may meet another thread first: this one must not run on until it stands still too.
    time.sleep(0.5)


def _refuse() -> None:
    """Let the database refuse the statement."""
    raise OperationalError("disk I/O error")


def _cut() -> None:
    """Take the connection away from this turn; only from this one. The next statement finds out."""
    with suppress(Exception):
        connection.connection.execute("SELECT pg_terminate_backend(pg_backend_pid())")
    if doom.heard_nothing:
        raise OperationalError("server closed the connection unexpectedly")


WHAT: dict[str, Callable[[], object]] = {
    "kill": lambda: os.kill(os.getpid(), signal.SIGKILL),
    "stop": _stop,
    "sleep": lambda: time.sleep(float(os.environ["CE_TEST_SLEEP_SECONDS"])),
    "cut": _cut,
    "refuse": _refuse,
}


def strike_if_reached(place: str) -> None:
    """Strike when this is the place."""
    if doom.place == place:
        doom.place = ""
        strike(doom.number, doom.what)


def strike(number: str, what: str) -> None:
    """Note it, and do it."""
    Path(os.environ["CE_TEST_STRUCK"], number).write_text(str(os.getpid()))
    WHAT[what]()


def application(environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
    """The engine's WSGI application behind the reading of the header."""
    doom.number, doom.what, place = (environ.get("HTTP_X_DOOM", "") + "  ").split(" ", 2)
    doom.place, doom.statement = place.strip(), None
    return engine(environ, start_response)


@step_hook
class DoomedSteps(StepHook):
    """`before X` and `after X` of every step X."""

    def before_step(self, step_name: str, session: Session, turn: Turn) -> Session:
        strike_if_reached(f"before {step_name}")
        return session

    def after_step(self, step_name: str, session: Session, turn: Turn, outcome: Outcome) -> Session:
        strike_if_reached(f"after {step_name}")
        return session


def _take(*asked: Any, take: Any = turns.acquire) -> Any:
    """`lease`: the lease is taken and nothing else has happened."""
    lease = take(*asked)
    strike_if_reached("lease")
    return lease


def _hold() -> None:
    """Let the commit wait in the middle of its one statement, until this process ends."""
    other = psycopg.connect(connection.connection.info.dsn)
    other.execute("LOCK TABLE ce_conversation_history IN EXCLUSIVE MODE")
    _held.append(other)


def _statement(execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
    """`commit N`: before the commit's statement N, counted from 0. `commit under way`: while the first is made.

    `committed`, where the first is the commit: the turn stands, and nobody has been told.
    """
    if "turn_count = turn_count + 1" in sql:
        doom.statement = 0
    if doom.statement is None:
        return execute(sql, params, many, context)
    strike_if_reached(f"commit {doom.statement}")
    if doom.statement == 0 and doom.place == "commit under way":
        doom.place = ""
        _hold()
        threading.Timer(0.05, strike, (doom.number, doom.what)).start()
    doom.statement += 1
    done = execute(sql, params, many, context)
    if not connection.in_atomic_block:
        doom.statement = None
        doom.heard_nothing = True
        try:
            strike_if_reached("committed")
        finally:
            doom.heard_nothing = False
    return done


def _commit(self: BaseDatabaseWrapper, commit: Any = BaseDatabaseWrapper._commit) -> None:  # type: ignore[attr-defined]
    """`commit`: all statements are made; `committed`: the turn stands, and nobody has been told."""
    if doom.statement is None:
        commit(self)
        return
    strike_if_reached("commit")
    commit(self)
    doom.statement = None
    strike_if_reached("committed")


def _watch(connection: BaseDatabaseWrapper, **told: Any) -> None:
    if _statement not in connection.execute_wrappers:
        connection.execute_wrappers.append(_statement)


turns.acquire = _take
BaseDatabaseWrapper._commit = _commit  # type: ignore[attr-defined]
connection_created.connect(_watch)
