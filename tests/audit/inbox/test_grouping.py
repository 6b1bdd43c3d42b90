"""Grouping of messages: what is alike is together, and what only chains is not."""

from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from audit.inbox.grouping import (
    Message,
    find_common_topics,
    group_by_words,
    merge_groups,
    normalise,
)
from convengine.engine.understanding.phrases.terms import is_bare_answer

BEGIN = datetime(2026, 3, 1, tzinfo=UTC)


def messages(*texts: str) -> list[Message]:
    return [Message(number, text, BEGIN + timedelta(minutes=number)) for number, text in enumerate(texts)]


def texts(*given_texts: str) -> list[list[str]]:
    return [sorted({message.text for message in group.messages}) for group in group_by_words(messages(*given_texts))]


def test_what_says_the_same_is_one_group() -> None:
    groups = texts(
        *("do you deliver on sundays?", "Do you deliver on Sunday", "do u deliver sundays", "deliver on sundey?"),
        *("gift voucher please", "Can I have a gift voucher?"),
    )
    assert groups == [
        ["Do you deliver on Sunday", "deliver on sundey?", "do u deliver sundays", "do you deliver on sundays?"],
        ["Can I have a gift voucher?", "gift voucher please"],
    ]


def test_a_chain_of_similar_texts_is_not_one_group() -> None:
    chain = ["aaaaaaaaaa", "aaaaaaaaab", "aaaaaaaabb", "aaaaaaabbb", "aaaaaabbbb", "aaaaabbbbb"]
    assert len(texts(*chain)) > 1


def test_the_leader_is_the_newest_message_of_the_most_frequent_wording() -> None:
    [group] = group_by_words(messages("gift voucher", "a gift vouchers", "gift vocher", "gift voucher!"))
    assert group.leader.text == "gift voucher!"
    assert [message.text for message in group.examples] == ["gift vocher"]


def test_a_text_of_small_words_alone_is_a_text_too() -> None:
    assert normalise("what is it?") == "what is it?"
    assert normalise("") == ""
    assert group_by_words(messages("", " ")) == []


def test_groups_that_one_phrase_would_catch_are_one() -> None:
    texts = ["do you sell gift cards", "can I buy a gift card", "gift cards please", "are you open on sundays"]
    assert find_common_topics(texts) == [None, 0, 0, None]


def test_groups_that_share_less_than_half_of_their_words_stay_apart() -> None:
    assert find_common_topics(["change my delivery address", "change the delivery date"]) == [None, None]
    assert find_common_topics(["is there a discount", "a student discount"]) == [None, None]
    assert find_common_topics(["do you deliver on sunday", "is it open on sunday at ten"]) == [None, None]
    assert find_common_topics(["", "", "the"]) == [None, None, None]


def test_the_largest_group_of_a_topic_takes_the_others() -> None:
    given_messages = messages("gift cards please", *["do you sell gift cards"] * 3, *["can I buy a gift card"] * 2)
    groups = merge_groups(group_by_words(given_messages), find_common_topics)
    assert [[len(wording.messages) for wording in group.wordings] for group in groups] == [[3, 2, 1]]
    assert groups[0].leader.text == "do you sell gift cards"


@given(st.lists(st.lists(st.sampled_from(["gift", "card", "sell", "buy", "shop"]), max_size=4).map(" ".join)))
def test_a_topic_begins_with_its_largest_group_and_is_in_no_other(given_texts: list[str]) -> None:
    for index, first in enumerate(find_common_topics(given_texts)):
        assert first is None or (first < index and find_common_topics(given_texts)[first] is None)


@given(st.lists(st.text(max_size=20), max_size=30))
def test_every_message_with_words_is_in_one_group(given_texts: list[str]) -> None:
    given_messages = messages(*given_texts)
    grouped = [message for group in group_by_words(given_messages) for message in group.messages]
    assert sorted(grouped, key=lambda message: message.turn) == [
        message for message in given_messages if normalise(message.text) and not is_bare_answer(message.text)
    ]


def test_a_bare_answer_with_the_same_words_keeps_no_message_out() -> None:
    for texts in (["I don't know", "no"], ["no", "I don't know"]):
        [group] = group_by_words(messages(*texts))
        assert [message.text for message in group.messages] == ["I don't know"]
