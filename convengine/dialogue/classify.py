"""What the user does with a message, by patterns alone: the table of pipeline-1 8.2, first hit wins."""

from collections.abc import Callable
from dataclasses import dataclass

from convengine.domain.catalogue.dialogue import (
    ANSWER_MAX_CHARS,
    REGEX_AFFIRM,
    REGEX_EDIT,
    REGEX_GREETING,
    REGEX_NEGATE,
    REGEX_RESET,
)
from convengine.domain.enums import DialogueAct
from convengine.domain.session import Session
from convengine.domain.settings import Setting
from convengine.domain.text import match_text, norm
from convengine.domain.turn import Turn
from convengine.rules.pattern_settings import pattern_of
from convengine.rules.patterns import MAX_INPUT

#: Rows 2 to 4 and 5 to 6; row 4a stands between them.
_BEFORE_EDIT_PHRASES: tuple[tuple[Setting[str], DialogueAct], ...] = (
    (REGEX_AFFIRM, DialogueAct.AFFIRM),
    (REGEX_NEGATE, DialogueAct.NEGATE),
    (REGEX_EDIT, DialogueAct.EDIT),
)
_AFTER_EDIT_PHRASES: tuple[tuple[Setting[str], DialogueAct], ...] = (
    (REGEX_RESET, DialogueAct.RESET),
    (REGEX_GREETING, DialogueAct.GREETING),
)


@dataclass(frozen=True)
class FoundAct:
    """An act and how sure it is, from 0 to 1."""

    act: DialogueAct
    confidence: float


def classify(session: Session, turn: Turn, edits_a_field: Callable[[], bool]) -> FoundAct:
    """The act that the patterns find. `edits_a_field` is row 4a: a phrase that sets a field of the form in force."""
    text, plain = match_text(session.user_text), norm(session.user_text)
    if not plain:
        return FoundAct(DialogueAct.NEW_REQUEST, 0.40)
    if act := _whole(text, _BEFORE_EDIT_PHRASES, session, turn):
        return FoundAct(act, 0.95)
    if edits_a_field():
        return FoundAct(DialogueAct.EDIT, 0.92)
    if act := _whole(text, _AFTER_EDIT_PHRASES, session, turn):
        return FoundAct(act, 0.95)
    if plain.endswith("?"):
        return FoundAct(DialogueAct.QUESTION, 0.70)
    if _answers(plain, session, turn):
        return FoundAct(DialogueAct.ANSWER, 0.75)
    return FoundAct(DialogueAct.NEW_REQUEST, 0.70)


def affirms(text: str | None, session: Session, turn: Turn) -> bool:
    """True when the whole text is a yes."""
    return _whole(match_text(text), ((REGEX_AFFIRM, DialogueAct.AFFIRM),), session, turn) is not None


def means_reset(session: Session, turn: Turn) -> bool:
    """True when the whole text is a wish to start over: only then may a model's RESET count (8.4)."""
    return _whole(match_text(session.user_text), ((REGEX_RESET, DialogueAct.RESET),), session, turn) is not None


def _whole(
    text: str, patterns: tuple[tuple[Setting[str], DialogueAct], ...], session: Session, turn: Turn
) -> DialogueAct | None:
    """The act of the first pattern that covers the whole text. A text is never cut to make it fit."""
    if len(text) > MAX_INPUT:
        return None
    return next((act for setting, act in patterns if pattern_of(session, turn, setting).fits(text)), None)


def _answers(plain: str, session: Session, turn: Turn) -> bool:
    waiting = session.clarification is not None or session.intent_locked
    return waiting and "?" not in plain and len(plain) <= turn.config(session, ANSWER_MAX_CHARS)
