"""Grouping of messages: what means the same is together."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from audit.inbox import grouping
from audit.inbox.grouping import InboxMessage, group_by_meaning, normalise
from convengine.engine.understanding.phrases.terms import is_bare_answer

BEGIN = datetime(2026, 3, 1, tzinfo=UTC)


def messages(*texts: str) -> list[InboxMessage]:
    return [InboxMessage(number, text, BEGIN + timedelta(minutes=number)) for number, text in enumerate(texts)]


def texts(*given_texts: str) -> list[list[str]]:
    return [sorted({message.text for message in group.messages}) for group in group_by_meaning(messages(*given_texts))]


def test_what_says_the_same_is_one_group() -> None:
    groups = texts(
        *("do you deliver on sundays?", "Do you deliver on Sunday", "do u deliver sundays", "deliver on sundey?"),
        *("gift voucher please", "Can I have a gift voucher?"),
    )
    assert groups == [
        ["Do you deliver on Sunday", "deliver on sundey?", "do u deliver sundays", "do you deliver on sundays?"],
        ["Can I have a gift voucher?", "gift voucher please"],
    ]


def test_the_leader_is_the_newest_message_of_the_most_frequent_wording() -> None:
    [group] = group_by_meaning(messages("gift voucher", "a gift vouchers", "gift vocher", "gift voucher!"))
    assert group.leader.text == "gift voucher!"
    assert [message.text for message in group.examples] == ["gift vocher"]


def test_a_text_of_small_words_alone_is_a_text_too() -> None:
    assert normalise("what is it?") == "what is it?"
    assert normalise("") == ""
    assert group_by_meaning(messages("", " ")) == []


def test_other_words_for_the_same_are_one_group_in_any_language() -> None:
    assert texts("u deliver to france?", "do you send parcels abroad", "are you open on sundays?") == [
        ["do you send parcels abroad", "u deliver to france?"],
        ["are you open on sundays?"],
    ]
    assert len(texts("do you send parcels abroad?", "Versendet ihr ins Ausland?", "Habt ihr sonntags offen?")) == 2


def test_messages_beyond_those_that_are_compared_join_the_nearest_group(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(grouping, "MOST_COMPARED", 2)
    assert texts("do you sell gift cards", "are you open on sundays", "can I buy a gift card", "I lost my key") == [
        ["can I buy a gift card", "do you sell gift cards"],
        ["I lost my key"],
        ["are you open on sundays"],
    ]


@given(st.lists(st.text(max_size=20), max_size=30))
def test_every_message_with_words_is_in_one_group(given_texts: list[str]) -> None:
    given_messages = messages(*given_texts)
    grouped = [message for group in group_by_meaning(given_messages) for message in group.messages]
    assert sorted(grouped, key=lambda message: message.turn) == [
        message for message in given_messages if normalise(message.text) and not is_bare_answer(message.text)
    ]


def test_a_bare_answer_with_the_same_words_keeps_no_message_out() -> None:
    for texts in (["I don't know", "no"], ["no", "I don't know"]):
        [group] = group_by_meaning(messages(*texts))
        assert [message.text for message in group.messages] == ["I don't know"]
