"""Find the dialogue act of a message by patterns alone. The first match wins.

The patterns for yes and no are in English and narrow, as a yes can run an action. The moves of the language tables add
to them only after an answer that ends with a question mark. At the confirmation of a form that says what a "no" does
(`x-on-no`), a yes or no may also be one clause of the message: "yes, book it. Where do I park?".
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

from convengine.engine.dialogue.settings import (
    ANSWER_MAX_CHARS,
    REGEX_AFFIRM,
    REGEX_EDIT,
    REGEX_GREETING,
    REGEX_NEGATE,
    REGEX_RESET,
)
from convengine.engine.forms.life import awaits_confirmation, read_on_no
from convengine.engine.forms.message import find_open_form, understand_message
from convengine.engine.forms.outdated import list_outdated
from convengine.engine.forms.session_form import get_current_form
from convengine.engine.forms.user_answer import read_confirmation, read_yes_or_no, says_only
from convengine.engine.rules.patterns import MAX_INPUT, get_pattern
from convengine.engine.text.compare import match_text, norm
from convengine.engine.turn import rows
from convengine.engine.turn.dialogue_state import DialogueState
from convengine.engine.turn.enums import DialogueAct
from convengine.engine.turn.live_settings import Setting
from convengine.engine.turn.payload import to_spoken_text
from convengine.engine.turn.session import Session
from convengine.engine.turn.turn import Turn
from convengine.engine.understanding.moves import MoveKind

#: Edit phrases are tested between these two groups.
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
class ClassifiedAct:
    """A dialogue act and its confidence from 0 to 1."""

    act: DialogueAct
    confidence: float


def classify(session: Session, turn: Turn, edits_a_field: Callable[[], bool]) -> ClassifiedAct:
    """Find the dialogue act by patterns. `edits_a_field`: the message sets a field of the current form."""
    classified = read_leave_answer(session, _classify(session, turn, edits_a_field))
    if classified.act is not DialogueAct.AFFIRM or not awaits_confirmation(session, turn):
        return classified
    form = find_open_form(session, turn)
    # A yes to a form with a day that has passed since confirms nothing.
    is_outdated = form is not None and bool(list_outdated(session, turn, form))
    return replace(classified, act=DialogueAct.ANSWER) if is_outdated else classified


def read_leave_answer(session: Session, classified: ClassifiedAct) -> ClassifiedAct:
    """The act; a yes or no to "Do you want to stop?" confirms nothing else, so it is only an answer.

    So is one to "Do you mean Thursday?", and a yes to "What should I change?".
    """
    state = DialogueState.of(session)
    answers: tuple[DialogueAct, ...] = (DialogueAct.AFFIRM,) if state.asks_what_to_change else ()
    if state.leaving is not None or state.offered:
        answers = (DialogueAct.AFFIRM, DialogueAct.NEGATE)
    return replace(classified, act=DialogueAct.ANSWER) if classified.act in answers else classified


def _classify(session: Session, turn: Turn, edits_a_field: Callable[[], bool]) -> ClassifiedAct:
    text, plain = match_text(session.user_text), norm(session.user_text)
    if not plain:
        return ClassifiedAct(DialogueAct.NEW_REQUEST, 0.40)
    if act := _match_whole_text(text, _BEFORE_EDIT_PHRASES, session, turn):
        return ClassifiedAct(act, 0.95)
    if edits_a_field():
        return ClassifiedAct(DialogueAct.EDIT, 0.92)
    if act := _read_yes_or_no_act(session, turn):
        return ClassifiedAct(act, 0.95)
    if act := _match_whole_text(text, _AFTER_EDIT_PHRASES, session, turn):
        return ClassifiedAct(act, 0.95)
    if _restarts(session, turn):
        return ClassifiedAct(DialogueAct.RESET, 0.95)
    if plain.endswith("?"):
        return ClassifiedAct(DialogueAct.QUESTION, 0.70)
    is_awaited = session.clarification is not None or session.intent_locked
    if is_awaited and "?" not in plain and len(plain) <= turn.config(session, ANSWER_MAX_CHARS):
        return ClassifiedAct(DialogueAct.ANSWER, 0.75)
    return ClassifiedAct(DialogueAct.NEW_REQUEST, 0.70)


def _read_yes_or_no_act(session: Session, turn: Turn) -> DialogueAct | None:
    """AFFIRM or NEGATE if the message answers a question with a yes or a no, else null."""
    text = session.user_text or ""
    if not text or not to_spoken_text(session.last_assistant).rstrip().endswith("?"):
        return None
    row = turn.snapshot.row(rows.OutputSchema, DialogueState.of(session).last_schema)
    form = get_current_form(session, turn, row) if row is not None and read_on_no(row) is not None else None
    if row is not None and form is not None and not form.problem and form.status(session.context).complete:
        value = read_confirmation(session, turn, row)
    else:
        value = read_yes_or_no(session, turn)
    return None if value is None else DialogueAct.AFFIRM if value else DialogueAct.NEGATE


def affirms(text: str | None, session: Session, turn: Turn) -> bool:
    """True when the whole text is a yes."""
    return _match_whole_text(match_text(text), ((REGEX_AFFIRM, DialogueAct.AFFIRM),), session, turn) is not None


def means_reset(session: Session, turn: Turn) -> bool:
    """True when the whole text asks to start over. Only then may a model's RESET count."""
    text = match_text(session.user_text)
    is_pattern = _match_whole_text(text, ((REGEX_RESET, DialogueAct.RESET),), session, turn) is not None
    return is_pattern or _restarts(session, turn)


def _restarts(session: Session, turn: Turn) -> bool:
    """True when the message only wants to begin again. Outside of forms, an intent comes before what is learned."""
    learned = [move for move in understand_message(session, turn).moves if move.probability < 1]
    return says_only(session, turn, MoveKind.RESTART) and (not learned or find_open_form(session, turn) is not None)


def _match_whole_text(
    text: str, patterns: tuple[tuple[Setting[str], DialogueAct], ...], session: Session, turn: Turn
) -> DialogueAct | None:
    """The act of the first pattern that matches the whole text. A text is never shortened to make it match."""
    if len(text) > MAX_INPUT:
        return None
    return next((act for setting, act in patterns if get_pattern(session, turn, setting).fits(text)), None)
