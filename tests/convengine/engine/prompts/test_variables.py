from datetime import UTC, datetime
from typing import Any

import pytest

from convengine.engine.prompts.render import render_lenient, render_strict
from convengine.engine.prompts.variables import ALIASES, build_variables, list_known_names
from convengine.engine.turn.session import Clarification, Exchange
from convengine.testing.factories import FrozenClock
from tests.builders import make_config, make_intent, make_schema, make_session, make_snapshot, make_turn

SNAPSHOT = make_snapshot(make_intent("LOAN", description="Apply for a loan"), make_intent("OFF", enabled=False))


def variables(call: dict[str, Any] | None = None, **session: Any) -> dict[str, Any]:
    return build_variables(make_session(**session), make_turn(SNAPSHOT), **(call or {}))


def test_every_alias_of_one_thing_has_one_value() -> None:
    values = variables(
        {"mcp_tools": ["t"], "session_units": [1]}, user_text="hi", standalone_query="q", context={"k": "v"}
    )

    for group in ALIASES:
        assert len({repr(values[name]) for name in group}) == 1, group
    assert values["userMessage"] == "hi"
    assert values["finalUserInput"] == "q"
    assert values["query_rewrite"] == "q"
    assert values["context_json"] == {"k": "v"}
    assert values["tool_list"] == ["t"]


def test_R68_schema_names_are_the_definition_or_the_values() -> None:
    schema = make_schema("LOAN", {"amount": {"type": "number"}})
    values = variables(resolved_schema=schema, context={"amount": 5, "mcp": {}})

    for name in ("json_schema", "jsonSchema", "data_schema", "dataSchema"):
        assert values[name] == schema.json_schema
    for name in ("schema", "schemaJson", "schema_json"):
        assert values[name] == {"amount": 5}


def test_facts_win_over_params_params_over_context() -> None:
    values = variables(
        state="IDLE",
        context={"state": "from context", "amount": 1, "colour": "red"},
        input_params={"state": "from params", "amount": 2, "missing_fields": ["a"]},
    )

    assert (values["state"], values["amount"], values["colour"]) == ("IDLE", 2, "red")
    assert values["missing_fields"] == ["a"]
    assert values["inputParams"]["amount"] == 2


def test_the_call_wins_over_everything() -> None:
    values = variables(
        {"input": "typed", "colour": "blue", "metadata": {"x": 1}}, user_text="hi", context={"colour": "red"}
    )

    assert (values["user_input"], values["colour"], values["metadata"]) == ("typed", "blue", {"x": 1})


def test_params_that_nest_the_session_are_only_in_the_raw_ones() -> None:
    values = variables(input_params={"schema_field_details": {"a": 1}, "b": 2})

    assert values["safeInputParams"] == {"b": 2}
    assert values["rawInputParams"] == {"schema_field_details": {"a": 1}, "b": 2}
    assert values["schema_field_details"] == {"a": 1}


def test_time_is_that_of_the_clock() -> None:
    values = variables()

    assert values["current_date"] == "2026-01-15"
    assert values["current_datetime"] == "2026-01-15T12:00:00+00:00"
    assert values["currentYear"] == 2026
    assert values["current_timezone"] == "UTC"


def test_the_day_is_that_of_the_users_and_not_of_the_system() -> None:
    late = FrozenClock(datetime(2026, 1, 1, 3, 30, tzinfo=UTC))
    turn = make_turn(make_snapshot(make_config("Session/TIME_ZONE", "America/New_York")), clock=late)

    values = build_variables(make_session(), turn)

    assert (values["current_date"], values["current_year"], values["current_timezone"]) == ("2025-12-31", 2025, "EST")
    assert values["current_datetime"] == "2025-12-31T22:30:00-05:00"
    assert values["current_system_datetime"] == "2026-01-01T03:30:00+00:00"
    assert values["current_system_timezone"] == "UTC"


def test_history_question_and_intents_are_there() -> None:
    values = variables(
        history=(Exchange("hi", "Hello."), Exchange("loan", "How much?")),
        clarification=Clarification("Which one?", "AGENT"),
    )

    assert values["history"][0] == {"user": "hi", "assistant": "Hello."}
    assert values["pending_clarification"] == {"question": "Which one?", "reason": "AGENT"}
    assert values["allowed_intents"] == [
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
    values = variables(context={"container_data": {"storeHours": {"open": True}}}, container_data={"open": True})

    assert values["container_data"] == values["containerData"] == {"storeHours": {"open": True}}


@pytest.mark.parametrize("name", ["promptVars", "session", "conversationId", "intent", "turnNo", "stepInfos"])
def test_the_fixed_names_are_there(name: str) -> None:
    assert name in variables()


def test_every_known_name_renders_strictly_when_the_call_gives_its_part() -> None:
    call = {"mcp_tools": [], "session_units": []}
    prompts = {"user_prompt": " ".join(f"{{{{{name}}}}}" for name in sorted(list_known_names()))}

    assert render_strict(prompts, variables(call))


def test_P2_9_8_V14_the_context_prints_as_json() -> None:
    assert render_lenient("{{context}}", variables(context={"k": "v"})).text == '{"k":"v"}'
