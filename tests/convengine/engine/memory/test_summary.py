from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from convengine.engine.memory.summary import (
    build_branch,
    build_session_summary,
    get_model_summary,
    is_due,
    recall_memory,
    rewrite_summaries,
)
from convengine.engine.steps.memory.step import MemoryStep
from convengine.engine.turn.payload import JsonPayload, TextPayload
from convengine.engine.turn.ports import LlmAnswer, MemoryAnswer, StoreFault
from convengine.engine.turn.rows import Row
from convengine.engine.turn.session import Exchange, Session
from convengine.engine.turn.turn import Turn
from tests.builders import make_config, make_session, make_snapshot, make_turn, payload, stages
from tests.fakes.models import AnsweringModel
from tests.fakes.ports import FixedMemory

MODE = make_config("MemoryStep/SUMMARY_MODE", "LLM")
OFTEN = make_config("MemoryStep/LLM_EVERY_TURNS", "4")
SUMMARY = make_config("Session/SUMMARY_WITH_LLM", "true")
HISTORY = tuple(Exchange(f"u{n}", f"a{n}") for n in range(1, 5))
BUILT = "GOAL: Loans\nENTITIES: amount=5\nDECISIONS: none\nPENDING: none\nTURNS: 5"
DOWN = LlmAnswer(error_code="LLM_CALL_FAILED", error_message="503")


def begin(*answers: Any, rows: tuple[Row, ...] = (MODE,), turn_no: int = 5, **fields: Any) -> tuple[Session, Any, Any]:
    model = AnsweringModel(answers)
    turn = make_turn(make_snapshot(*rows), model=model if answers else None, turn_no=turn_no)
    values = {
        "turn_no": turn_no, "user_text": "u5", "last_assistant": {"type": "TEXT", "value": "a5"}, "history": HISTORY,
        "context": {"memory": {"session_summary": "so far", "recalled_summary": "old"}, "amount": 5},
        "context_summary": BUILT,
    }  # fmt: skip
    return make_session(**{**values, **fields}), turn, model


@pytest.mark.parametrize(
    ("rows", "fields", "expected"),
    [
        ((MODE,), {}, True),
        ((), {}, False),
        ((MODE, make_config("MemoryStep/ENABLED", "false")), {}, False),
        ((MODE,), {"history": HISTORY[:3]}, False),
        ((MODE, make_config("MemoryStep/RECENT_TURNS_FOR_SUMMARY", "2")), {"history": HISTORY[:3]}, True),
        ((MODE,), {"context": {"memory": {"written_after_turn": 1}}}, False),
        ((MODE,), {"context": {"memory": {"written_after_turn": 0}}}, True),
        ((MODE, OFTEN), {"context": {"memory": {"written_after_turn": 1}}}, True),
        ((SUMMARY,), {"history": ()}, True),
    ],
)  # fmt: skip
def test_a_model_writes_only_where_it_may_and_not_after_every_turn(rows: Any, fields: Any, expected: bool) -> None:
    session, turn, _ = begin("x", rows=rows, **fields)

    assert is_due(session, turn) is expected


def test_without_a_model_nothing_is_due() -> None:
    session, turn, _ = begin(rows=(MODE, SUMMARY))

    assert not is_due(session, turn)


def test_the_model_folds_the_turns_into_the_summary_so_far() -> None:
    session, turn, model = begin("The user\n wants  a loan.")
    after = rewrite_summaries(session, turn)

    assert after.context["memory"] == {
        "session_summary": "The user wants a loan.", "recalled_summary": "old", "written_after_turn": 5,
    }  # fmt: skip
    assert after.context["amount"] == 5
    (request,) = model.requests
    assert request.purpose == "MEMORY"
    assert "so far" in request.user
    assert '{"user":"u1","assistant":"a1"}' in request.user
    assert '{"user":"u5","assistant":"a5"}' in request.user
    assert after.history == session.history
    assert [stage for stage in stages(turn) if stage.startswith("MEMORY")] == ["MEMORY_LLM_INPUT", "MEMORY_LLM_OUTPUT"]


def test_the_next_time_it_is_given_the_newer_turns_only() -> None:
    session, turn, model = begin("x", turn_no=9, context={"memory": {"session_summary": "s", "written_after_turn": 7}},
                                 rows=(MODE, make_config("MemoryStep/LLM_EVERY_TURNS", "2")))  # fmt: skip
    rewrite_summaries(session, turn)

    assert '"u4"' in model.requests[0].user
    assert '"u5"' in model.requests[0].user
    assert '"u3"' not in model.requests[0].user


