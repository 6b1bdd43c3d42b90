"""What the user answers, asks and wants: the moves of the turn's message (docs/forms.md)."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import pairwise

from convengine.engine.forms.message import list_own_words, read_message, understand_message
from convengine.engine.forms.session_form import get_current_form, list_held
from convengine.engine.text.compare import code
from convengine.engine.turn.rows import OutputSchema
from convengine.engine.turn.session import Session
from convengine.engine.turn.turn import Turn
from convengine.engine.understanding.clauses import Force
from convengine.engine.understanding.decide import CORRECTION
from convengine.engine.understanding.form import fold_label, list_held_words
from convengine.engine.understanding.learned_moves import SURE_YES
from convengine.engine.understanding.moves import Move, MoveKind
from convengine.engine.understanding.phrases.recorded import match_user_message
from convengine.engine.understanding.reading import Offered, Reading, RefusedText, Taken
from convengine.engine.understanding.span import Sort
from convengine.engine.understanding.understand import Understanding
from convengine.engine.understanding.words import cover, has_same_letters

_SMALL = (MoveKind.GREET, MoveKind.THANK)
_ANSWERS = (MoveKind.AFFIRM, MoveKind.STAY, MoveKind.NEGATE)
_AGREEING = (MoveKind.AFFIRM, MoveKind.PRAISE, MoveKind.FAREWELL, MoveKind.STAY)


def says(session: Session, turn: Turn, *kinds: MoveKind) -> bool:
    """True when a clause of the message is a move of these kinds."""
    return understand_message(session, turn).find_move(*kinds) is not None


def may_say(session: Session, turn: Turn, *kinds: MoveKind) -> bool:
    """True when a clause is one of these moves perhaps, and is not sure enough for what it would do."""
    return any(move.kind in kinds for move in understand_message(session, turn).doubtful_moves)


def says_only(session: Session, turn: Turn, *kinds: MoveKind) -> bool:
    """True when the message is nothing but moves of these kinds, and courtesies."""
    understanding = understand_message(session, turn)
    return (
        understanding.is_bare_move
        and all(move.kind in (*kinds, *_SMALL) for move in understanding.moves)
        and any(move.kind in kinds for move in understanding.moves)
    )


def begins_with_yes(session: Session, turn: Turn) -> bool:
    """True when the message begins with a yes, perhaps an unsure one, and takes nothing of it back."""
    understanding = understand_message(session, turn)
    moves = [move for move in understanding.moves if move.kind not in (*_SMALL, MoveKind.ASK)]
    first = min((*moves, *understanding.doubtful_moves), key=lambda move: move.start, default=None)
    agrees = first is not None and first.kind in (MoveKind.AFFIRM, MoveKind.PRAISE)
    return agrees and all(move.kind in _AGREEING for move in moves)


def is_question(session: Session, turn: Turn) -> bool:
    """True when a clause of the message asks something."""
    return bool(find_questions(session, turn))


def find_questions(session: Session, turn: Turn) -> str:
    """The clauses of the message that ask something, as typed, with the signs behind them; blank for none."""
    understanding = understand_message(session, turn)
    words, asks = understanding.words, [move for move in understanding.moves if move.kind is MoveKind.ASK]
    ends = (next((at for at in range(move.end, len(words)) if not words[at].is_sign), len(words)) for move in asks)
    return " ".join(understanding.quote(move.start, end) for move, end in zip(asks, ends, strict=True))


def leaves_question_open(session: Session, turn: Turn, row: OutputSchema) -> bool:
    """True if the message has a question without a value for the form. A subordinate clause is no question."""
    understanding, reading = understand_message(session, turn), read_message(session, turn, row)
    read: list[Taken | Offered | RefusedText] = [*reading.taken, *reading.offered, *reading.refused]
    asks = (
        move for move in understanding.moves if move.kind is MoveKind.ASK and not _is_subordinate(understanding, move)
    )
    asks = (move for move in asks if any(not word.is_sign for word in understanding.words[move.start : move.end]))
    names = {start for _, start, _ in reading.names}  # "What happened" is the name of a field.
    asks = (move for move in asks if understanding.words[move.start].start not in names)
    positions = (understanding.find_position(move.start, move.end) for move in asks)
    return any(not any(item.start < end and start < item.end for item in read) for start, end in positions)


def _is_subordinate(understanding: Understanding, move: Move) -> bool:
    """True for a clause that begins like a question inside a sentence, without a question mark or a joint before it."""
    is_marked = understanding.words[move.end : move.end + 1] and understanding.words[move.end].key == "?"
    is_joined = any(cue.name == "joint" and cue.end == move.start for cue in understanding.cues)
    return not (is_marked or is_joined or move.start in understanding.begins)


def read_yes_or_no(session: Session, turn: Turn) -> bool | None:
    """The yes or no that is all that the message says. Returns None for other messages."""
    if says_only(session, turn, MoveKind.AFFIRM, MoveKind.STAY, *list_praise(session, turn)):
        return None if may_say(session, turn, MoveKind.AFFIRM) else True
    return False if says_only(session, turn, MoveKind.NEGATE) else None


def list_praise(session: Session, turn: Turn) -> tuple[MoveKind, ...]:
    """The good words that count as a yes: none beside thanks, which may end the talk."""
    return () if says(session, turn, MoveKind.THANK) else (MoveKind.PRAISE,)


def read_confirmation(session: Session, turn: Turn, row: OutputSchema) -> bool | None:
    """Read the yes or no to the confirmation of a form. Returns None if it changes, doubts, or says neither."""
    reading = read_message(session, turn, row)
    understanding = understand_message(session, turn)
    held_words = list_held_words(list_held(session, get_current_form(session, turn, row)))
    return find_confirmation(
        understanding,
        reading,
        lambda rest: _says_more(session, turn, understanding, rest, held_words),
        held_words,
    )


def _is_doubtful(understanding: Understanding, held_words: frozenset[str], remarks: set[int]) -> bool:
    """True for an answer that something beside it makes doubtful, and for a yes with a slip.

    But not for one that is all of the message and has the same letters: "yse", "yess".
    """
    words = [word for word in understanding.words if not word.is_sign]
    is_mere_slip = len(words) == 1 and has_same_letters(words[0], understanding.text)
    is_slip = any(move.is_mended for move in understanding.moves) and not is_mere_slip
    is_unfinished = understanding.is_cut_off or understanding.is_doubted or is_slip
    return is_unfinished or understanding.has_value_beside_moves(held_words, remarks)


def list_remarks(understanding: Understanding, reading: Reading, held_words: frozenset[str]) -> set[int]:
    """The words of sentences, and of what follows thanks, that take nothing back: "Yes. At last somebody who listens!".

    They have no move of the tables, no denial, correction, question, name of a field, nor a value that is not held.
    """
    thanks = {move.start for move in understanding.moves if move.kind is MoveKind.THANK}
    starts = sorted({0, len(understanding.words)} | understanding.begins | thanks)
    telling = set(_list_telling(understanding, reading, held_words))
    sentences = (range(first, last) for first, last in pairwise(starts))
    return {at for sentence in sentences if telling.isdisjoint(sentence) for at in sentence}


def _list_telling(understanding: Understanding, reading: Reading, held_words: frozenset[str]) -> Iterator[int]:
    """The first words of what may take something back."""
    words, names = understanding.words, {start for _, start, _ in reading.names}
    yield from (cue.start for cue in understanding.cues if cue.name in ("correction", "rejection", "request"))
    yield from (clause.start for clause in understanding.clauses if clause.force is not Force.STATES)
    yield from (move.start for move in understanding.moves if move.probability == 1 and move.kind not in _SMALL)
    yield from (at for at, word in enumerate(words) if word.start in names)
    for span in understanding.spans:
        if not (span.is_weak or held_words.issuperset(word.key for word in words[span.start : span.end])):
            yield span.start


def find_confirmation(
    understanding: Understanding,
    reading: Reading,
    says_more: Callable[[Reading], bool],
    held_words: frozenset[str],
) -> bool | None:
    """Read the yes or no to a confirmation. Returns None if the message changes, doubts, or says neither.

    A yes beside a question runs nothing: the answer may change the user's mind. `says_more`: beside it the reading
    states something.
    """
    remarks = list_remarks(understanding, reading, held_words)
    answers = _list_answers(understanding)
    beside = (*_ANSWERS, *_SMALL, MoveKind.FAREWELL, MoveKind.PRAISE, MoveKind.SKIP)  # "Nothing, it's fine".
    others = any(move.kind not in beside and move.start not in remarks for move in understanding.moves)
    is_doubtful = others or reading.gives_anything or _is_doubtful(understanding, held_words, remarks)
    says_both = MoveKind.NEGATE in answers and len(answers) > 1
    if not answers or says_both or is_doubtful:
        return None
    if MoveKind.NEGATE in answers:
        return False
    begins = {understanding.words[at].start for at in remarks}
    rest = replace(reading, unexplained=tuple(part for part in reading.unexplained if part[0] not in begins))
    return None if says_more(rest) else True


def _list_answers(understanding: Understanding) -> set[MoveKind]:
    """The answers of a message that are sure enough to run something."""
    praise = () if understanding.find_move(MoveKind.THANK) else (MoveKind.PRAISE,)  # "Cool, thanks" may end the talk.
    moves = (move for move in understanding.moves if move.is_whole and move.kind in (*_ANSWERS, *praise))
    return {move.kind for move in moves if move.kind is not MoveKind.AFFIRM or move.probability >= SURE_YES}


def corrects_value(session: Session, turn: Turn, row: OutputSchema) -> bool:
    """True when the message says a value for a field with words of correction, or one that replaces another."""
    reading = read_message(session, turn, row)
    if any(item.by == CORRECTION for item in reading.taken):
        return True
    understanding = understand_message(session, turn, get_current_form(session, turn, row))
    is_cued = understanding.find_move(MoveKind.CORRECT) is not None
    return is_cued and bool(reading.taken or reading.refused or reading.cleared)


def may_change(session: Session, turn: Turn) -> bool:
    """True for a message with a yes or a no, a word of correction or of denial, or something like a value."""
    understanding = understand_message(session, turn)
    kinds = (*_ANSWERS, MoveKind.CORRECT, MoveKind.CLEAR)
    if says_only(session, turn, MoveKind.GREET, MoveKind.THANK, MoveKind.WAIT):
        return False
    doubts = any(clause.force in (Force.DENIES, Force.SUPPOSES) for clause in understanding.clauses)
    doubts = doubts or may_say(session, turn, MoveKind.AFFIRM)
    # Any new word may be a name.
    has_value = any(not (span.is_weak and span.sort is Sort.PERSON) for span in understanding.spans)
    return doubts or has_value or understanding.find_move(*kinds) is not None


def _says_more(
    session: Session, turn: Turn, understanding: Understanding, reading: Reading, held_words: frozenset[str]
) -> bool:
    """True when a clause states something that nothing explains, and that is no wish for another intent."""
    rest = states_more(understanding, reading, list_own_words(turn, code(session.intent)) | held_words)
    hits = {match.intent for match in match_user_message(session, turn).hits} if rest else set()
    return rest and not hits - {code(session.intent), *turn.snapshot.hand_over_intents}


def states_more(understanding: Understanding, reading: Reading, own_words: frozenset[str]) -> bool:
    """True when a clause states something that neither the reading nor the intent's own words explain."""
    asking = cover(clause for clause in understanding.clauses if clause.force is Force.ASKS)
    asked_starts = {understanding.words[index].start for index in asking}
    return any(
        not own_words.issuperset(fold_label(understanding.text[start:end])) and start not in asked_starts
        for start, end in reading.unexplained
    )
