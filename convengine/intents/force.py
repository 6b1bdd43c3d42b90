"""Signals that the intent must be resolved again, whatever is being collected (pipeline-1 14.1)."""

from convengine.domain.catalogue.intents import FORCE_PARAM_KEYS, SWITCH_PHRASES, TEXT_COMMANDS
from convengine.domain.session import Session
from convengine.domain.text import norm, truthy
from convengine.domain.turn import Turn


def explicit_signal(session: Session, turn: Turn) -> str | None:
    """What forces a resolution in this request: a reset word, a switch phrase, or a param; null when nothing does."""
    text = norm(session.user_text)
    if text and text in {command.lower() for command in turn.config(session, TEXT_COMMANDS)}:
        return f"TEXT:{text}"
    for phrase in turn.config(session, SWITCH_PHRASES):
        wanted = phrase.lower()
        if wanted.startswith("^"):
            # The list drops blanks at the ends; "switch to" must be a whole word at the start.
            if f"{text} ".startswith(wanted[1:].strip() + " "):
                return f"PHRASE:{phrase}"
        elif wanted in text:
            return f"PHRASE:{phrase}"
    for key in turn.config(session, FORCE_PARAM_KEYS):
        if truthy(session.input_params.get(key)):
            return f"INPUT_PARAM:{key}"
    return None
