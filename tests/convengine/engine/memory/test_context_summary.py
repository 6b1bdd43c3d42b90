import unicodedata
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from convengine.engine.memory.context_summary import (
    MAX_CHARS,
    SHARES,
    SummaryParts,
    add_question,
    build_context_summary,
    find_entities,
    format_entry,
    format_summary,
    parse_summary,
    shorten_at_word,
)
from convengine.engine.turn import rows
from convengine.engine.turn.session import Clarification
from tests.builders import make_intent, make_schema, make_session, make_snapshot

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
    parts = SummaryParts(
        "Loan: I need money", ("amount=5", "a@b.example"), ("confirmed amount=5",), ("missing city",), 7
    )

    assert format_summary(parts) == (
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
def test_never_longer_than_a_thousand_characters_and_always_five_lines(parts: SummaryParts) -> None:
    summary = format_summary(parts)

    assert len(summary) <= MAX_CHARS
    lines = summary.splitlines()
    assert [line.split(": ")[0] for line in lines] == ["GOAL", "ENTITIES", "DECISIONS", "PENDING", "TURNS"]
    assert lines[-1] == f"TURNS: {parts.turns}"
    for line, (name, share) in zip(lines, SHARES.items(), strict=False):
        assert len(line) <= len(name) + 2 + share


@given(ANYTHING)
def test_what_it_says_can_be_read_back_and_said_again(parts: SummaryParts) -> None:
    once = parse_summary(format_summary(parts))

    assert parse_summary(format_summary(once)) == once
    assert once.turns == parts.turns


@given(ANY_TEXT, st.integers(10, 60))
def test_a_cut_never_parts_a_sign(text: str, limit: int) -> None:
    text = " ".join(text.split())
    cut = shorten_at_word(text, limit)

    assert len(cut) <= limit
    if len(text) > limit and " " not in cut:
        shown = cut.removesuffix("…")
        following = text[len(shown) : len(shown) + 1]
        assert not shown or shown == text[:1] or following in ("", " ", ",", ";") or not _joins(shown, following)


def _joins(shown: str, following: str) -> bool:
    return unicodedata.category(following)[0] == "M" or "\u200d" in (shown[-1], following)


def test_a_line_is_cut_at_a_word_with_an_ellipsis() -> None:
    assert shorten_at_word("one two three four", 12) == "one two…"
    assert shorten_at_word("one, two, three", 10) == "one, two…"
    assert shorten_at_word("東京都のお店の予約", 5) == "東京都の…"
    assert shorten_at_word("short", 5) == "short"


def test_an_early_blank_is_no_reason_to_lose_nearly_everything() -> None:
    assert shorten_at_word("a " + "b" * 50, 20) == "a " + "b" * 17 + "…"


def test_a_long_list_keeps_its_first_entries() -> None:
    parts = SummaryParts(entities=tuple(f"field{number}=value {number}" for number in range(100)))

    line = format_summary(parts).split("\n")[1]
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


LOAN = make_intent("LOAN", display_name="Loans")
FIELDS = make_schema("LOAN", {"amount": {}, "city": {}, "tags": {}}, state_code="COLLECT")


def summary(*all_rows: rows.Row, turns: int = 1, **fields: Any) -> dict[str, str]:
    """The lines by name, for LOAN/CONFIRM with the text "I need money"."""
    session = make_session(
        **{"intent": "LOAN", "state": "CONFIRM", "turn_start_intent": "LOAN", "user_text": "I need money", **fields}
    )
    text = build_context_summary(session, make_snapshot(LOAN, FIELDS, *all_rows), turns)
    return dict(line.split(": ", 1) for line in text.split("\n"))


def test_the_goal_is_the_intent_and_what_the_user_first_said_of_it() -> None:
    assert summary(turn_start_intent="UNKNOWN")["GOAL"] == "Loans: I need money"
    assert summary(user_text="5000", context_summary="GOAL: Loans: I need money")["GOAL"] == "Loans: I need money"


def test_another_intent_has_a_goal_of_its_own() -> None:
    before = "GOAL: Opening hours: when are you open?"

    assert summary(turn_start_intent="HOURS", context_summary=before)["GOAL"] == "Loans: I need money"


def test_without_an_intent_the_goal_is_what_was_said_last() -> None:
    assert summary(intent="UNKNOWN", context_summary="GOAL: hello")["GOAL"] == "I need money"


def test_a_turn_without_words_leaves_the_goal_to_the_next() -> None:
    assert summary(user_text=None)["GOAL"] == "Loans"
    assert summary(context_summary="GOAL: Loans")["GOAL"] == "Loans: I need money"


def test_an_intent_without_a_row_is_called_by_its_code() -> None:
    assert summary(intent="GONE", turn_start_intent="GONE")["GOAL"] == "GONE: I need money"


def test_collected_fields_are_named_whichever_schema_applies_now() -> None:
    context = {"amount": 5000, "city": " ", "tags": ["a", "b"], "other": "no field", "mcp": {}}

    assert summary(context=context)["ENTITIES"] == "amount=5000, tags=a b"


def test_names_of_this_turn_come_before_those_of_earlier_ones() -> None:
    lines = summary(user_text="mail a@b.example", context_summary="ENTITIES: old.pdf, amount=3", context={"amount": 5})

    assert lines["ENTITIES"] == "amount=5, a@b.example, old.pdf"


@pytest.mark.parametrize("result", ["EXECUTED", "REJECTED"])
def test_an_action_that_ended_is_a_decision_and_stays_one(result: str) -> None:
    lines = summary(
        input_params={"pending_action_result": result},
        context={"pending_action_runtime": {"action_key": "PAY", "status": result}},
        context_summary="DECISIONS: confirmed amount=5",
    )

    assert lines["DECISIONS"] == f"{result.lower()} PAY, confirmed amount=5"


def test_what_the_user_confirmed_is_a_decision() -> None:
    lines = summary(input_params={"routing_decision": "PROCEED_CONFIRMED"}, context={"amount": 5, "city": "Rome"})

    assert lines["DECISIONS"] == "confirmed amount=5, confirmed city=Rome"


def test_an_action_is_called_by_its_key_else_by_what_it_is() -> None:
    params = {"pending_action_result": "EXECUTED"}

    assert summary(input_params=params | {"pending_action_key": "PAY"})["DECISIONS"] == "executed PAY"
    assert summary(input_params=params)["DECISIONS"] == "executed action"


def test_what_is_open_is_pending() -> None:
    lines = summary(
        clarification=Clarification("Which city, please?", "AGENT"),
        context={"pending_action_runtime": {"action_key": "PAY", "status": "OPEN"}},
        missing_required_fields=("amount", "city"),
    )

    assert lines["PENDING"] == "Which city; please?, waiting for a yes to PAY, missing amount and city"


def test_the_turns_are_counted() -> None:
    assert summary(turns=12)["TURNS"] == "12"


@pytest.mark.parametrize(
    ("text", "entities"),
    [
        ("see https://shop.example/a?b=1, please", ["https://shop.example/a?b=1"]),
        ("(http://x.example/y).", ["http://x.example/y"]),
        ("write to Ana.B+c@mail.example.com.", ["Ana.B+c@mail.example.com"]),
        ("the file Report_2026.final.PDF and notes.txt!", ["Report_2026.final.PDF", "notes.txt"]),
        ('"Blue Harbour" or “Green Hill”', ["Blue Harbour", "Green Hill"]),
        ("„Zur Post“, «Chez Léa», 「東京駅」", ["Zur Post", "Chez Léa", "東京駅"]),
        ('قابلني في "مقهى النور" غدا', ["مقهى النور"]),
        ("version 1.2 of e.g. this, don't worry", []),
        ("", []),
    ],
)
def test_names_are_found_as_they_stand(text: str, entities: list[str]) -> None:
    assert list(find_entities(text)) == entities


def test_a_long_text_of_almost_names_takes_no_time() -> None:
    for piece in ("a.", "a@", '"', "https://", "x-", "_."):
        assert list(find_entities(piece * 2000)) is not None
