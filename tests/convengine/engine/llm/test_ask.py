from dataclasses import replace
from typing import Any

import pytest

from convengine.engine.llm.ask import ModelQuestion, Reply, Stages, ask
from convengine.engine.steps.forms.stages import (
    SCHEMA_EXTRACTION_LLM_ERROR,
    SCHEMA_EXTRACTION_LLM_INPUT,
    SCHEMA_EXTRACTION_LLM_OUTPUT,
)
from convengine.engine.turn.ports import LlmAnswer
from convengine.engine.turn.turn import Turn
from convengine.json_value import Json
from convengine.server.model_clients.offline import NoModel
from tests.builders import make_config, make_session, make_snapshot, make_turn, payload, stages
from tests.fakes.models import AnsweringModel

STAGES = Stages(SCHEMA_EXTRACTION_LLM_INPUT, SCHEMA_EXTRACTION_LLM_OUTPUT, SCHEMA_EXTRACTION_LLM_ERROR)
SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
JSON = ModelQuestion("SCHEMA_EXTRACTION", "Read.", "To Oslo.", json_schema=SCHEMA, strict=True, stages=STAGES)
TEXT = ModelQuestion("RESPONSE_TEXT", "Be kind.", "Hello?", stages=STAGES)
OUT = LlmAnswer(provider="test", model="small", latency_ms=5, error_code="LLM_TIMEOUT", error_message="20 s are over")


def ask_answering(
    question: ModelQuestion, *answers: str | LlmAnswer, **settings: str
) -> tuple[Reply, Turn, AnsweringModel]:
    model = AnsweringModel(answers or ("fine",))
    rows = [make_config(f"LLM/{key}", value) for key, value in settings.items()]
    turn = make_turn(make_snapshot(*rows), model=model)
    return ask(make_session(intent=None, state="IDLE"), turn, question), turn, model


def test_a_text_is_handed_back_and_told() -> None:
    reply, turn, _ = ask_answering(TEXT, "Good day.")

    assert reply == Reply("Good day.")
    assert stages(turn) == ["SCHEMA_EXTRACTION_LLM_INPUT", "SCHEMA_EXTRACTION_LLM_OUTPUT"]
    assert payload(turn, "SCHEMA_EXTRACTION_LLM_INPUT") == {"system_prompt": "Be kind.", "user_prompt": "Hello?"}
    assert payload(turn, "SCHEMA_EXTRACTION_LLM_OUTPUT") == {"output": "Good day."}


def test_the_caller_says_what_is_told_and_under_which_name_the_answer_stands() -> None:
    question = replace(TEXT, audit_payload={"systemPrompt": "x"}, answered="question", beside={"loop": 2})
    _, turn, _ = ask_answering(question, "Which one?")

    assert payload(turn, "SCHEMA_EXTRACTION_LLM_INPUT") == {"systemPrompt": "x"}
    assert payload(turn, "SCHEMA_EXTRACTION_LLM_OUTPUT") == {"question": "Which one?", "loop": 2}


def test_a_call_site_without_stages_leaves_no_event() -> None:
    _, turn, _ = ask_answering(replace(TEXT, stages=Stages()), "Good day.")

    assert stages(turn) == []
    assert len(turn.model_calls) == 1


def test_P2_15_2_V3_fenced_json_is_read() -> None:
    reply, turn, _ = ask_answering(JSON, '```json\n{"city": "Oslo"}\n```')

    assert reply.value == {"city": "Oslo"}
    assert payload(turn, "SCHEMA_EXTRACTION_LLM_OUTPUT") == {"json": {"city": "Oslo"}}


@pytest.mark.parametrize("text", ["sorry", '{"city": "Os', "12", '"Oslo"'])
def test_P2_15_2_V4_an_answer_that_is_no_json_is_invalid(text: str) -> None:
    reply, turn, model = ask_answering(JSON, text)

    assert reply.error is not None
    assert (reply.error.code, reply.error.recoverable) == ("LLM_INVALID_RESPONSE", False)
    assert payload(turn, "SCHEMA_EXTRACTION_LLM_OUTPUT") == {"json": text}
    assert payload(turn, "SCHEMA_EXTRACTION_LLM_ERROR")["exception"] == "InvalidJson"
    assert len(model.requests) == 2


