"""Answer a message that nothing else took up by what documents say, word for word."""

from convengine.engine.documents.cards import choose_cards, write_cards
from convengine.engine.documents.in_turn import find_cards_in_turn
from convengine.engine.documents.index import MOST_CARDS
from convengine.engine.forms.asking import read_text_setting
from convengine.engine.steps.responses.settings import DOCUMENTS_TEXT
from convengine.engine.steps.responses.stages import DOCUMENTS_FOUND
from convengine.engine.turn.session import Session
from convengine.engine.turn.turn import Turn

#: The source of such answers.
DOCUMENTS = "DOCUMENTS"


def look_into_documents(session: Session, turn: Turn) -> Session:
    """The session with the cards of the sections that answer the message; unchanged if none is near."""
    cards = find_cards_in_turn(session, turn)
    shown = choose_cards(turn.snapshot, cards)
    if shown:
        turn.audit(session, DOCUMENTS_FOUND, sections=cards[:MOST_CARDS], runnerUp=cards[MOST_CARDS:])
    return session.evolve(cards=tuple(shown)) if shown else session


def write_found(session: Session, turn: Turn) -> str:
    """The cards of the session as text."""
    return f"{read_text_setting(session, turn, DOCUMENTS_TEXT)}\n\n{write_cards(session.cards)}"