def test_the_summary_has_its_greatest_length() -> None:
    session, turn, _ = begin("x" * 500, rows=(MODE, make_config("MemoryStep/SUMMARY_MAX_CHARS", "100")))

    assert len(rewrite_summaries(session, turn).context["memory"]["session_summary"]) == 100


@pytest.mark.parametrize("answer", [DOWN, ""])
def test_a_model_that_is_out_leaves_the_old_summary(answer: Any) -> None:
    session, turn, _ = begin(answer)

    assert rewrite_summaries(session, turn) is session
    assert stages(turn)[-1] == "MEMORY_LLM_ERROR"


def test_so_do_prompts_with_a_fault() -> None:
    session, turn, _ = begin("x", rows=(MODE, make_config("MemoryStep/USER_PROMPT", "{{ nope }}")))

    assert rewrite_summaries(session, turn) is session
    assert payload(turn, "MEMORY_LLM_ERROR")["missingPromptVars"] == ["nope"]


def test_what_a_model_wrote_stands_until_it_writes_again() -> None:
    context = {"memory": {"session_summary": "by the model", "written_after_turn": 3}}
    session, turn, _ = begin("x", context=context)

    assert get_model_summary(session, turn) == "by the model"
    after = MemoryStep().execute(session, turn).session
    assert after.context["memory"] == context["memory"]
    assert after.input_params["memory_session_summary"] == "by the model"


def test_back_in_template_mode_the_engine_writes_again() -> None:
    context = {"memory": {"session_summary": "by the model", "written_after_turn": 3}}
    session, turn, _ = begin("x", context=context, rows=())
    after = MemoryStep().execute(session, turn).session

    assert after.context["memory"]["session_summary"].startswith("intent=UNKNOWN")
    assert "written_after_turn" not in after.context["memory"]


# --- the context summary ----------------------------------------------------------------------------------------

LINES = "GOAL: A loan of 5\nENTITIES: Ann, 5\nDECISIONS: NONE\nPENDING: the address"


def test_the_model_writes_the_four_lines_and_the_engine_counts() -> None:
    session, turn, model = begin(LINES, rows=(SUMMARY,))

    assert rewrite_summaries(session, turn).context_summary == (
        "GOAL: A loan of 5\nENTITIES: Ann, 5\nDECISIONS: none\nPENDING: the address\nTURNS: 5"
    )
    (request,) = model.requests
    assert request.purpose == "SUMMARY"
    assert BUILT in request.user
    assert "u5" in request.user
    assert payload(turn, "MEMORY_LLM_INPUT")["purpose"] == "SUMMARY"


def test_its_lines_have_their_shares() -> None:
    session, turn, _ = begin(LINES.replace("A loan", "loan " * 100), rows=(SUMMARY,))
    summary = rewrite_summaries(session, turn).context_summary

    assert len(summary) <= 1000
    assert summary.split("\n")[0].endswith("…")


@pytest.mark.parametrize(
    "answer", ["A loan.", LINES.replace("DECISIONS", "CHOICES"), "Sure!\n" + LINES, LINES + "\nX: y"]
)
def test_another_shape_leaves_the_built_one(answer: str) -> None:
    session, turn, _ = begin(answer, rows=(SUMMARY,))

    assert rewrite_summaries(session, turn) is session
    assert payload(turn, "MEMORY_LLM_ERROR")["errorCode"] == "LLM_INVALID_RESPONSE"


def test_a_line_of_turns_of_its_own_is_passed_over() -> None:
    session, turn, _ = begin(LINES + "\nTURNS: 99\n", rows=(SUMMARY,))

    assert rewrite_summaries(session, turn).context_summary.endswith("TURNS: 5")


def test_both_may_be_written_after_one_turn() -> None:
    session, turn, model = begin("A paragraph.", LINES, rows=(MODE, SUMMARY))
    after = rewrite_summaries(session, turn)

    assert after.context["memory"]["session_summary"] == "A paragraph."
    assert after.context_summary.startswith("GOAL: A loan of 5")
    assert [request.purpose for request in model.requests] == ["MEMORY", "SUMMARY"]


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

    result = summary(recent_turns=5, history=long)

    assert len(result) <= 1200
    assert result.endswith("{u=" + "u" * 300 + ",a=" + "5" * 300 + "}], response=yo")
    assert "4444" not in result


