"""What a message wants from the conversation, besides giving values: yes, no, skip, leave, a person, a question."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from convengine.engine.understanding.clauses import Clause, Force
from convengine.engine.understanding.grammar import Chart


class MoveKind(StrEnum):
    """The moves that the tables and the clauses give; those about fields are in `Reading`."""

    AFFIRM = "AFFIRM"
    NEGATE = "NEGATE"
    CORRECT = "CORRECT"
    CLEAR = "CLEAR"
    SKIP = "SKIP"
    ASK = "ASK"
    LEAVE = "LEAVE"
    PERSON = "PERSON"
    WAIT = "WAIT"
    REPEAT = "REPEAT"
    GREET = "GREET"
    THANK = "THANK"
    FAREWELL = "FAREWELL"
    RESTART = "RESTART"
    HELP = "HELP"


@dataclass(frozen=True)
class Move:
    """A move, from one word up to another. `is_whole`: its clause says nothing else."""

    kind: MoveKind
    start: int
    end: int
    is_whole: bool = True
    is_mended: bool = False


_BESIDE = ("filler", "courtesy", "joint", "lead_in", "lead_out", "label_joint", "correction")


def find_moves(chart: Chart, clauses: Sequence[Clause]) -> tuple[Move, ...]:
    """The moves of a message, in its order."""
    moves = [move for clause in clauses for move in _find_in_clause(chart, clause)]
    return tuple(sorted(set(moves), key=lambda move: (move.start, -move.end)))


def _find_in_clause(chart: Chart, clause: Clause) -> Iterator[Move]:
    whole = _cover(chart, clause)
    yield from whole or _list_persons(chart, clause)
    if clause.force is Force.ASKS and not whole:
        yield Move(MoveKind.ASK, clause.start, clause.end, is_whole=False)
    for name, kind in (("correction", MoveKind.CORRECT), ("clearing", MoveKind.CLEAR)):
        cue = next((cue for cue in clause.cues if cue.name == name), None)
        if cue is not None:
            yield Move(kind, cue.start, cue.end, is_whole=False)


def _list_persons(chart: Chart, clause: Clause) -> Iterator[Move]:
    """The wish for a person in a clause that says more: the longest one."""
    persons = [
        Move(MoveKind.PERSON, at, match.end, is_whole=False)
        for at in range(clause.start, clause.end)
        for match in chart.match("move", at)
        if match.end <= clause.end and match.value.slots.get("anywhere")
    ]
    yield from sorted(persons, key=lambda move: move.start - move.end)[:1]


def _cover(chart: Chart, clause: Clause) -> list[Move]:
    """The moves that the whole clause is made of, with nothing but small words between; none if it says more."""
    moves: list[Move] = []
    small = {index for cue in clause.cues if cue.name in _BESIDE for index in range(cue.start, cue.end)}
    at = clause.start
    while at < clause.end:
        match = next((match for match in chart.match("move", at) if match.end <= clause.end), None)
        if match is not None and not _is_part(chart, at, match.end, clause):
            mended = any(word.is_mended for word in chart.words[at : match.end])
            moves.append(Move(MoveKind(match.value.means), at, match.end, is_mended=mended))
            at = match.end
        elif at in small or chart.words[at].is_sign:
            at += 1
        else:
            return []
    kinds = {move.kind for move in moves}
    return [move for move in moves if move.kind is not MoveKind.GREET or kinds == {MoveKind.GREET}]


def _is_part(chart: Chart, start: int, end: int, clause: Clause) -> bool:
    """True for a move that is part of a longer cue: the "not" of "if not"."""
    return any(cue.start <= start and end < cue.end for cue in clause.cues if cue.name in ("supposition", "rejection"))
