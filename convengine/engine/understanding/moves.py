"""What a message wants from the conversation, besides giving values: yes, no, skip, leave, a person, a question."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from convengine.engine.understanding.clauses import Clause, Force
from convengine.engine.understanding.grammar import Chart
from convengine.engine.understanding.words import cover


class MoveKind(StrEnum):
    """The moves that the tables and the clauses give; those about fields are in `Reading`."""

    AFFIRM = "AFFIRM"
    #: Good words, which are a yes to a summary, and none beside thanks.
    PRAISE = "PRAISE"
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
    #: To go on with what is open.
    STAY = "STAY"
    #: To repeat what was said.
    MORE = "MORE"


@dataclass(frozen=True)
class Move:
    """A move, from one word up to another. `is_whole`: its clause says nothing else."""

    kind: MoveKind
    start: int
    end: int
    is_whole: bool = True
    is_mended: bool = False
    #: How sure it is; less than 1 for one that is learned from sentences. And how sure it must be to count.
    probability: float = 1.0
    needed: float = 0.0


#: A move and those behind it.
_Moves = tuple[()] | tuple[Move, "_Moves"]
#: What a clause in the form of a question may want besides an answer: "can you cancel my booking?".
_WISHES = (MoveKind.LEAVE, MoveKind.PERSON, MoveKind.REPEAT, MoveKind.HELP, MoveKind.RESTART, MoveKind.WAIT)
_BESIDE = ("filler", "courtesy", "joint", "lead_in", "lead_out", "label_joint", "correction")


def find_moves(chart: Chart, clauses: Sequence[Clause]) -> tuple[Move, ...]:
    """The moves of a message, in its order."""
    denied = {clause.start for clause in clauses if clause.force is Force.DENIES}
    moves: list[Move] = []
    for clause in clauses:
        own = _find_in_clause(chart, clause)
        if clause.force is Force.STATES and clause.end in denied:
            # The "my support agent" of "my support agent never called back" asks for nobody.
            own = (move for move in own if move.kind is not MoveKind.PERSON)
        moves += own
    return tuple(sorted(dict.fromkeys(moves), key=lambda move: (move.start, -move.end)))


def _find_in_clause(chart: Chart, clause: Clause) -> Iterator[Move]:
    """The moves that make up the whole clause, else the longest one in it that counts anywhere.

    With them, the question, the correction and the clearing that the clause is besides.
    """
    whole = _cover(chart, clause)
    yield from whole or _list_anywhere(chart, clause)
    if clause.force is Force.ASKS and not whole:
        joint_ends = (cue.end for cue in clause.cues if cue.start == clause.start and cue.name == "joint")
        start, probability = next(joint_ends, clause.start), clause.probability
        yield Move(MoveKind.ASK, start, clause.end, is_whole=False, probability=probability, needed=clause.needed)
    for name, kind in (("correction", MoveKind.CORRECT), ("clearing", MoveKind.CLEAR)):
        if (cue := next((cue for cue in clause.cues if cue.name == name), None)) is None:
            continue
        before = chart.content.intersection(range(clause.start, cue.start)) - cover(clause.cues)
        # The "sorry" that ends a message and stands by itself corrects nothing.
        if before or not chart.content.isdisjoint(range(cue.end, len(chart.words))):
            is_mended = chart.is_mended(cue.start, cue.end)
            yield Move(kind, cue.start, cue.end, is_whole=False, is_mended=is_mended)


def _list_anywhere(chart: Chart, clause: Clause) -> Iterator[Move]:
    """The move that counts in a clause that says more, such as the wish for a person: the longest one."""
    moves = [
        Move(MoveKind(match.value.means), at, match.end, is_whole=False)
        for at in range(clause.start, clause.end)
        for match in chart.match("move", at)
        if match.end <= clause.end and match.value.slots.get("anywhere")
    ]
    yield from sorted(moves, key=lambda move: move.start - move.end)[:1]


def _cover(chart: Chart, clause: Clause) -> list[Move]:
    """The moves that the whole clause is made of, with nothing but small words between.

    Empty if it says more, and for a question that is no wish. In "Don't cancel my order", only the "don't" counts.
    """
    asks = clause.force is Force.ASKS
    beside = (*_BESIDE, "request") if asks else _BESIDE
    small = cover(cue for cue in clause.cues if cue.name in beside)
    #: By position: the moves that cover the clause from there on; None where none do.
    covers: dict[int, _Moves | None] = {clause.end: ()}
    for at in range(clause.end - 1, clause.start - 1, -1):
        covers[at] = _cover_from(chart, clause, at, covers)
        if covers[at] is None and (at in small or chart.words[at].is_sign):
            covers[at] = covers[at + 1]
    moves, rest = list[Move](), covers[clause.start]
    while rest:
        move, rest = rest
        moves.append(move)
    if asks and not all(move.kind in _WISHES for move in moves):
        return []
    kinds = {move.kind for move in moves}
    if {MoveKind.NEGATE, MoveKind.LEAVE} <= kinds:
        moves = [move for move in moves if move.kind is not MoveKind.LEAVE]  # "Don't cancel my order"
    return moves


def _cover_from(chart: Chart, clause: Clause, at: int, covers: Mapping[int, "_Moves | None"]) -> "_Moves | None":
    """The longest move that begins at a word, and what covers the rest of the clause.

    Returns None if no move leads to the end of the clause.
    """
    matches = [match for match in chart.match("move", at) if match.end <= clause.end]
    for match in sorted(matches, key=lambda match: -match.end):
        rest = covers[match.end]
        if rest is not None:
            return Move(MoveKind(match.value.means), at, match.end, is_mended=chart.is_mended(at, match.end)), rest
    return None
