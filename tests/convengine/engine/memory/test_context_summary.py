import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from convengine.engine.memory.context_summary import (
    MAX_CHARS,
    SHARES,
    SummaryParts,
    add_question,
    format_entry,
    format_summary,
    parse_summary,
    shorten_at_word,
)

#: Texts of any script, and of those that are wide, written from right to left, or built of several characters a sign.
SCRIPTS = [
    "東京都のお店の予約を変更",
    "שלום רב לכולם",
    "السلام عليكم",
    "नमस्ते दुनिया",
    "👩‍👩‍👧‍👦🏳️‍🌈",
    "e\u0301o\u0308",
    "a b, c\n",
]
ANY_TEXT = st.text(max_size=400) | st.builds(
    lambda parts, times: "".join(parts) * times, st.lists(st.sampled_from(SCRIPTS), max_size=6), st.integers(1, 30)
)
ANYTHING = st.builds(
    SummaryParts,
    ANY_TEXT,
    *(st.lists(ANY_TEXT, max_size=12).map(tuple) for _ in range(3)),
    st.integers(0, 10**9),
)


def test_it_has_its_five_lines() -> None:
    told = SummaryParts(
        "Loan: I need money", ("amount=5", "a@b.example"), ("confirmed amount=5",), ("missing city",), 7
    )

    assert format_summary(told) == (
        "GOAL: Loan: I need money\n"
        "ENTITIES: amount=5, a@b.example\n"
        "DECISIONS: confirmed amount=5\n"
        "PENDING: missing city\n"
        "TURNS: 7"
    )


def test_what_there_is_nothing_to_say_of_says_so() -> None:
    assert (
        format_summary(SummaryParts(turns=1)) == "GOAL: none\nENTITIES: none\nDECISIONS: none\nPENDING: none\nTURNS: 1"
    )


@given(ANYTHING)
def test_never_longer_than_a_thousand_characters_and_always_five_lines(told: SummaryParts) -> None:
    summary = format_summary(told)

    assert len(summary) <= MAX_CHARS
    lines = summary.splitlines()
    assert [line.split(": ")[0] for line in lines] == ["GOAL", "ENTITIES", "DECISIONS", "PENDING", "TURNS"]
    assert lines[-1] == f"TURNS: {told.turns}"
    for line, (name, share) in zip(lines, SHARES.items(), strict=False):
        assert len(line) <= len(name) + 2 + share


@given(ANYTHING)
def test_what_it_says_can_be_read_back_and_said_again(told: SummaryParts) -> None:
    once = parse_summary(format_summary(told))

    assert parse_summary(format_summary(once)) == once
    assert once.turns == told.turns


@given(ANY_TEXT, st.integers(10, 60))
def test_a_cut_never_parts_a_sign(text: str, limit: int) -> None:
    text = " ".join(text.split())
    cut = shorten_at_word(text, limit)

    assert len(cut) <= limit
    if len(text) > limit and " " not in cut:
        kept = cut.removesuffix("…")
        following = text[len(kept) : len(kept) + 1]
        assert not kept or kept == text[:1] or following in ("", " ", ",", ";") or not _joins(kept, following)


def _joins(kept: str, following: str) -> bool:
    return unicodedata.category(following)[0] == "M" or "\u200d" in (kept[-1], following)


def test_a_line_is_cut_at_a_word_with_an_ellipsis() -> None:
    assert shorten_at_word("one two three four", 12) == "one two…"
    assert shorten_at_word("one, two, three", 10) == "one, two…"
    assert shorten_at_word("東京都のお店の予約", 5) == "東京都の…"
    assert shorten_at_word("short", 5) == "short"


def test_an_early_blank_is_no_reason_to_lose_nearly_everything() -> None:
    assert shorten_at_word("a " + "b" * 50, 20) == "a " + "b" * 17 + "…"


def test_a_long_list_keeps_its_first_entries() -> None:
    told = SummaryParts(entities=tuple(f"field{number}=value {number}" for number in range(100)))

    line = format_summary(told).split("\n")[1]
    assert line.startswith("ENTITIES: field0=value 0, field1=value 1, ")
    assert line.endswith("…")


def test_an_entry_said_twice_stands_once() -> None:
    assert format_summary(SummaryParts(entities=("a", "b", "a"))).split("\n")[1] == "ENTITIES: a, b"


@pytest.mark.parametrize(
    ("text", "stored"), [("Doe, John\n", "Doe; John"), ("  a\t b ", "a b"), ("x,", "x"), ("1,000", "1,000")]
)
def test_an_entry_holds_nothing_that_separates_entries(text: str, stored: str) -> None:
    assert format_entry(text) == stored


@pytest.mark.parametrize("summary", ["", "free text", "GOAL", "TURNS: many\nGOAL: none"])
def test_a_summary_of_another_shape_says_nothing(summary: str) -> None:
    assert parse_summary(summary) == SummaryParts()


def test_an_entry_that_was_cut_is_not_carried_on() -> None:
    assert parse_summary("ENTITIES: a, b, half…\nDECISIONS: none").entities == ("a", "b")


def test_an_open_question_is_told_where_nothing_else_is_open() -> None:
    summary = format_summary(SummaryParts(goal="PENDING: none", pending=()))

    assert add_question(summary, "Which country,\nplease?").splitlines()[3] == "PENDING: Which country; please?"
    assert add_question(summary, "why " * 200).splitlines()[3].endswith("…")
    assert len(add_question(summary, "why " * 200)) <= MAX_CHARS
    assert add_question(summary, " ") == summary
    other = format_summary(SummaryParts(pending=("missing city",)))
    assert add_question(other, "Which city?") == other