def test_an_unusable_answer_is_given_back_once_with_what_is_wrong() -> None:
    reply, turn, model = ask_answering(JSON, '{"town": "Oslo"}', '{"city": "Oslo"}')

    assert reply == Reply('{"city": "Oslo"}', {"city": "Oslo"})
    assert "'city' is a required property" in model.requests[1].user
    assert '{"town": "Oslo"}' in model.requests[1].user
    assert [call.attempt for call in turn.model_calls] == [1, 2]
    assert [call.answer.error_code for call in turn.model_calls] == ["LLM_SCHEMA_VIOLATION", None]
    assert stages(turn) == ["SCHEMA_EXTRACTION_LLM_INPUT", "SCHEMA_EXTRACTION_LLM_OUTPUT"]


def test_a_schema_is_judged_only_where_the_caller_is_strict() -> None:
    reply, _, model = ask_answering(replace(JSON, strict=False), '{"town": "Oslo"}')

    assert reply.value == {"town": "Oslo"}
    assert not model.requests[0].strict


def test_a_schema_that_is_broken_twice_is_a_violation() -> None:
    reply, turn, _ = ask_answering(JSON, "{}")

    assert reply.error is not None
    assert reply.error.code == "LLM_SCHEMA_VIOLATION"
    assert payload(turn, "SCHEMA_EXTRACTION_LLM_ERROR")["errorCode"] == "LLM_SCHEMA_VIOLATION"


@pytest.mark.parametrize("question", [TEXT, JSON])
def test_an_empty_answer_is_an_error_and_not_asked_again(question: ModelQuestion) -> None:
    reply, turn, model = ask_answering(question, " \n")

    assert reply.error is not None
    assert reply.error.code == "LLM_EMPTY_RESPONSE"
    assert payload(turn, "SCHEMA_EXTRACTION_LLM_ERROR")["message"] == "empty response"
    assert stages(turn) == ["SCHEMA_EXTRACTION_LLM_INPUT", "SCHEMA_EXTRACTION_LLM_ERROR"]
    assert len(model.requests) == 1


@pytest.mark.parametrize("question", [TEXT, JSON])
def test_what_the_service_sent_instead_of_an_answer_is_not_given_back_to_it(question: ModelQuestion) -> None:
    reply, _, model = ask_answering(question, replace(OUT, error_code="LLM_INVALID_RESPONSE"))

    assert reply.error is not None
    assert reply.error.code == "LLM_INVALID_RESPONSE"
    assert len(model.requests) == 1


def test_an_outage_is_told_and_keeps_its_text_from_the_user() -> None:
    reply, turn, _ = ask_answering(TEXT, OUT)

    assert reply.error is not None
    assert (reply.error.code, reply.error.recoverable) == ("LLM_TIMEOUT", True)
    assert payload(turn, "SCHEMA_EXTRACTION_LLM_ERROR") == {
        "errorCode": "LLM_TIMEOUT",
        "message": "20 s are over",
        "exception": "LlmTimeout",
    }
    error = reply.error.error()
    assert (error.code, error.status, error.meta) == ("LLM_TIMEOUT", 504, {"cause": "20 s are over"})
    assert "20 s" not in error.message


def test_P2_15_2_V2_every_try_is_a_call_of_the_log() -> None:
    answer = replace(OUT, earlier=(OUT,))
    _, turn, _ = ask_answering(TEXT, answer)

    assert [(call.attempt, call.answer.error_code) for call in turn.model_calls] == [
        (1, "LLM_TIMEOUT"),
        (2, "LLM_TIMEOUT"),
    ]


