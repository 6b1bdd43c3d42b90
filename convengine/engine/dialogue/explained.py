"""Whether the tables and phrases explain a message, so that no model need tell what it is (docs/models.md)."""

from convengine.engine.forms.form import Form
from convengine.engine.forms.life import awaits_confirmation
from convengine.engine.forms.message import (
    find_open_form,
    find_open_schema,
    is_same_phrase,
    read_message,
    understand_message,
)
from convengine.engine.forms.session_form import find_schema
from convengine.engine.forms.store_reading import (
    TABLES_THEN_WORDS,
    find_extractor,
    has_reading_prompt,
    has_reading_prompt_elsewhere,
)
from convengine.engine.pending_actions.disambiguation import has_open_action
from convengine.engine.turn.dialogue_state import DialogueState
from convengine.engine.turn.session import Session
from convengine.engine.turn.turn import Turn
from convengine.engine.understanding.phrases.recorded import match_user_message
from convengine.engine.understanding.phrases.settings import VERY_SURE


def is_explained(session: Session, turn: Turn) -> bool:
    """True for a message that means an intent by its phrases, and while something is open for a plain answer to it.

    Also while a form is filled that asks the model itself for the words which the tables leave open.
    """
    if is_same_phrase(session, turn):
        return True
    row, form, state = find_open_schema(session, turn), find_open_form(session, turn), DialogueState.of(session)
    if row is not None and form is not None:
        if _asks_for_words(session, turn, form):
            return True
        reading = read_message(session, turn, row)
        if reading.gives_anything and not reading.unexplained:
            return True
    is_open = bool(state.offered) or state.leaving is not None or session.clarification is not None
    if row is not None or is_open or has_open_action(session, turn):
        return understand_message(session, turn).is_bare_move
    return any(match.confidence >= VERY_SURE for match in match_user_message(session, turn).hits)


def confirms_own_form(session: Session, turn: Turn) -> bool:
    """True at the confirmation of a form that no author's prompt reads: only a yes of the tables runs its action."""
    is_own = not (has_reading_prompt(session, turn) or has_reading_prompt_elsewhere(session, turn))
    return is_own and awaits_confirmation(session, turn)


def _asks_for_words(session: Session, turn: Turn, form: Form) -> bool:
    is_own = find_schema(turn.snapshot, session.intent, session.state) is not None
    return is_own and not form.status(session.context).complete and find_extractor(session, turn) == TABLES_THEN_WORDS
