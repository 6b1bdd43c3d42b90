"""The answer to the question of a yes/no field: its first word decides, and what follows it is a reason."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from convengine.engine.understanding.assign import FieldClaim
from convengine.engine.understanding.clauses import Clause, Force
from convengine.engine.understanding.decide import ASKED, Explained
from convengine.engine.understanding.field import Kind
from convengine.engine.understanding.form import FormField
from convengine.engine.understanding.kinds.yes_no import NAMED
from convengine.engine.understanding.learned_moves import SURE_YES
from convengine.engine.understanding.moves import Move, MoveKind
from convengine.engine.understanding.principles import Principle, holds
from convengine.engine.understanding.reading import Doubt, Offered, RefusedText, Taken
from convengine.engine.understanding.understand import Understanding
from convengine.engine.understanding.words import Extent, cover

_ANSWERING = (MoveKind.AFFIRM, MoveKind.PRAISE, MoveKind.STAY, MoveKind.NEGATE)
#: Moves that put an answer off.
_DOUBTING = (MoveKind.SKIP, MoveKind.WAIT, MoveKind.LEAVE, MoveKind.REPEAT)


@dataclass(frozen=True)
class _Answer:
    value: bool
    start: int
    end: int
    #: The clause says nothing else, and nothing in it was mended.
    is_plain: bool
    #: It is a word such as "yes" or "no" by itself, unlike the "that's it" of "no, that's it".
    opens: bool
    #: How sure it is; less than 1 for one that is learned from sentences.
    probability: float = 1.0


def answer_yes_or_no(
    explained: Explained, claims: Sequence[FieldClaim], results: Sequence[Taken | Offered | RefusedText]
) -> list[Taken | Offered | RefusedText]:
    """The results with the asked yes/no field, by the first answer of the message.

    Its name with words that say the contrary makes it doubtful: a yes beside "without it" is neither.
    """
    asked_field = explained.form.asked_field
    if asked_field is None or asked_field.spec.kind is not Kind.YES_NO:
        return list(results)
    own = [item for item in results if item.field == asked_field.path]
    answers = _list_answers(explained.understanding) or _list_said_again(explained, is_named=bool(own))
    if not answers:
        return list(results)
    answered = _list_results(explained, claims, asked_field, answers)
    return [*(item for item in results if item not in own), *answered]


def _list_results(
    explained: Explained, claims: Sequence[FieldClaim], field: FormField, answers: Sequence[_Answer]
) -> Iterator[Taken | Offered]:
    """The answer that counts; nothing for a doubtful one, and for one that words beside the field's name contradict."""
    answer = None if _is_doubtful(explained, answers) else _choose(explained.understanding, answers)
    own = [claim for claim in claims if claim.field is field]
    if holds(Principle.FIRST_ANSWER):  # The bare name of the field says nothing.
        own = [claim for claim in own if claim.span.phrase.means != NAMED]
    if answer is None or any(claim.resolved.value != answer.value for claim in own):
        return
    position = explained.understanding.find_position(answer.start, answer.end)
    if answer.probability < SURE_YES:
        yield Offered(field.path, answer.value, *position, Doubt.MEANING)
    else:
        yield Taken(field.path, answer.value, *position, ASKED, not answer.is_plain)


def _list_answers(understanding: Understanding) -> list[_Answer]:
    """The answers by words of the tables, in the order of the message; without any, those that sentences tell."""
    answers: list[_Answer] = []
    for move in understanding.moves:
        # What stops something else answers, too: "don't bother".
        is_leave = move.kind is MoveKind.LEAVE
        if move.is_whole and (move.kind in _ANSWERING or (is_leave and _has(understanding, move, "declines"))):
            is_plain = not move.is_mended and move.probability == 1
            opens = understanding.chart.match_exactly("opening", move.start) is not None
            value = not is_leave and move.kind is not MoveKind.NEGATE
            answers.append(_Answer(value, move.start, move.end, is_plain, opens, move.probability))
    known = [answer for answer in answers if answer.probability == 1]
    covered = cover(known)
    edges = [
        edge for edge in _list_edges(understanding) if edge.start not in covered and not _is_open(understanding, edge)
    ]
    return sorted((*known, *edges), key=lambda it: it.start) or answers


