import json
from datetime import UTC, datetime
from typing import Any

import pytest

from convengine.engine.errors import ConvEngineError, PromptContextMissing, UnresolvedPromptVariable
from convengine.engine.forms.form import Form, get_form
from convengine.engine.steps.forms.ask_model import ModelReading, make_optional, read_by_model, sanitise_values
from convengine.engine.turn.ports import LlmAnswer
from convengine.engine.turn.rows import PromptTemplate, Row
from convengine.engine.turn.turn import Turn
from convengine.engine.understanding.span import Situation
from tests.builders import (
    make_config,
    make_intent,
    make_schema,
    make_session,
    make_snapshot,
    make_turn,
    payload,
    stages,
)
from tests.fakes.models import AnsweringModel

LOAN = make_schema(
    "LOAN",
    {"amount": {"type": "number"}, "city": {"type": "string", "enum": ["Dallas", "Irving"]}},
    schema_id=7,
    description="what we need",
)


def template(template_id: int = 3, state: str = "GATE", **values: Any) -> PromptTemplate:
    texts = {"system_prompt": "Extract.", "user_prompt": "Text: {{ user_input }}", "temperature": 0.3}
    scope = {"intent_code": "LOAN", "state_code": state, "response_type": "SCHEMA_JSON"}
    return PromptTemplate(template_id=template_id, **{**scope, **texts, **values})


def read(
    *answers: str | LlmAnswer, rows: tuple[Row, ...] = (template(),), **fields: Any
) -> tuple[ModelReading, Turn, AnsweringModel]:
    model = AnsweringModel(answers)
    turn = make_turn(make_snapshot(make_intent("LOAN"), LOAN, *rows), model=model)
    session = make_session(**{"intent": "LOAN", "state": "GATE", "user_text": "5 in Dallas", **fields})
    return read_by_model(session, turn, LOAN, get_form(turn.snapshot, LOAN)), turn, model


def test_the_model_is_told_the_prompts_the_context_and_the_fields() -> None:
    _, turn, model = read('{"amount": 5}', context={"city": "Irving"})

    (request,) = model.requests
    assert (request.purpose, request.system, request.user) == ("SCHEMA_EXTRACTION", "Extract.", "Text: 5 in Dallas")
    assert json.loads(request.context_json) == {"city": "Irving"}
    assert (request.temperature, request.strict) == (0.3, False)
    assert request.json_schema["properties"] == LOAN.json_schema["properties"]
    assert payload(turn, "SCHEMA_EXTRACTION_LLM_INPUT") == {
        "system_prompt": "Extract.",
        "user_prompt": "Text: 5 in Dallas",
        "schema": request.json_schema,
        "userInput": "5 in Dallas",
    }


def test_the_prompts_know_the_field_that_was_asked_for_and_its_question() -> None:
    prompt = template(user_prompt="{{ asked_field }}: {{ question }} {{ user_input }}")
    asked = {"dialogue": {"asked_field": "city"}}
    last = {"type": "TEXT", "value": "Which city?"}

    _, _, model = read("{}", rows=(prompt,), context=asked, last_assistant=last)
    _, _, own_field = read("{}", rows=(prompt,), context={**asked, "question": "mine"}, last_assistant=last)
    _, _, unasked = read("{}", rows=(prompt,), last_assistant=last)

    assert model.requests[0].user == "city: Which city? 5 in Dallas"
    assert own_field.requests[0].user == "city: mine 5 in Dallas"
    assert unasked.requests[0].user.strip().endswith(":  5 in Dallas")


def test_nothing_is_required_of_the_model() -> None:
    schema = {
        "required": ["a"],
        "properties": {
            "required": {"type": "array", "minItems": 2, "items": {"required": ["b"]}},
            "a": {"anyOf": [{"required": ["c"]}]},
        },
    }

    assert make_optional(schema) == {
        "properties": {"required": {"type": "array", "items": {}}, "a": {"anyOf": [{}]}},
    }


