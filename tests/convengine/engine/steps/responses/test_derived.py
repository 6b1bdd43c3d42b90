import json
from typing import Any

import pytest

from convengine.engine.errors import ConvEngineError, LlmNotConfigured, PromptContextMissing, UnresolvedPromptVariable
from convengine.engine.steps.responses.derived import derive_payload
from convengine.engine.turn.payload import JsonPayload, TextPayload
from convengine.engine.turn.ports import LlmAnswer
from convengine.engine.turn.rows import PromptTemplate, Row
from convengine.engine.turn.session import Exchange
from convengine.engine.turn.turn import Turn
from tests.builders import (
    make_config,
    make_intent,
    make_response,
    make_schema,
    make_session,
    make_snapshot,
    make_turn,
    payload,
    stages,
)
from tests.fakes.models import AnsweringModel

DOWN = LlmAnswer(error_code="LLM_CALL_FAILED", error_message="503")


def template(template_id: int = 3, state: str = "CONFIRM", **values: Any) -> PromptTemplate:
    texts = {"system_prompt": "Be brief.", "user_prompt": "Q: {{ user_input }}", "temperature": 0.3}
    scope = {"intent_code": "LOAN", "state_code": state, "response_type": "TEXT"}
    return PromptTemplate(template_id=template_id, **{**scope, **texts, **values})


def row(**values: Any) -> Any:
    return make_response(**{"exact_text": None, "response_type": "DERIVED", "response_id": 8, **values})


def write(
    *answers: str | LlmAnswer, rows: tuple[Row, ...] = (template(),), response: Any = None, **fields: Any
) -> tuple[Any, Turn, AnsweringModel]:
    model = AnsweringModel(answers)
    turn = make_turn(make_snapshot(make_intent("LOAN"), *rows), model=model)
    session = make_session(**{"intent": "LOAN", "state": "CONFIRM", "user_text": "how much?", **fields})
    return derive_payload(response or row(), session, turn), turn, model


def test_P2_9_8_V8_the_best_template_writes_with_the_hint_behind_it() -> None:
    rows = (template(4, "ANY", system_prompt="any"), template(3))

    answer, turn, model = write("Ten.\n", rows=rows, response=row(derivation_hint="To {{ intent }}."))

    assert answer == TextPayload("Ten.")
    (request,) = model.requests
    assert (request.purpose, request.system, request.user) == (
        "RESPONSE_TEXT",
        "Be brief.",
        "Q: how much?\n\nTo LOAN.",
    )
    assert (request.temperature, request.json_schema) == (0.3, None)
    told = payload(turn, "RESOLVE_RESPONSE_LLM_INPUT")
    assert (told["user_prompt"], told["derivation_hint"]) == ("Q: how much?", "To LOAN.")
    assert payload(turn, "RESOLVE_RESPONSE_LLM_OUTPUT") == {"output": "Ten.\n"}


def test_the_trail_of_a_written_answer() -> None:
    _, turn, _ = write("Ten.")

    assert stages(turn) == [
        "DECISION", "RESOLVE_RESPONSE_SELECTED", "PROMPT_RENDERING", "PROMPT_RENDERING",
        "RESOLVE_RESPONSE_LLM_INPUT", "RESOLVE_RESPONSE_LLM_OUTPUT",
    ]  # fmt: skip
    assert payload(turn, "RESOLVE_RESPONSE_SELECTED") == {
        "templateId": 3, "intent": "LOAN", "outputFormat": "TEXT", "resolver": "DERIVED_TEXT",
    }  # fmt: skip


def test_P2_9_8_V9_an_unknown_name_in_a_prompt_is_an_error_that_names_it() -> None:
    with pytest.raises(UnresolvedPromptVariable) as caught:
        write("x", rows=(template(user_prompt="{{nope}}"),))

    assert caught.value.meta["missingPromptVars"] == ["nope"]
    assert caught.value.meta["promptSelected"] == {"templateId": 3}


def test_P2_9_8_V10_what_the_user_typed_is_no_template() -> None:
    answer, _, model = write("Never mind.", user_text="what is {{x}}?")

    assert answer == TextPayload("Never mind.")
    assert model.requests[0].user == "Q: what is {{x}}?"


@pytest.mark.parametrize(
    ("prompt", "rendered"),
    [
        ("{{ standalone_query|if_blank(user_input) }}", "r"),
        ("{{mcp_tools}}", '[{"tool_code":"a"}]'),
        ("{{context}}", '{"k":"<v>"}'),
    ],
    ids=["P2_9_8_V12", "P2_9_8_V13", "P2_9_8_V14"],
)
def test_names_and_json_values_render_as_they_did(prompt: str, rendered: str) -> None:
    fields = {"standalone_query": "r", "input_params": {"mcp_tools": [{"tool_code": "a"}]}, "context": {"k": "<v>"}}

    assert write("x", rows=(template(user_prompt=prompt),), **fields)[2].requests[0].user == rendered


