import time
from typing import Any

import pytest

from convengine.engine.understanding.phrases.index import MAX_INTENTS, Phrase, PhraseIndex
from convengine.engine.understanding.phrases.terms import list_phrase_languages


def index(*synonyms: list[str], **intents: list[str]) -> PhraseIndex:
    return PhraseIndex(
        (
            Phrase(f"{intent}{number}", intent, text)
            for intent, texts in intents.items()
            for number, text in enumerate(texts)
        ),
        list_phrase_languages(tuple(map(tuple, synonyms))),
    )


SHOP: dict[str, Any] = {
    "TRACK": ["Where is my order?", "track my parcel", "my parcel is late"],
    "CANCEL": ["I want to cancel my order", "please cancel the purchase"],
}


@pytest.mark.parametrize(
    ("text", "intent"),
    [
        ("my order: cancel it", "CANCEL"),
        ("could you please cancel this order for me", "CANCEL"),
        ("PARCEL TRACKING", "TRACK"),
        ("trakc the parcel", "TRACK"),
    ],
)
def test_the_telling_words_decide_in_any_order_and_form(text: str, intent: str) -> None:
    assert index(**SHOP).match(text)[0].intent == intent


@pytest.mark.parametrize(
    ("text", "intents"),
    [
        ("was brauchen sie von mir?", ["A"]),
        ("Hallo, was brauchen Sie denn von mir", ["A"]),
        ("was bracuhen sie von mir", ["A"]),
        ("was brauchen wir von mir", []),
        ("was brauchen sie", []),
        ("how are you", ["C"]),
    ],
)
def test_a_phrase_without_telling_words_matches_as_a_whole(text: str, intents: list[str]) -> None:
    phrases = index(A=["Was brauchen Sie von mir?"], B=["a parcel"], C=["How are you?"])

    assert [match.intent for match in phrases.match(text)] == intents


def test_a_match_says_which_words_counted() -> None:
    best = index(**SHOP).match("please cancel my order of pizza")[0]

    assert best.phrase.text == "I want to cancel my order"
    assert [word.text for word in best.words] == ["cancel", "order"]
    assert best.words[0].share > best.words[1].share
    assert best.unmatched == ("pizza",)


def test_words_about_something_else_lower_the_score() -> None:
    shop = index(**SHOP)

    assert shop.match("cancel my order")[0].score > shop.match("cancel my order of gym equipment")[0].score
    assert shop.match("pizza recipe") == ()
    assert shop.match(None) == shop.match("") == shop.match("I would like to") == ()


def test_synonyms_count_fully() -> None:
    assert (
        index(["order", "basket"], **SHOP).match("cancel my basket")[0].score
        == index(**SHOP).match("cancel my order")[0].score
    )


def test_phrases_of_two_languages_are_read_each_in_its_own() -> None:
    both = index(TRACK=["Where is my order?", "wo ist meine Bestellung"], CANCEL=["ich möchte den Kauf stornieren"])

    assert both.match("Bestellungen, wo?")[0].intent == "TRACK"
    assert both.match("kauf storniert")[0].intent == "CANCEL"


def test_phrases_with_the_same_telling_words_are_found() -> None:
    same = index(**SHOP).find_same_words("my order, I'd like to cancel it")

    assert [phrase.key for phrase in same] == ["CANCEL0"]


def test_a_turn_compares_few_of_ten_thousand_phrases() -> None:
    """The time of a message hardly grows with the number of phrases (P5)."""
    topics = [f"topic{number}" for number in range(1000)]
    large = index(**{topic: [f"order {topic} number{n}" for n in range(10)] for topic in topics})
    large.match("order topic500 number3")
    start = time.thread_time()

    matches = large.match("please order topic500 number3")

    assert matches[0].intent == "topic500"
    assert len(matches) <= MAX_INTENTS
    assert time.thread_time() - start < 0.2