def test_the_facts_of_the_form_are_names_in_the_prompts() -> None:
    prompt = template(user_prompt="{{ missing_fields }} {{ schema_description }} {{ json_schema.type }} {{ schema }}")

    _, _, model = read("{}", rows=(prompt,), context={"city": "Irving", "other": 1})

    assert model.requests[0].user == '["amount"] what we need object {"city":"Irving"}'


def test_P2_5_6_V15_a_field_that_the_schema_does_not_declare_is_left_out() -> None:
    (session, sanitised), turn, _ = read('{"intent_lock": {"locked": false}, "amount": 5}')

    assert sanitised.values == {"amount": 5}
    assert sanitised.invalid == {}
    event = payload(turn, "SCHEMA_EXTRACTION_LLM_OUTPUT")
    assert event["rejected"] == ["intent_lock"]
    assert event["rejectedReasons"] == {"intent_lock": "UNDECLARED"}
    assert event["json"] == session.last_llm_output == {"intent_lock": {"locked": False}, "amount": 5}
    assert session.last_llm_stage == "SCHEMA_EXTRACTION"


def test_a_wrong_value_is_known_as_one() -> None:
    (_, sanitised), _, _ = read('{"amount": "24", "city": "Paris"}')

    assert sanitised.values == {"amount": 24}
    assert sanitised.invalid == {"city": "VALUE_VIOLATES_SCHEMA"}


def test_fences_around_the_answer_are_taken_off() -> None:
    assert read('Here you are:\n```json\n{"amount": 5}\n```')[0].sanitised.values == {"amount": 5}


@pytest.mark.parametrize("answer", ["[1, 2]", '"Dallas"', "I found nothing."])
def test_an_answer_that_is_no_object_adds_nothing_and_the_turn_goes_on(answer: str) -> None:
    (_, sanitised), turn, _ = read(answer)

    assert (sanitised.values, sanitised.fields) == ({}, [])
    assert "SCHEMA_EXTRACTION_LLM_OUTPUT" in stages(turn)


def test_the_trail_of_a_reading() -> None:
    _, turn, _ = read("{}")

    assert stages(turn) == [
        "DECISION", "PROMPT_RENDERING", "PROMPT_RENDERING", "SCHEMA_EXTRACTION_LLM_INPUT",
        "SCHEMA_EXTRACTION_LLM_OUTPUT",
    ]  # fmt: skip
    assert payload(turn, "DECISION")["winner"] == 3


def test_the_template_of_this_state_is_used_before_one_of_any() -> None:
    rows = (template(4, "ANY", system_prompt="any"), template(3), template(5, "OTHER"))

    assert read("{}", rows=rows)[2].requests[0].system == "Extract."
    assert read("{}", rows=(template(4, "ANY", system_prompt="any"),))[2].requests[0].system == "any"


def test_without_a_template_the_turn_fails() -> None:
    with pytest.raises(PromptContextMissing):
        read("{}", rows=(template(intent_code="ANY"), template(4, response_type="TEXT")))


def test_a_prompt_with_an_unknown_name_fails_the_turn() -> None:
    with pytest.raises(UnresolvedPromptVariable):
        read("{}", rows=(template(user_prompt="{{ nope }}"),))


DOWN = LlmAnswer(error_code="LLM_CALL_FAILED", error_message="503")
LATE = LlmAnswer(error_code="LLM_TIMEOUT", error_message="20 s")