def test_a_rule_may_add_a_hint_which_is_taken_as_it_is() -> None:
    _, _, model = write("x", response=row(derivation_hint="One."), input_params={"response_hint": "Two {{x}}."})

    assert model.requests[0].user == "Q: how much?\n\nOne.\n\nTwo {{x}}."


def test_the_model_is_given_the_context_and_the_form() -> None:
    schema = make_schema("LOAN", {"amount": {"type": "number"}})
    _, _, bare = write("x", context={"amount": 5, "mcp": {"toolExecution": {"a": 1}}})
    _, _, with_form = write("x", context={"amount": 5, "b": 1}, resolved_schema=schema)

    assert json.loads(bare.requests[0].context_json) == {"amount": 5, "mcp": {"toolExecution": {"a": 1}}}
    assert json.loads(with_form.requests[0].context_json) == {
        "amount": 5,
        "b": 1,
        "jsonSchema": schema.json_schema,
        "schemaJson": {"amount": 5},
    }


def test_the_prompt_sees_the_newest_turns_cut_to_a_length() -> None:
    history = tuple(Exchange(f"u{n}", "a" * 3000) for n in range(5))
    prompt = template(user_prompt="{% for one in history %}{{ one.user }}:{{ one.assistant|length }} {% endfor %}")

    def show_history(turns: str) -> str:
        rows = (prompt, make_config("ResponseResolutionStep/HISTORY_TURNS", turns))
        return write("x", rows=rows, history=history)[2].requests[0].user

    assert show_history("2") == "u3:2000 u4:2000 "
    assert show_history("0") == ""
    assert show_history("9").startswith("u0:2000")


JSON = template(response_type="JSON")
SHAPE = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}


def test_json_answers_are_held_to_their_schema() -> None:
    answer, turn, model = write(
        '```json\n{"n": 5}\n```', rows=(JSON,), response=row(output_format="JSON", json_schema=SHAPE)
    )

    assert answer == JsonPayload({"n": 5})
    (request,) = model.requests
    assert (request.purpose, request.json_schema, request.strict) == ("RESPONSE_JSON", SHAPE, True)
    assert payload(turn, "RESOLVE_RESPONSE_LLM_INPUT")["schema"] == SHAPE
    assert payload(turn, "RESOLVE_RESPONSE_LLM_OUTPUT") == {"output": {"n": 5}}


def test_one_that_breaks_it_is_repaired_once() -> None:
    answer, _, model = write(
        '{"n": "x"}', '{"n": 5}', rows=(JSON,), response=row(output_format="JSON", json_schema=SHAPE)
    )

    assert answer == JsonPayload({"n": 5})
    assert len(model.requests) == 2


@pytest.mark.parametrize(
    ("said", "code"),
    [('{"n": "x"}', "LLM_SCHEMA_VIOLATION"), ("sorry", "LLM_INVALID_RESPONSE"), ("", "LLM_EMPTY_RESPONSE")],
)
def test_and_then_fails_the_turn(said: str, code: str) -> None:
    with pytest.raises(ConvEngineError) as caught:
        write(said, rows=(JSON,), response=row(output_format="JSON", json_schema=SHAPE))

    assert (caught.value.code, caught.value.recoverable) == (code, False)


def test_json_without_a_schema_is_any_document() -> None:
    assert write("[1, 2]", rows=(JSON,), response=row(output_format="JSON"))[0] == JsonPayload([1, 2])


def test_a_model_that_is_out_fails_the_turn() -> None:
    with pytest.raises(ConvEngineError) as caught:
        write(DOWN)

    assert (caught.value.code, caught.value.recoverable, caught.value.meta["responseId"]) == (
        "LLM_CALL_FAILED",
        True,
        8,
    )


def test_unless_the_row_has_a_text_to_fall_back_to() -> None:
    answer, turn, _ = write(DOWN, response=row(exact_text="Call us."))

    assert answer is None
    assert stages(turn)[-1] == "RESOLVE_RESPONSE_LLM_ERROR"
    assert payload(turn, "RESOLVE_RESPONSE_LLM_ERROR")["errorCode"] == "LLM_CALL_FAILED"


def test_without_a_template_the_turn_fails() -> None:
    with pytest.raises(PromptContextMissing):
        write("x", rows=(JSON,))


def test_without_a_model_nothing_is_chosen() -> None:
    turn = make_turn()
    session = make_session(intent="LOAN", state="CONFIRM")

    assert derive_payload(row(exact_text="Call us."), session, turn) is None
    with pytest.raises(LlmNotConfigured, match="Answer 8 should be written by a model"):
        derive_payload(row(), session, turn)
    assert stages(turn) == []
