from dataclasses import replace

import pytest

from convengine.engine.llm.ask import Question, Reply, ask
from convengine.engine.turn.ports import LlmAnswer
from tests.builders import make_config, make_session, make_snapshot, make_turn
from tests.fakes.models import AnsweringModel

QUESTION = Question("RESPONSE_TEXT", "Be kind.", "Hello?")
ANSWER = LlmAnswer("fine", "test", "small", input_tokens=40, output_tokens=10, latency_ms=600, cost=0.25)


def replies(number: int, model: AnsweringModel | None = None, **settings: str) -> tuple[list[Reply], AnsweringModel]:
    model = model or AnsweringModel([ANSWER])
    turn = make_turn(make_snapshot(*(make_config(f"LLM/{key}", value) for key, value in settings.items())), model=model)
    return [ask(make_session(), turn, QUESTION) for _ in range(number)], model


@pytest.mark.parametrize(
    ("setting", "limit"),
    [
        ("MAX_CALLS_PER_TURN", "2"),
        ("MAX_MS_PER_TURN", "1200"),
        ("MAX_TOKENS_PER_TURN", "100"),
        ("MAX_COST_PER_CONVERSATION", "0.5"),
    ],
)
def test_a_spent_budget_refuses_the_next_question(setting: str, limit: str) -> None:
    found, model = replies(3, **{setting: limit})

    assert [reply.error is None for reply in found] == [True, True, False]
    assert found[2].error is not None
    assert (found[2].error.code, found[2].error.recoverable) == ("LLM_BUDGET_EXCEEDED", False)
    assert f"LLM/{setting}" in found[2].error.message
    assert len(model.requests) == 2


def test_no_limit_on_tokens_or_money_is_the_default() -> None:
    found, _ = replies(5)

    assert all(reply.error is None for reply in found)


def test_what_earlier_turns_have_cost_counts() -> None:
    found, _ = replies(1, AnsweringModel([ANSWER], spent_before=9.0), MAX_COST_PER_CONVERSATION="5")

    assert found[0].error is not None


def test_a_question_gets_no_more_time_and_tries_than_are_left() -> None:
    _, model = replies(2, MAX_MS_PER_TURN="1000", MAX_CALLS_PER_TURN="2")

    assert [(one.timeout_ms, one.total_ms, one.max_attempts) for one in model.requests] == [
        (1000, 1000, 2),
        (400, 400, 1),
    ]


def test_failed_tries_count() -> None:
    failed = replace(ANSWER, error_code="LLM_TIMEOUT")
    found, _ = replies(2, AnsweringModel([replace(ANSWER, earlier=(failed,))]), MAX_CALLS_PER_TURN="2")

    assert found[0].error is None
    assert found[1].error is not None