def test_P2_10_2_V8_a_document_is_no_response_part() -> None:
    assert summary(payload=JsonPayload({"a": 1})) == "intent=A, state=B, user=hi"


def test_line_breaks_and_runs_of_blanks_become_one_blank() -> None:
    assert (
        summary(user_text="a\n\tb   c", payload=TextPayload("d\r\ne")) == "intent=A, state=B, user=a b c, response=d e"
    )


def test_without_turns_to_drop_the_users_text_is_shortened() -> None:
    result = summary(max_chars=100, user_text="x" * 500, payload=TextPayload("the whole answer"))

    assert len(result) == 100
    assert result.endswith("x…, response=the whole answer")


def test_an_answer_that_is_too_long_itself_is_cut_at_its_end() -> None:
    result = summary(max_chars=100, user_text="question", payload=TextPayload("y" * 500))

    assert len(result) == 100
    assert result.startswith("intent=A, state=B, user=, response=yyy")


@given(
    st.text(max_size=300),
    st.lists(st.builds(Exchange, st.text(max_size=200), st.text(max_size=200)), max_size=8),
    st.text(max_size=300),
    st.integers(100, 600),
    st.integers(0, 8),
)
def test_the_limit_holds_always(text: str, past: list[Exchange], answer: str, limit: int, turns: int) -> None:
    result = summary(turns, limit, user_text=text, history=tuple(past), payload=TextPayload(answer))

    assert len(result) <= limit
    assert len(result.splitlines()) == 1


OWN = {"memory": {"session_summary": "own"}}


def run(
    answer: MemoryAnswer | None = None, earlier: str | None = None, *rows: Any, **fields: Any
) -> tuple[Session, Turn]:
    memory = FixedMemory(answer or MemoryAnswer())
    turn = make_turn(make_snapshot(*rows), memory=memory, loaded={"memory_recall": earlier})
    return recall_memory(make_session(**fields), turn), turn


@pytest.mark.parametrize(
    ("store", "context", "earlier", "recalled"),
    [
        ("store", OWN, "earlier", "store"),
        (None, OWN, "earlier", "own"),
        (None, {}, "earlier", "earlier"),
        (None, {"memory": "text"}, None, None),
        (None, {}, None, None),
    ],
)
def test_what_is_remembered_is_looked_for_from_the_nearest_place_on(
    store: str | None, context: Any, earlier: str | None, recalled: str | None
) -> None:
    session, _ = run(MemoryAnswer(store), earlier, context=context)

    assert session.input_params.get("memory_recall") == recalled


@pytest.mark.parametrize(
    ("store", "context", "earlier", "branch"),
    [
        (None, {}, "earlier", {"recalled_summary": "earlier"}),
        ("store", OWN, None, {"session_summary": "own", "recalled_summary": "store"}),
        (None, OWN, None, {"session_summary": "own"}),
    ],
)
def test_what_comes_from_elsewhere_is_in_the_context_from_the_start(
    store: str | None, context: Any, earlier: str | None, branch: Any
) -> None:
    session, _ = run(MemoryAnswer(store), earlier, context=context)

    assert session.context["memory"] == branch


def test_P2_10_2_V6_a_store_that_fails_is_told_and_the_next_one_heard() -> None:
    session, turn = run(MemoryAnswer("x", ("second",), (StoreFault("first", "OSError", "down"),)))

    assert session.input_params["memory_recall"] == "x"
    assert stages(turn) == ["MEMORY_STORE_ERROR"]
    assert payload(turn, "MEMORY_STORE_ERROR") == {
        "store": "first", "operation": "read", "errorType": "OSError", "errorMessage": "down",
    }  # fmt: skip


def test_switched_off_nothing_is_remembered() -> None:
    session, _ = run(MemoryAnswer("x"), "earlier", make_config("MemoryStep/ENABLED", "false"), context=OWN)

    assert session.input_params == {}


def branch(recall: str | None, **fields: Any) -> Any:
    params = {"memory_recall": recall} if recall else {}
    return build_branch(make_session(input_params=params, **fields), "new")


def test_the_own_summary_is_no_recalled_one() -> None:
    assert branch("own", context=OWN) == {"session_summary": "new"}
    assert branch(None) == {"session_summary": "new"}


def test_what_came_from_elsewhere_stays_for_the_session() -> None:
    first = branch("elsewhere")

    assert first == {"session_summary": "new", "recalled_summary": "elsewhere"}
    assert branch("new", context={"memory": first})["recalled_summary"] == "elsewhere"
