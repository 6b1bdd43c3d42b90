"""The work of one turn, counted: statements, rows fetched, rules tested, lines of Python that ran. No clocks."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any
from unittest.mock import patch

import convengine
from bench.statements import count_statements
from bench.worlds import MESSAGES
from convengine.engine.rules import apply, text_bank
from convengine.engine.rules.conditions.rule import evaluate_rule
from convengine.server.database.sql import TurnClock
from convengine.server.observability.metric import flush
from tests.api import Caller

_OURS = str(Path(convengine.__file__).parent.parent)


@dataclass
class TurnWork:
    """What a turn did."""

    statements: list[str] = field(default_factory=list)
    rows: int = 0
    #: Rules whose condition was evaluated one by one.
    rules: int = 0
    #: Texts given to a set of patterns, each time for all its patterns at once.
    pattern_sets: int = 0
    #: Lines of this project that ran, each round of a loop anew.
    lines: int = 0


def work_of(caller: Caller, turn: int) -> TurnWork:
    """Take the turn of that number in the usual conversation, and count."""
    work = TurnWork()
    # A step that lasts a millisecond leaves an event that says so: on a busy machine that would be more lines.
    stopped = patch.object(TurnClock, "elapsed_ms", lambda self: 0.0)
    # Metrics of many turns are recorded at once: here each turn pays for its own, and only for these.
    flush()
    with count_statements() as asked, stopped, _rules(work), _patterns(work), _lines(work):
        say(caller, turn)
        flush()
    work.statements, work.rows = asked.statements, asked.rows
    return work


def say(caller: Caller, turn: int) -> Any:
    """Take the turn of that number."""
    answer = caller.say(MESSAGES[turn % len(MESSAGES)])
    assert (answer["success"], answer["turnNo"]) == (True, turn), answer
    return answer


@contextmanager
def _rules(work: TurnWork) -> Iterator[None]:
    def count_rule(*args: Any) -> Any:
        work.rules += 1
        return evaluate_rule(*args)

    with patch.object(apply, "evaluate_rule", count_rule):
        yield


@contextmanager
def _patterns(work: TurnWork) -> Iterator[None]:
    hits = text_bank._Automaton.hits

    def count_patterns(*args: Any) -> Any:
        work.pattern_sets += 1
        return hits(*args)

    def never(*args: Any) -> Any:
        raise AssertionError("patterns were tested one by one")

    with (
        patch.object(text_bank._Automaton, "hits", count_patterns),
        patch.object(text_bank._SequentialSearch, "hits", never),
    ):
        yield


@contextmanager
def _lines(work: TurnWork) -> Iterator[None]:
    before = sys.gettrace()

    def ours(frame: FrameType, event: str, argument: Any) -> Any:
        return count_line if frame.f_code.co_filename.startswith(_OURS) else None

    def count_line(frame: FrameType, event: str, argument: Any) -> Any:
        work.lines += event == "line"
        return count_line

    sys.settrace(ours)
    try:
        yield
    finally:
        sys.settrace(before)