def test_P2_15_2_V5_the_temperature_of_a_template_wins() -> None:
    _, turn, model = ask_answering(replace(TEXT, temperature=0.7, template_id=12), "fine", TEMPERATURE="0.1")

    assert model.requests[0].temperature == 0.7
    assert turn.model_calls[0].template_id == 12


def test_settings_may_differ_by_purpose() -> None:
    settings: dict[str, Any] = {"MODEL.RESPONSE_TEXT": "big", "TIMEOUT_SECONDS.RESPONSE_TEXT": "3", "TEMPERATURE": "1"}
    _, _, model = ask_answering(TEXT, "fine", **settings)
    request = model.requests[0]

    assert (request.model, request.timeout_ms, request.temperature) == ("big", 3000, 1.0)
    assert (request.max_attempts, request.total_ms) == (2, 30_000)


def test_context_goes_along_as_data() -> None:
    _, _, model = ask_answering(replace(TEXT, context={"city": "Oslo"}), "fine")

    assert model.requests[0].context_json == '{"city":"Oslo"}'


def test_json_without_a_schema_is_asked_for_as_an_object() -> None:
    reply, _, model = ask_answering(replace(TEXT, want_json=True), '{"a": 1}')

    assert reply.value == {"a": 1}
    assert model.requests[0].json_schema == {"type": "object"}


def test_without_a_model_nothing_is_asked_or_told() -> None:
    turn = make_turn(model=NoModel())
    reply = ask(make_session(), turn, TEXT)

    assert reply.error is not None
    assert reply.error.code == "LLM_NOT_CONFIGURED"
    assert stages(turn) == []


LENIENT = replace(JSON, strict=False, lenient=True)


@pytest.mark.parametrize("first", ["no json", "{}", '{"town": "Oslo"}', "[]"])
def test_a_lenient_caller_gets_the_second_answer(first: str) -> None:
    reply, _, model = ask_answering(LENIENT, first, '{"city": "Oslo"}')

    assert (reply.value, reply.error) == ({"city": "Oslo"}, None)
    assert [request.strict for request in model.requests] == [True, True]


@pytest.mark.parametrize(("second", "value"), [("{}", {}), ('{"town": "Oslo"}', {"town": "Oslo"}), ("no json", None)])
def test_a_lenient_caller_reads_what_it_can_of_an_answer_that_is_wrong_twice(second: str, value: Json) -> None:
    reply, _, model = ask_answering(LENIENT, "{}", second)

    assert (reply.text, reply.value, reply.error is None) == (second, value, value is not None)
    assert len(model.requests) == 2


QUESTION = ModelQuestion("RESPONSE_TEXT", "Be kind.", "Hello?")
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
    answers, model = replies(3, **{setting: limit})

    assert [reply.error is None for reply in answers] == [True, True, False]
    assert answers[2].error is not None
    assert (answers[2].error.code, answers[2].error.recoverable) == ("LLM_BUDGET_EXCEEDED", False)
    assert f"LLM/{setting}" in answers[2].error.message
    assert len(model.requests) == 2


def test_no_limit_on_tokens_or_money_is_the_default() -> None:
    answers, _ = replies(5)

    assert all(reply.error is None for reply in answers)


def test_what_earlier_turns_have_cost_counts() -> None:
    answers, _ = replies(1, AnsweringModel([ANSWER], spent_before=9.0), MAX_COST_PER_CONVERSATION="5")

    assert answers[0].error is not None


def test_a_question_gets_no_more_time_and_tries_than_are_left() -> None:
    _, model = replies(2, MAX_MS_PER_TURN="1000", MAX_CALLS_PER_TURN="2")

    assert [(request.timeout_ms, request.total_ms, request.max_attempts) for request in model.requests] == [
        (1000, 1000, 2),
        (400, 400, 1),
    ]


def test_failed_tries_count() -> None:
    failed = replace(ANSWER, error_code="LLM_TIMEOUT")
    answers, _ = replies(2, AnsweringModel([replace(ANSWER, earlier=(failed,))]), MAX_CALLS_PER_TURN="2")

    assert answers[0].error is None
    assert answers[1].error is not None