def _is_open(understanding: Understanding, edge: _Answer) -> bool:
    """True for the "no" of "no preference"."""
    moves = (move for move in understanding.moves if move.start <= edge.start and edge.end < move.end)
    return any(_has(understanding, move, "is_open") for move in moves)


def _has(understanding: Understanding, move: Move, name: str) -> bool:
    """True for a move that the tables mark with this name."""
    matches = (match for match in understanding.chart.match("move", move.start) if match.end == move.end)
    return any(match.value.slots.get(name) for match in matches)


def _list_edges(understanding: Understanding) -> Iterator[_Answer]:
    """The first or last word of a message, if it is a yes or no and its clause states or denies more: "no booze"."""
    ends = [(clause, clause.start) for clause in understanding.clauses[:1]]
    ends += [(clause, clause.end - 1) for clause in understanding.clauses[-1:]]
    for at in dict.fromkeys(at for clause, at in ends if clause.force in (Force.STATES, Force.DENIES)):
        if match := understanding.chart.match_exactly("opening", at):
            yield _Answer(match.value == "yes", at, match.end, is_plain=False, opens=True)


def _list_said_again(explained: Explained, *, is_named: bool) -> list[_Answer]:
    """The first clause, where it says or denies what was asked, in words of the question: "not lost".

    `is_named`: the message has the field's name, which says it already.
    """
    clauses = [] if is_named or not holds(Principle.FIRST_ANSWER) else explained.understanding.clauses[:1]
    stating = [clause for clause in clauses if clause.force in (Force.STATES, Force.DENIES)]
    return [
        _Answer(clause.force is Force.STATES, clause.start, clause.end, is_plain=False, opens=False)
        for clause in stating
        if explained.says_again(clause)
    ]


def _choose(understanding: Understanding, answers: Sequence[_Answer]) -> _Answer | None:
    """The first answer; behind words of correction the last one: "no, well, actually yes".

    Returns None if another one contradicts it.
    """
    first, last = answers[0], answers[-1]
    contrary = [answer for answer in answers if answer.value is not first.value]
    if holds(Principle.FIRST_ANSWER):  # Others are a reason, and take nothing back.
        contrary = [answer for answer in contrary if answer.opens]
    if not contrary:
        return first
    corrections = (move.start for move in understanding.moves if move.kind is MoveKind.CORRECT)
    is_corrected = any(first.start < start <= last.start for start in corrections)
    return last if contrary[-1] is last and is_corrected else None


def _is_doubtful(explained: Explained, answers: Sequence[_Answer]) -> bool:
    """True for a message that puts the answer off, for one with a condition, and for "yes but not now"."""
    understanding = explained.understanding
    moves = [move for move in understanding.moves if move.is_whole and move.probability == 1]
    starts = {answer.start for answer in answers}
    if any(move.kind in _DOUBTING and move.start not in starts for move in moves):
        return True
    parts: list[Extent] = [*moves, *answers]
    others = [clause for clause in understanding.clauses if not any(map(clause.overlaps, parts))]
    return any(_makes_doubtful(explained, answers[0], clause) for clause in others)


def _makes_doubtful(explained: Explained, answer: _Answer, clause: Clause) -> bool:
    """True for a clause that is a condition of the answer, or a denial that is no reason for a yes: it follows without
    a word of its own, or denies a value.
    """
    understanding = explained.understanding
    if clause.doubts:
        # Not for something else, said in another sentence: "no. I can come on Monday, if that helps".
        first, last = sorted((answer.start, clause.start))
        return understanding.begins.isdisjoint(range(first + 1, last))
    if clause.force is not Force.DENIES or not answer.value:
        return False
    denies_value = any(clause.overlaps(span) for span in understanding.spans if not span.is_weak)
    if denies_value or not holds(Principle.FIRST_ANSWER):
        return True
    is_joined = understanding.chart.match_exactly("joint", clause.start) is not None
    goes_on = is_joined or clause.start == answer.end
    return goes_on and not explained.says_more(clause.start, clause.end)
