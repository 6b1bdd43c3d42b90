"""What documents say to a message, as cards: the section, two of its sentences word for word, and the link.

Those of a turn are recorded with it.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from convengine.engine.documents.index import MOST_CARDS, get_document_index
from convengine.engine.text.compare import blank
from convengine.engine.turn import live_settings, rows
from convengine.engine.turn.ports import LearnedSubject
from convengine.engine.turn.session import Session
from convengine.engine.turn.snapshot import Snapshot
from convengine.engine.turn.turn import Turn
from convengine.engine.understanding.phrases.settings import MIN_NEAR
from convengine.json_value import Json

#: Beside a likely section, one of a smaller share of its confidence is not shown.
_LEAST_SHARE = 0.1
#: What a card has, besides its figures.
CARD_KEYS = ("document", "title", "titles", "sentences", "quote", "link")


def find_cards(snapshot: Snapshot, message: str, user_group: str = "") -> list[dict[str, Any]]:
    """The sections that may answer a message, the likeliest first, one more than are shown, each as a card with its
    `score`, its `confidence`, and what passage, sentence and words give.
    """
    cards = []
    for section in get_document_index(snapshot).find(message, user_group):
        row = snapshot.row(rows.AnswerDocument, section.text.document)
        by_passage, by_sentence, by_words = section.parts
        card = {
            "document": section.text.document,
            "title": row.title if row else "",
            "titles": list(section.text.section.titles),
            "sentences": list(section.sentences),
            "quote": (" " if section.are_neighbours else " … ").join(section.sentences),
            "link": (row.link or None) if row else None,
            "score": section.score,
            "confidence": section.confidence,
            "passage": by_passage,
            "sentence": by_sentence,
            "words": by_words,
        }
        cards.append(card)
    return cards


def choose_cards(snapshot: Snapshot, cards: Sequence[Mapping[str, Any]]) -> list[dict[str, Json]]:
    """The cards that are shown; none if the best one is not near enough."""
    best = cards[0]["confidence"] if cards else 0
    if best < live_settings.read(snapshot, MIN_NEAR).value or not cards:
        return []
    near = (card for card in cards[:MOST_CARDS] if card["confidence"] >= _LEAST_SHARE * best)
    return [{key: card[key] for key in CARD_KEYS} for card in near]


def write_cards(cards: Sequence[Mapping[str, Any]]) -> str:
    """Cards as plain text, for channels that show nothing else."""
    return "\n\n".join(
        "\n".join(filter(None, [" › ".join(card["titles"]), f"“{card['quote']}”", card["link"]])) for card in cards
    )


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
