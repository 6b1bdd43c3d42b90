from typing import Any

import pytest

from convengine.engine.memory.model_summary import get_model_summary, is_due, rewrite_summaries
from convengine.engine.steps.memory.step import MemoryStep
from convengine.engine.turn.ports import LlmAnswer
from convengine.engine.turn.rows import Row
from convengine.engine.turn.session import Exchange, Session
from tests.builders import make_config, make_session, make_snapshot, make_turn, payload, stages
from tests.fakes.models import AnsweringModel

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
