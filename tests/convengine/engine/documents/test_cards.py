"""What documents say to a message."""

from typing import Any

from convengine.engine.documents.cards import choose_cards, find_cards, write_cards
from convengine.engine.turn import rows
from tests.builders import make_snapshot

RULES = """# House rules

## Keys

Leave your keys at the desk when you go out. The desk is open day and night. If you lose a key, we charge 40 euros.

## Breakfast

We serve breakfast from seven to ten. On Sundays it goes on until eleven. Coffee is free.

## Pets

Dogs may stay for 10 euros a night. They must not go into the breakfast room.
"""


def find(message: str, user_group: str = "", **options: Any) -> list[dict[str, Any]]:
    row = rows.AnswerDocument(document_id=1, title="Hotel", content=RULES, link="/rules", **options)
    snapshot = make_snapshot(row)
    return choose_cards(snapshot, find_cards(snapshot, message, user_group))


def list_titles(cards: list[dict[str, Any]]) -> list[str]:
    return [card["titles"][-1] for card in cards]


def test_the_nearest_section_comes_first_with_its_sentences_word_for_word() -> None:
    card = find("what does it cost if I lose my key?")[0]

    assert (card["title"], card["titles"], card["link"]) == ("Hotel", ["House rules", "Keys"], "/rules")
    assert "If you lose a key, we charge 40 euros." in card["sentences"]
    assert all(sentence in RULES for sentence in card["sentences"])
    assert " … " in card["quote"] or card["quote"] in RULES


def test_a_message_about_something_else_has_no_cards() -> None:
    assert find("who won the election in France?") == []


def test_a_section_is_switched_off_weighted_and_asked_as_people_say() -> None:
    name, message = "House rules > Pets", "can my dog sleep in the room?"
    assert list_titles(find(message))[0] == "Pets"
    assert "Pets" not in list_titles(find(message, sections={name: {"off": True}}))
    asked = "is there a fee for Rex"
    before, after = (
        next(card for card in find_cards(make_snapshot(row), asked) if card["titles"][-1] == "Pets")
        for row in (
            rows.AnswerDocument(document_id=1, title="Hotel", content=RULES, sections=sections)
            for sections in ({}, {name: {"askedAs": ["is there a fee for Rex?"]}})
        )
    )
    assert after["sentence"] > 0.9 > before["sentence"]
    weighted = find_cards(
        make_snapshot(rows.AnswerDocument(document_id=1, title="H", content=RULES, sections={name: {"weight": 2}})),
        message,
    )
    assert weighted[0]["score"] > 1.5 * find_cards(make_snapshot(row_of({})), message)[0]["score"]


def row_of(sections: Any) -> rows.AnswerDocument:
    return rows.AnswerDocument(document_id=1, title="H", content=RULES, sections=sections)


def test_a_document_for_a_group_is_found_by_its_users_only() -> None:
    message = "when is breakfast?"
    assert find(message, user_group="") != []
    assert find(message, "guests", sections={}) != []
    row = rows.AnswerDocument(document_id=1, title="Hotel", content=RULES, user_group="staff")
    assert find_cards(make_snapshot(row), message) == []
    assert find_cards(make_snapshot(row), message, "staff") != []


def test_cards_are_written_as_plain_text() -> None:
    text = write_cards(find("when is breakfast?")[:1])

    assert text.startswith("House rules › Breakfast\n“We serve breakfast from seven to ten.")
    assert text.endswith("\n/rules")
