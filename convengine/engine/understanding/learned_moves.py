"""What the sentences of the tables tell of clauses that no word of the tables explains (docs/forms.md)."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from convengine.engine.turn.ports import LearnedPort
from convengine.engine.understanding.clauses import Clause, Force, list_between
from convengine.engine.understanding.grammar import Chart
from convengine.engine.understanding.moves import Move, MoveKind
from convengine.engine.understanding.principles import Principle, holds
from convengine.engine.understanding.sentences import ASKS, NONE, LearnedPart, decide, list_known_words
from convengine.engine.understanding.span import Span
from convengine.engine.understanding.words import cover

#: From these probabilities on a move counts: a yes that runs an action, one that ends or hands over, any other.
SURE_YES, SURE_END, SURE = 0.7, 0.6, 0.5
#: From here on a move that is not sure is asked back.
DOUBTFUL = 0.4
#: Moves that end the form or hand over.
ENDING = (MoveKind.LEAVE, MoveKind.PERSON)
#: A clause of more words does not only move.
_MOST_WORDS = 16
#: Only the first clauses are compared with sentences, which takes milliseconds for each. No answer has more.
_MOST_CLAUSES = 24
#: Of a clause that supposes or denies only these moves are meant.
_OF_FORCE = {
    Force.SUPPOSES: (MoveKind.SKIP, MoveKind.HELP, MoveKind.WAIT),
    Force.DENIES: (MoveKind.NEGATE, MoveKind.SKIP, MoveKind.REPEAT, MoveKind.LEAVE, MoveKind.PERSON, MoveKind.WAIT),
}
#: Fewer words ask nothing without a sign.
_FEWEST_ASKING = 3
_QUESTIONS = ("why", "question", "request")
_BESIDE = ("courtesy", "joint", "request")
_JOINING = ("joint", "alternative")


def settle_questions(
    chart: Chart, clauses: Sequence[Clause], spans: Sequence[Span], learned: LearnedPort
) -> tuple[Clause, ...]:
    """Decide for each clause that has a value and looks like a question whether it asks or wishes.

    The "if they have a lift" of "can you check if they have a lift" is part of the question.
    """
    if not holds(Principle.LEARNED_QUESTIONS):
        return tuple(clauses)
    settled: list[Clause] = []
    for clause in clauses[:_MOST_CLAUSES]:
        before = settled[-1] if settled else None
        if before is not None and before.force is Force.ASKS and clause.force is Force.SUPPOSES:
            asking = _rate_asking(chart, before.start, clause.end, learned) if clause.start == before.end else 0.0
            asks = asking >= SURE_YES
            settled.append(replace(clause, force=Force.ASKS, probability=asking, needed=SURE_YES) if asks else clause)
        elif _may_wish(chart, clause, spans):
            asking = _rate_asking(chart, clause.start, clause.end, learned)
            force = Force.ASKS if asking >= SURE else Force.STATES
            settled.append(replace(clause, force=force, probability=asking, needed=SURE))
        else:
            settled.append(clause)
    return (*settled, *clauses[_MOST_CLAUSES:])


def _may_wish(chart: Chart, clause: Clause, spans: Sequence[Span]) -> bool:
    """True for a clause with a sign or an opener of a question, a value, and more words than that."""
    looks_asking = clause.force is Force.ASKS or any(
        cue.start == clause.start and cue.name in _QUESTIONS for cue in clause.cues
    )
    if clause.force not in (Force.ASKS, Force.STATES) or not looks_asking:
        return False
    inside = [span for span in spans if clause.start <= span.start < clause.end]
    return any(not span.is_weak for span in inside) and not cover(inside).issuperset(_list_words(chart, clause))


def _rate_asking(chart: Chart, start: int, end: int, learned: LearnedPort) -> float:
    """The probability that words ask for information; a sign of a question behind them counts."""
    is_marked = end < len(chart.words) and chart.words[end].key == "?"
    name, probability = decide(learned, LearnedPart.ASKS, chart.quote(start, end + is_marked))
    return probability if name == ASKS else round(1 - probability, 3)


@dataclass(frozen=True)
class Learned:
    """A clause that was compared with the sentences."""

    clause: Clause
    #: What it most likely does. None if it does none of these.
    move: Move | None
    #: Moves of the tables that it is not.
    dropped: tuple[Move, ...] = ()
    #: How likely it asks something, if that is likely enough; else 0.
    asking: float = 0.0


def learn_moves(
    chart: Chart, clauses: Sequence[Clause], spans: Sequence[Span], moves: Sequence[Move], learned: LearnedPort
) -> Iterator[Learned]:
    """What the clauses do that neither a value nor the words of a table explain as a whole."""
    moves = [move for move in moves if move.kind is not MoveKind.ASK]
    for clause in islice(_join_parts(clauses, moves), _MOST_CLAUSES) if holds(Principle.LEARNED_MOVES) else ():
        own = list_between(moves, clause.start, clause.end)
        if _is_open(chart, clause, spans, own):
            yield _learn(chart, clause, own, learned)


def _join_parts(clauses: Sequence[Clause], moves: Sequence[Move]) -> Iterator[Clause]:
    """The clauses, each with what is cut off behind it without a sign or a joint: "my clerk", "never called back"."""
    parts: list[Clause] = []
    for clause in clauses:
        begins = any(cue.start == clause.start and cue.name in _JOINING for cue in clause.cues)
        follows = bool(parts) and clause.start == parts[-1].end and not begins
        own = list_between(moves, parts[-1].start, clause.end) if follows else ()
        if parts and (own or not follows):
            yield _join(parts)
            parts = []
        parts.append(clause)
    if parts:
        yield _join(parts)


def _join(parts: Sequence[Clause]) -> Clause:
    """Some clauses as one, with the first force that does more than state."""
    force = next((part.force for part in parts if part.force is not Force.STATES), Force.STATES)
    return replace(parts[0], end=parts[-1].end, force=force, cues=tuple(cue for part in parts for cue in part.cues))


def _is_open(chart: Chart, clause: Clause, spans: Sequence[Span], own: Sequence[Move]) -> bool:
    """True for a short clause of known words without anything like a value, which is no move of the tables as it is.

    A single word is a matter of the tables, and words with capitals are a name.
    """
    words = _list_words(chart, clause)
    is_plain = len(own) == 1 and _is_covered(clause, words, own)
    if not 1 < len(words) <= _MOST_WORDS or is_plain or any(map(_is_sure, own)):
        return False
    small = cover(clause.cues)
    inside = [span for span in spans if clause.start <= span.start < clause.end]
    if any(not (span.is_weak and small.issuperset(range(span.start, span.end))) for span in inside):
        return False
    telling = [chart.words[index] for index in words]
    if all(chart.text[word.start].isupper() for word in telling):
        return False
    return 2 * sum(word.key in list_known_words() and not word.is_mended for word in telling) >= len(words)


def _is_sure(move: Move) -> bool:
    """True for a move that counts beside other words: "I want to talk to someone about my bill", "actually"."""
    return not move.is_whole or move.kind in (MoveKind.STAY, MoveKind.MORE)


def _is_covered(clause: Clause, words: Sequence[int], own: Sequence[Move]) -> bool:
    """True for words of moves, and nothing besides courtesies."""
    beside = cover(cue for cue in clause.cues if cue.name in _BESIDE)
    return (beside | cover(move for move in own if move.is_whole)).issuperset(words)


def _learn(chart: Chart, clause: Clause, own: Sequence[Move], learned: LearnedPort) -> Learned:
    """The most likely move. Of several that the tables find it is one; beside other words it may be another one."""
    name, probability = decide(learned, LearnedPart.MOVES, chart.quote(clause.start, clause.end))
    is_covered = bool(own) and _is_covered(clause, _list_words(chart, clause), own)
    if name == NONE:
        dropped = tuple(own) if probability >= SURE_YES and not is_covered else ()
        may_ask = len(dropped) == len(own) and probability >= DOUBTFUL
        return Learned(clause, None, dropped, _rate_unmarked(chart, clause, learned) if may_ask else 0.0)
    kind = MoveKind(name)
    move = Move(kind, clause.start, clause.end, probability=probability, needed=find_least_probability(kind))
    others = tuple(other for other in own if other.kind is not move.kind)
    if len(others) < len(own):
        return Learned(clause, None, others)
    is_likely = move.probability >= (SURE if own else DOUBTFUL) and _is_possible(chart, clause, move.kind)
    return Learned(clause, move, others) if is_likely and not is_covered else Learned(clause, None)


def find_least_probability(kind: MoveKind) -> float:
    return SURE_YES if kind in (MoveKind.AFFIRM, MoveKind.RESTART) else SURE_END if kind in ENDING else SURE


def _rate_unmarked(chart: Chart, clause: Clause, learned: LearnedPort) -> float:
    """How likely a clause asks something without a sign of a question, "tell me the address"; 0 unless it is sure."""
    if clause.force is not Force.STATES or len(_list_words(chart, clause)) < _FEWEST_ASKING:
        return 0.0
    asking = _rate_asking(chart, clause.start, clause.end, learned)
    return asking if asking >= SURE_YES else 0.0


def _is_possible(chart: Chart, clause: Clause, kind: MoveKind) -> bool:
    """True unless the clause excludes the move.

    One that asks, or denies, is no yes; one that supposes does not leave.
    """
    if clause.force is Force.ASKS:
        return kind not in (MoveKind.AFFIRM, MoveKind.NEGATE, MoveKind.SKIP)
    if kind is MoveKind.LEAVE:
        # "Never cancel anything" leaves behind words that deny, and "I don't want to go on" does not.
        denied = min((cue.end for cue in clause.cues if cue.name == "denial"), default=clause.end)
        matches = (match for at in range(denied, clause.end) for match in chart.match("move", at))
        if any(match.end <= clause.end and match.value.means == MoveKind.LEAVE for match in matches):
            return False
    return kind in _OF_FORCE.get(clause.force, tuple(MoveKind))


def _list_words(chart: Chart, clause: Clause) -> list[int]:
    return sorted(chart.content.intersection(range(clause.start, clause.end)))
