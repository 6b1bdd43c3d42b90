from typing import Any

import pytest

from convengine.engine.prompts.render import render_lenient, render_strict
from convengine.engine.prompts.variables import ALIASES, build_variables, list_known_names
from convengine.engine.turn.session import Clarification, Exchange
from tests.builders import make_intent, make_schema, make_session, make_snapshot, make_turn

SNAPSHOT = make_snapshot(make_intent("LOAN", description="Apply for a loan"), make_intent("OFF", enabled=False))


def variables(call: dict[str, Any] | None = None, **session: Any) -> dict[str, Any]:
    return build_variables(make_session(**session), make_turn(SNAPSHOT), **(call or {}))


def test_every_alias_of_one_thing_has_one_value() -> None:
    found = variables(
        {"mcp_tools": ["t"], "session_units": [1]}, user_text="hi", standalone_query="q", context={"k": "v"}
    )

    for group in ALIASES:
        assert len({repr(found[name]) for name in group}) == 1, group
    assert found["userMessage"] == "hi"
    assert found["finalUserInput"] == "q"
    assert found["query_rewrite"] == "q"
    assert found["context_json"] == {"k": "v"}
    assert found["tool_list"] == ["t"]


def test_R68_schema_names_are_the_definition_or_the_values() -> None:
    schema = make_schema("LOAN", {"amount": {"type": "number"}})
    found = variables(resolved_schema=schema, context={"amount": 5, "mcp": {}})

    for name in ("json_schema", "jsonSchema", "data_schema", "dataSchema"):
        assert found[name] == schema.json_schema
    for name in ("schema", "schemaJson", "schema_json"):
        assert found[name] == {"amount": 5}


def test_facts_win_over_params_params_over_context() -> None:
    found = variables(
        state="IDLE",
        context={"state": "from context", "amount": 1, "colour": "red"},
        input_params={"state": "from params", "amount": 2, "missing_fields": ["a"]},
    )

    assert (found["state"], found["amount"], found["colour"]) == ("IDLE", 2, "red")
    assert found["missing_fields"] == ["a"]
    assert found["inputParams"]["amount"] == 2


def test_the_call_wins_over_everything() -> None:
    found = variables(
        {"input": "typed", "colour": "blue", "metadata": {"x": 1}}, user_text="hi", context={"colour": "red"}
    )

    assert (found["user_input"], found["colour"], found["metadata"]) == ("typed", "blue", {"x": 1})


def test_params_that_nest_the_session_are_only_in_the_raw_ones() -> None:
    found = variables(input_params={"schema_field_details": {"a": 1}, "b": 2})

    assert found["safeInputParams"] == {"b": 2}
    assert found["rawInputParams"] == {"schema_field_details": {"a": 1}, "b": 2}
    assert found["schema_field_details"] == {"a": 1}


def test_time_is_that_of_the_clock() -> None:
    found = variables()

    assert found["current_date"] == "2026-01-15"
    assert found["current_datetime"] == "2026-01-15T12:00:00+00:00"
    assert found["currentYear"] == 2026
    assert found["current_timezone"] == "UTC"


def test_history_question_and_intents_are_there() -> None:
    found = variables(
        history=(Exchange("hi", "Hello."), Exchange("loan", "How much?")),
        clarification=Clarification("Which one?", "AGENT"),
    )

    assert found["history"][0] == {"user": "hi", "assistant": "Hello."}
    assert found["pending_clarification"] == {"question": "Which one?", "reason": "AGENT"}
    assert found["allowed_intents"] == [
        {
            "code": "LOAN",
            "name": "Loan",
            "displayName": "",
            "description": "Apply for a loan",
            "llmHint": None,
            "priority": 100,
        }
    ]


def test_container_data_is_what_the_context_holds() -> None:
    found = variables(context={"container_data": {"storeHours": {"open": True}}}, container_data={"open": True})

    assert found["container_data"] == found["containerData"] == {"storeHours": {"open": True}}


@pytest.mark.parametrize("name", ["promptVars", "session", "conversationId", "intent", "turnNo", "stepInfos"])
def test_the_fixed_names_are_there(name: str) -> None:
    assert name in variables()


def test_every_known_name_renders_strictly_when_the_call_gives_its_part() -> None:
    call = {"mcp_tools": [], "session_units": []}
    prompts = {"user_prompt": " ".join(f"{{{{{name}}}}}" for name in sorted(list_known_names()))}

    assert render_strict(prompts, variables(call))


def test_P2_9_8_V14_the_context_prints_as_json() -> None:
    assert render_lenient("{{context}}", variables(context={"k": "v"})).text == '{"k":"v"}'
