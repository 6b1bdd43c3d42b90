"""Why a message means an intent: what each word does, and which phrases speak for another intent."""

import pytest

from convengine.engine.turn.rows import Row
from convengine.engine.turn.snapshot import Snapshot
from convengine.engine.understanding.phrases.book import PhraseBook, get_phrase_book
from convengine.engine.understanding.phrases.explain import MOST_WORDS, explain_match
from convengine.engine.understanding.phrases.matching import match_phrases
from tests.builders import make_classifier, make_intent, make_snapshot

PHRASES = {
    "OPENING": ("When do you open?", "Are you open on Sundays?", "What are your opening hours?"),
    "REFUND": ("I want my money back", "Please refund my order", "How do I get a refund?"),
    "PARCEL": ("Where is my parcel?", "Has my parcel been sent?", "Track my parcel"),
}


def build_snapshot(phrases: dict[str, tuple[str, ...]], *more: Row) -> Snapshot:
    texts = [(intent, text) for intent, listed in phrases.items() for text in listed]
    return make_snapshot(
        *more,
        *map(make_intent, phrases),
        *(
            make_classifier(intent, text, rule_type="PHRASE", classifier_id=number)
            for number, (intent, text) in enumerate(texts, 1)
        ),
    )


def test_each_word_has_the_confidence_of_the_message_without_it() -> None:
    snapshot = build_snapshot(PHRASES)

    account = explain_match(snapshot, "could you, maybe, refund that broken lamp")

    assert account.ranked[0].intent == "REFUND"
    shares = {share.word: share.without for share in account.words}
    assert list(shares) == ["could", "you", "maybe", "refund", "that", "broken", "lamp"]
    without = match_phrases(snapshot, "could you, maybe, that broken lamp")
    told = {match.intent: match.confidence for match in (*without.hits, *without.near)}
    assert shares["refund"] == told.get("REFUND")
    assert min(shares, key=lambda word: shares[word] or 0) == "refund"


def test_the_words_of_a_long_message_are_left_out_up_to_a_bound_and_the_others_counted() -> None:
    account = explain_match(build_snapshot(PHRASES), "I want a refund of the lamp " + "and so on " * 20)

    assert len(account.words) == MOST_WORDS
    assert account.further_words == 7 + 60 - MOST_WORDS


def test_a_phrase_that_is_more_like_those_of_the_other_intent_is_named() -> None:
    misplaced = {**PHRASES, "OPENING": (*PHRASES["OPENING"], "Where is the parcel of mine?")}

    account = explain_match(build_snapshot(misplaced), "where would the parcel of mine be")

    assert {match.intent for match in account.ranked[:2]} == {"OPENING", "PARCEL"}
    assert account.stray is not None
    assert account.stray.phrase.text == "Where is the parcel of mine?"
    assert account.stray.nearer.text == "Where is my parcel?"
    assert explain_match(build_snapshot(PHRASES), "where would the parcel of mine be").stray is None


@pytest.mark.parametrize(
    "text",
    ["how do I complain", "I want to complain at your office", "did it arrive broken", "stop delivery to my office"],
)
def test_a_phrase_that_is_nearer_to_another_intent_by_chance_is_not_named(text: str) -> None:
    apart = {
        "DELIVERY": ("Where is my parcel?", "When will it arrive?", "Track my order", "My package is late"),
        "CANCEL": ("Cancel my order", "I no longer want it", "Stop the delivery", "Call it off"),
        "ADDRESS": ("Change my address", "I moved house", "Send it somewhere else", "Deliver it to my office"),
        "PAY": ("How can I pay?", "Do you take cards?", "My card was declined", "Can I pay later?"),
        "COMPLAINT": ("It arrived broken", "The box was empty", "I want to complain", "This is a scandal"),
    }

    assert explain_match(build_snapshot(apart), text).stray is None


def test_a_phrase_that_the_other_phrases_explain_as_its_own_is_not_named() -> None:
    near = {
        "OPENING": ("When do you open?", "Are you open on Sundays?", "When do you open on Mondays?"),
        "HOURS_SHOP": ("When does the shop open?", "Is the shop open on Sundays?", "Until when is the shop open?"),
        "CLOSING": ("When do you close?", "When do you close on Sundays?", "Do you close for lunch?"),
        "RETURN": ("I want to return it", "How do I return this?", "Can I send it back?"),
        "REFUND": ("I want my money back", "How do I get a refund?", "Can I have my money back?"),
    }
    snapshot = build_snapshot(near)

    for intent, phrases in near.items():
        for phrase in phrases:
            stray = explain_match(snapshot, phrase).stray
            if stray is not None:
                book = get_phrase_book(snapshot)
                others = [each for each in book.phrases if each.text != stray.phrase.text]
                assert PhraseBook(others).rank(stray.phrase.text)[0].intent == stray.nearer.intent, (intent, phrase)


def test_nothing_is_explained_where_no_intent_comes_into_question() -> None:
    assert explain_match(build_snapshot({}), "where is my parcel").words == ()
    assert explain_match(build_snapshot(PHRASES), "?!").ranked == ()