@pytest.mark.parametrize(
    ("answer", "code", "recoverable"),
    [(DOWN, "LLM_CALL_FAILED", True), (LATE, "LLM_TIMEOUT", True), ("", "LLM_EMPTY_RESPONSE", False)],
)
def test_a_model_that_is_out_fails_the_turn_with_its_own_error(answer: Any, code: str, recoverable: bool) -> None:
    model = AnsweringModel([answer])
    turn = make_turn(make_snapshot(make_intent("LOAN"), LOAN, template()), model=model)
    session = make_session(intent="LOAN", state="GATE", user_text="5")

    with pytest.raises(ConvEngineError) as caught:
        read_by_model(session, turn, LOAN, get_form(turn.snapshot, LOAN))

    assert (caught.value.code, caught.value.recoverable) == (code, recoverable)
    assert payload(turn, "SCHEMA_EXTRACTION_LLM_ERROR")["errorCode"] == code


@pytest.mark.parametrize("answer", [DOWN, LATE, ""])
def test_or_the_turn_goes_on_with_what_is_known(answer: Any) -> None:
    (session, sanitised), turn, _ = read(
        answer, rows=(template(), make_config("SchemaExtractionStep/ON_LLM_ERROR", "CONTINUE"))
    )

    assert sanitised.values == {}
    assert session.last_llm_stage is None
    assert stages(turn)[-1] == "SCHEMA_EXTRACTION_LLM_ERROR"


def test_a_spent_budget_is_a_model_that_is_out() -> None:
    rows = (template(), make_config("LLM/MAX_CALLS_PER_TURN", "1"))
    turn = make_turn(make_snapshot(make_intent("LOAN"), LOAN, *rows), model=AnsweringModel(["{}"]))
    session = make_session(intent="LOAN", state="GATE", user_text="5")
    read_by_model(session, turn, LOAN, get_form(turn.snapshot, LOAN))

    with pytest.raises(ConvEngineError) as caught:
        read_by_model(session, turn, LOAN, get_form(turn.snapshot, LOAN))

    assert caught.value.code == "LLM_BUDGET_EXCEEDED"


SITUATION = Situation(datetime(2026, 1, 15, 12, tzinfo=UTC), "UTC")
FORM = Form(
    {
        "type": "object",
        "properties": {
            "amount": {"type": "number", "minimum": 1},
            "months": {"type": "integer"},
            "name": {"type": "string"},
            "agreed": {"type": "boolean"},
            "city": {"type": "string", "enum": ["New York", "Dallas"], "x-synonyms": {"Dallas": ["big d"]}},
            "on": {"type": "string", "format": "date"},
            "at": {"type": "string", "format": "date-time"},
            "phone": {"type": "string", "format": "phone"},
            "note": {"type": ["string", "null"]},
            "tags": {"type": "array", "items": {"type": "string"}, "minItems": 2},
            "address": {
                "type": "object",
                "properties": {"city": {"type": "string"}, "zip": {"type": "string"}},
                "required": ["city", "zip"],
            },
            "items": {
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": {"sku": {"type": "string"}, "quantity": {"type": "integer"}},
                    "required": ["sku", "quantity"],
                },
            },
            "free": {"type": "object"},
        },
        "required": ["amount", "city"],
    }
)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ({"amount": 24}, {"amount": 24}),
        ({"amount": "24"}, {"amount": 24}),
        ({"amount": "1,200.50"}, {"amount": 1200.5}),
        ({"months": 24.0}, {"months": 24}),
        ({"months": "24"}, {"months": 24}),
        ({"name": 9912}, {"name": "9912"}),
        ({"name": "  Al "}, {"name": "Al"}),
        ({"agreed": "yes"}, {"agreed": True}),
        ({"agreed": "true"}, {"agreed": True}),
        ({"months": "-5"}, {"months": -5}),
        ({"on": "1 march 2027"}, {"on": "2027-03-01"}),
        ({"at": "2026-05-31T09:30:00+02:00"}, {"at": "2026-05-31T09:30:00+02:00"}),
        ({"phone": "+49 (30) 12-34/567"}, {"phone": "+49301234567"}),
        ({"agreed": False}, {"agreed": False}),
        ({"city": "new_york"}, {"city": "New York"}),
        ({"city": "Big D"}, {"city": "Dallas"}),
        ({"on": "2026-05-01"}, {"on": "2026-05-01"}),
        ({"tags": "red"}, {"tags": ["red"]}),
        ({"tags": ["red", 5]}, {"tags": ["red", "5"]}),
        ({"address": {"zip": "1"}}, {"address": {"zip": "1"}}),
        ({"items": [{"sku": "a"}, {"quantity": "2"}]}, {"items": [{"sku": "a"}, {"quantity": 2}]}),
        ({"free": {"any": 1}}, {"free": {"any": 1}}),
    ],
)
def test_what_fits_or_can_be_made_to_fit_is_kept(value: Any, expected: Any) -> None:
    sanitised = sanitise_values(FORM, value, SITUATION)

    assert sanitised.values == expected
    assert type(next(iter(sanitised.values.values()))) is type(next(iter(expected.values())))
    assert sanitised.rejected == {}


