"""What documents have to the message of a turn, recorded with the turn."""

from typing import Any

from convengine.engine.documents.cards import choose_cards, find_cards
from convengine.engine.documents.index import get_document_index
from convengine.engine.text.compare import blank
from convengine.engine.turn.ports import LearnedSubject
from convengine.engine.turn.session import Session
from convengine.engine.turn.turn import Turn


def find_cards_in_turn(session: Session, turn: Turn) -> list[dict[str, Any]]:
    """What `find_cards` says of the message, once in a turn, and recorded, so that its replay needs no documents."""
    index, text = get_document_index(turn.snapshot), session.user_text
    if not index.sections or text is None or blank(text):
        return []
    group = str(session.input_params.get("userGroup") or "")

    def find() -> list[dict[str, Any]]:
        request = {"text": text, "group": group, "documents": index.digest}
        cards: Any = turn.ports.learned.decide(
            LearnedSubject.DOCUMENTS, request, lambda: list(find_cards(turn.snapshot, text, group))
        )
        return list(cards)

    return turn.memo.get(("cards", text, group), find)


def has_better_sections(session: Session, turn: Turn, confidence: float) -> bool:
    """True if documents answer the message, and are likelier than intents, whose best has this confidence."""
    cards = find_cards_in_turn(session, turn)
    return bool(choose_cards(turn.snapshot, cards)) and cards[0]["confidence"] > confidence


def is_asked_of_section(session: Session, turn: Turn) -> bool:
    """True if a section has the message in *asked as*, word for word."""
    return get_document_index(turn.snapshot).is_asked_as(session.user_text)
