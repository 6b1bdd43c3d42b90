from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from convengine.engine.memory.summary import build_session_summary
from convengine.engine.turn.payload import JsonPayload, TextPayload
from convengine.engine.turn.session import Exchange
from tests.builders import make_session

TURNS = tuple(Exchange(f"q{number}", f"a{number}") for number in range(1, 6))


def summary(recent_turns: int = 3, max_chars: int = 1200, **fields: Any) -> str:
    session = make_session(
        **{"intent": "A", "state": "B", "user_text": "hi", "payload": TextPayload("yo"), **fields},
    )
    return build_session_summary(session, recent_turns=recent_turns, max_chars=max_chars)


def test_P2_10_2_V2_a_first_turn_is_its_intent_state_text_and_answer() -> None:
    assert summary() == "intent=A, state=B, user=hi, response=yo"


def test_P2_10_2_V3_the_newest_turns_are_told_the_oldest_of_them_first() -> None:
    assert "recentTurns=[{u=q3,a=a3}, {u=q4,a=a4}, {u=q5,a=a5}]" in summary(history=TURNS)


def test_P2_10_2_V4_no_turns_wanted_no_turns_told() -> None:
    assert summary(recent_turns=0, history=TURNS) == "intent=A, state=B, user=hi, response=yo"


def test_P2_10_2_V5_a_long_past_gives_way_and_the_answer_stays() -> None:
    long = tuple(Exchange("u" * 300, f"{number}" * 300) for number in range(1, 6))

    found = summary(recent_turns=5, history=long)

    assert len(found) <= 1200
    assert found.endswith("{u=" + "u" * 300 + ",a=" + "5" * 300 + "}], response=yo")
    assert "4444" not in found


def test_P2_10_2_V8_a_document_is_no_response_part() -> None:
    assert summary(payload=JsonPayload({"a": 1})) == "intent=A, state=B, user=hi"


def test_line_breaks_and_runs_of_blanks_become_one_blank() -> None:
    assert (
        summary(user_text="a\n\tb   c", payload=TextPayload("d\r\ne")) == "intent=A, state=B, user=a b c, response=d e"
    )


def test_without_turns_to_drop_the_users_text_is_shortened() -> None:
    found = summary(max_chars=100, user_text="x" * 500, payload=TextPayload("the whole answer"))

    assert len(found) == 100
    assert found.endswith("x…, response=the whole answer")


def test_an_answer_that_is_too_long_itself_is_cut_at_its_end() -> None:
    found = summary(max_chars=100, user_text="question", payload=TextPayload("y" * 500))

    assert len(found) == 100
    assert found.startswith("intent=A, state=B, user=, response=yyy")


@given(
    st.text(max_size=300),
    st.lists(st.builds(Exchange, st.text(max_size=200), st.text(max_size=200)), max_size=8),
    st.text(max_size=300),
    st.integers(100, 600),
    st.integers(0, 8),
)
def test_the_limit_holds_always(text: str, past: list[Exchange], answer: str, limit: int, turns: int) -> None:
    found = summary(turns, limit, user_text=text, history=tuple(past), payload=TextPayload(answer))

    assert len(found) <= limit
    assert len(found.splitlines()) == 1