@pytest.mark.parametrize(
    "value",
    [{"amount": None}, {"name": " "}, {"tags": []}, {"address": {}}, {"note": None}, {"name": "null"}, {}, [], "x", 5,
     None, {"address": {"city": ""}}],
)  # fmt: skip
def test_nothing_said_is_no_value_and_no_fault(value: Any) -> None:
    sanitised = sanitise_values(FORM, value, SITUATION)

    assert (sanitised.values, sanitised.fields) == ({}, [])


@pytest.mark.parametrize(
    ("value", "rejected"),
    [
        ({"intent_lock": {"locked": False}}, {"intent_lock": "UNDECLARED"}),
        ({"amount": "much"}, {"amount": "VALUE_INVALID"}),
        ({"amount": True}, {"amount": "VALUE_INVALID"}),
        ({"amount": "NaN"}, {"amount": "VALUE_INVALID"}),
        ({"amount": "Infinity"}, {"amount": "VALUE_INVALID"}),
        ({"amount": "1e999"}, {"amount": "VALUE_INVALID"}),
        ({"amount": 0.5}, {"amount": "VALUE_VIOLATES_SCHEMA"}),
        ({"amount": {"of": 1}}, {"amount": "VALUE_INVALID"}),
        ({"months": 2.5}, {"months": "VALUE_INVALID"}),
        ({"name": True}, {"name": "VALUE_INVALID"}),
        ({"name": ["a"]}, {"name": "VALUE_INVALID"}),
        ({"city": "Paris"}, {"city": "VALUE_VIOLATES_SCHEMA"}),
        ({"on": "someday"}, {"on": "VALUE_INVALID"}),
        ({"on": "03/04/2026"}, {"on": "VALUE_INVALID"}),
        ({"address": "Dallas"}, {"address": "TYPE_UNSUPPORTED"}),
        ({"address": {"city": "Dallas", "approval": True}}, {"address.approval": "UNDECLARED"}),
        ({"items": [{"sku": "a", "x": 1}, "b"]}, {"items.0.x": "UNDECLARED", "items.1": "TYPE_UNSUPPORTED"}),
    ],
)
def test_what_does_not_fit_is_left_out_with_the_reason(value: Any, rejected: Any) -> None:
    assert sanitise_values(FORM, value, SITUATION).rejected == rejected


def test_what_is_kept_is_named_by_its_path() -> None:
    sanitised = sanitise_values(FORM, {"address": {"city": "Dallas"}, "amount": 5, "agreed": 7}, SITUATION)

    assert sanitised.fields == ["address.city", "amount"]
    assert "agreed" not in sanitised.values


def test_an_answer_without_end_is_cut() -> None:
    deep: dict[str, Any] = {"type": "object", "properties": {}}
    deep["properties"]["a"] = deep
    value: dict[str, Any] = {"a": "x"}
    for _ in range(200):
        value = {"a": value}

    assert sanitise_values(Form({"type": "object", "properties": {"a": deep}}), value, SITUATION).fields == []
