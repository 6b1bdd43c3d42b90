"""The moves that a model finds where the tables find none: they do what the tables' own moves do (docs/forms.md).

None of them answers a confirmation or runs anything: a yes counts only for the asked yes/no field, and a wish to leave
is always asked back.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import NamedTuple

from convengine.engine.forms.form import Field
from convengine.engine.forms.leaving import decide_on_leave, find_left_schema
from convengine.engine.forms.message import understand_message
from convengine.engine.forms.session_form import find_value, get_current_form
from convengine.engine.forms.user_answer import may_say
from convengine.engine.turn.rows import OutputSchema
from convengine.engine.turn.session import Session
from convengine.engine.turn.turn import Turn
from convengine.engine.understanding.field import Kind
from convengine.engine.understanding.moves import MoveKind
from convengine.engine.understanding.reading import Reading, Taken
from convengine.json_value import Json

#: What made a value one of its field.
MODEL = "MODEL"
#: Reasons to drop words of the model: the message does not have them, or another field has them.
NOT_IN_MESSAGE, OF_ANOTHER_FIELD = "NOT_IN_MESSAGE", "OF_ANOTHER_FIELD"
#: Why a move is dropped besides: the tables found one, or it has no effect here.
ALREADY_READ, NOT_POSSIBLE = "ALREADY_READ", "NOT_POSSIBLE"
_KINDS = (MoveKind.SKIP, MoveKind.AFFIRM, MoveKind.NEGATE, MoveKind.CLEAR, MoveKind.PERSON, MoveKind.LEAVE)
_TEXT: Mapping[str, Json] = {"type": "string"}
#: The form of the moves in the model's answer.
MOVES_SCHEMA: Mapping[str, Json] = {
    "type": "array",
    "items": {
        "type": "object",
        "properties": {"move": {"enum": [kind.value for kind in _KINDS]}, "words": _TEXT, "field": _TEXT},
    },
}


class _Move(NamedTuple):
    """A move as the model names it; `field` only for CLEAR."""

    kind: MoveKind
    words: str
    field: str


def find_words(text: str, words: str, reading: Reading) -> tuple[int, int] | str:
    """The first position of the words in the message, as whole words; or the reason to drop them.

    They are dropped if the message does not have them, or if `reading` took a value from them wherever they stand.
    """
    reason, folded, wanted = NOT_IN_MESSAGE, _fold(text), _fold(words)
    start = folded.find(wanted)
    while start >= 0:
        end = start + len(wanted)
        if _is_whole(folded, start, end):
            if not any(item.start < end and start < item.end for item in reading.taken):
                return start, end
            reason = OF_ANOTHER_FIELD
        start = folded.find(wanted, start + 1)
    return reason


def _fold(text: str) -> str:
    """The text in lower case, as long as before, so that positions stay."""
    return "".join(lower if len(lower := character.lower()) == 1 else character for character in text)


def _is_whole(text: str, start: int, end: int) -> bool:
    return not (text[start - 1 : start].isalnum() and text[start].isalnum()) and not (
        text[end : end + 1].isalnum() and text[end - 1].isalnum()
    )


def explain_words(reading: Reading, start: int, end: int) -> Reading:
    """The reading, for which these words of the message are explained."""
    rest = tuple(pair for pair in reading.unexplained if pair[1] <= start or pair[0] >= end)
    return replace(reading, unexplained=rest)


def add_moves(
    session: Session,
    turn: Turn,
    row: OutputSchema,
    asked_field: Field | None,
    reading: Reading,
    answer: Json,
    rejected: dict[str, str],
) -> Reading:
    """The reading with the moves of the model's answer; `rejected` gets the others, each with the reason."""
    is_known = understand_message(session, turn).find_move(*_KINDS) is not None
    for move in _list_moves(answer):
        position = find_words(session.user_text or "", move.words, reading)
        if isinstance(position, str):
            rejected[move.kind] = position
        elif is_known:
            rejected[move.kind] = ALREADY_READ
        elif (moved := _apply(session, turn, row, asked_field, reading, move, position)) is None:
            rejected[move.kind] = NOT_POSSIBLE
        else:
            reading = explain_words(moved, *position)
    return reading


def add_doubtful_wish(session: Session, turn: Turn, reading: Reading) -> Reading:
    """The reading of a message that may want to stop or a person: without a model that decides, this is asked back."""
    may_leave = not reading.gives_anything and may_say(session, turn, MoveKind.LEAVE, MoveKind.PERSON)
    return replace(reading, wishes=(*reading.wishes, MoveKind.LEAVE)) if may_leave else reading


def _list_moves(answer: Json) -> Iterator[_Move]:
    for entry in answer if isinstance(answer, list) else ():
        parts = entry if isinstance(entry, Mapping) else {}
        kind, words, field = parts.get("move"), parts.get("words"), parts.get("field")
        if kind in _KINDS and isinstance(words, str) and words.strip():
            yield _Move(MoveKind(kind), words.strip(), field if isinstance(field, str) else "")


def _apply(
    session: Session,
    turn: Turn,
    row: OutputSchema,
    asked_field: Field | None,
    reading: Reading,
    move: _Move,
    position: tuple[int, int],
) -> Reading | None:
    """The reading after a move. Returns None where the move has no effect."""
    if move.kind is MoveKind.CLEAR:
        # The model names the field: any other name would empty what the engine itself has in the context.
        is_field = get_current_form(session, turn, row).field(move.field) is not None
        is_held = is_field and find_value(session.context, move.field) is not None
        return _clear(reading, move.field) if is_held and move.field not in reading.fields else None
    if move.kind in (MoveKind.PERSON, MoveKind.LEAVE):
        may_leave = find_left_schema(session, turn) is not None and decide_on_leave(session, turn, row) is not None
        is_possible = not reading.gives_anything and (may_leave or move.kind is MoveKind.PERSON)
        return replace(reading, wishes=(*reading.wishes, move.kind)) if is_possible else None
    if asked_field is None or asked_field.path in reading.fields:
        return None
    return _answer_field(reading, asked_field, move.kind, position)


def _answer_field(reading: Reading, asked_field: Field, kind: MoveKind, position: tuple[int, int]) -> Reading | None:
    """The reading with a yes or no to the question, or with the question skipped. Returns None if it takes neither."""
    if asked_field.spec.kind is Kind.YES_NO and kind is not MoveKind.SKIP:
        value = Taken(asked_field.path, kind is MoveKind.AFFIRM, *position, MODEL, is_echoed=True)
        return replace(reading, taken=(*reading.taken, value))
    return None if asked_field.required or kind is MoveKind.AFFIRM else _clear(reading, asked_field.path)


def _clear(reading: Reading, path: str) -> Reading:
    """The reading that leaves a field empty, without a refusal of the same words."""
    refused = tuple(item for item in reading.refused if item.field != path)
    return replace(reading, cleared=(*reading.cleared, path), refused=refused)
