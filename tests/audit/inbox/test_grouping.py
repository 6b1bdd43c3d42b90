"""Grouping of messages: what is alike is together, and what only chains is not."""

from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from audit.inbox.grouping import (
    Group,
    Message,
    choose_wordings,
    find_leaders,
    group_by_leader,
    list_wordings,
    normalise,
)

BEGIN = datetime(2026, 3, 1, tzinfo=UTC)


def messages(*texts: str) -> list[Message]:
    return [Message(number, text, BEGIN + timedelta(minutes=number)) for number, text in enumerate(texts)]


def group_messages(given_messages: list[Message]) -> list[Group]:
    wordings = choose_wordings(list_wordings((normalise(message.text), message) for message in given_messages))
    return group_by_leader(wordings, find_leaders((wording.words for wording in wordings), []))


def texts(*given_texts: str) -> list[list[str]]:
    return [sorted({message.text for message in group.messages}) for group in group_messages(messages(*given_texts))]


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
    [group] = group_messages(messages("gift voucher", "a gift vouchers", "gift vocher", "gift voucher!"))
    assert group.leader.text == "gift voucher!"
    assert [message.text for message in group.examples] == ["gift vocher"]


def test_a_text_of_small_words_alone_is_a_text_too() -> None:
    assert normalise("what is it?") == "what is it?"
    assert normalise("") == ""
    assert group_messages(messages("", " ")) == []


@given(st.lists(st.text(max_size=20), max_size=30))
def test_every_message_with_words_is_in_one_group(given_texts: list[str]) -> None:
    given_messages = messages(*given_texts)
    grouped = [message for group in group_messages(given_messages) for message in group.messages]
    assert sorted(grouped, key=lambda message: message.turn) == [
        message for message in given_messages if normalise(message.text)
    ]


@given(st.lists(st.text("abc", max_size=8), max_size=20), st.integers(0, 20))
def test_groups_that_grow_are_those_of_all_messages_at_once(given_texts: list[str], first: int) -> None:
    wordings = list(dict.fromkeys(given_texts))
    at_once = find_leaders(wordings, [])
    before = find_leaders(wordings[:first], [])
    leaders = [words for words, leader in before.items() if words == leader]
    assert {**before, **find_leaders(wordings[first:], leaders)} == at_once
