"""Save checks of output schemas."""

from dataclasses import replace
from typing import Any

import pytest

from convengine.engine.turn import rows
from tests.builders import make_config
from tests.config_admin.validation.shop import (
    CONFIRMATION,
    EXTRACTION,
    EXTRACTION_ANYWHERE,
    SCHEMA,
    codes,
    findings,
    list_messages,
)

EXTRACTIONS = [EXTRACTION, EXTRACTION_ANYWHERE]


def of(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(properties)}


@pytest.mark.parametrize("value", ["ANY", "", None])
def test_a_schema_belongs_to_one_intent(value: Any) -> None:
    assert list_messages(replace(SCHEMA, intent_code=value)) == [
        ("SCHEMA_INTENT_ANY", "A form belongs to one intent. Choose the intent.")
    ]


def test_other_schema_languages_are_refused() -> None:
    assert codes(replace(SCHEMA, schema_type="XML")) == ["CHOICE_UNKNOWN"]


@pytest.mark.parametrize(
    "schema",
    [
        None,
        [],
        {},
        {"type": "object"},
        {"type": "object", "properties": []},
        {"type": "array", "properties": {"a": {}}},
    ],
)
def test_a_schema_is_an_object_with_properties(schema: Any) -> None:
    assert list_messages(replace(SCHEMA, json_schema=schema)) == [
        ("SCHEMA_SHAPE", 'The JSON Schema must be an object with "type": "object" and "properties".')
    ]


def test_a_form_may_have_no_fields() -> None:
    assert list_messages(replace(SCHEMA, json_schema={"type": "object", "properties": {}})) == []


def test_a_schema_is_valid_in_its_own_language() -> None:
    ((code, message),) = list_messages(replace(SCHEMA, json_schema=of(a={"type": "text"})))
    assert code == "SHAPE_INVALID"
    assert message.startswith("This is not a valid JSON Schema: ")
    assert "properties/a/type" in message


def test_what_is_required_is_declared_at_every_depth() -> None:
    address = {"type": "object", "properties": {"city": {}}, "required": ["town"]}
    schema = {**of(address=address), "required": ["address", "name"]}
    assert list_messages(replace(SCHEMA, json_schema=schema)) == [
        ("SCHEMA_REQUIRED", '"required" names name, which is not in "properties".'),
        ("SCHEMA_REQUIRED", '"required" names town, which is not in "properties".'),
    ]


def test_texts_of_fields_are_valid_templates() -> None:
    schema = of(day={"type": "string", "x-ask": "When?\n{% or %}\n", "x-done": "{{ day }}"})
    assert list_messages(replace(SCHEMA, json_schema=schema)) == [
        (
            "TEMPLATE_INVALID",
            "day/x-ask: This template is not valid. Line 2, column 1: text 2 is empty: write it, or remove a line "
            "{% or %}.",
        )
    ]


def test_references_lead_somewhere() -> None:
    schema = {**of(city={"$ref": "#/$defs/city"}, town={"$ref": "#/$defs/town"}), "$defs": {"city": {"type": "string"}}}
    ((code, message),) = list_messages(replace(SCHEMA, json_schema=schema))
    assert code == "SHAPE_INVALID"
    assert message.startswith("The reference #/$defs/town points to nothing")


def test_patterns_inside_a_schema_compile() -> None:
    schema = of(code={"type": "string", "pattern": "(a", "x-extract": ["b(?=c)"]})
    assert codes(replace(SCHEMA, json_schema=schema)) == ["REGEX_INVALID", "REGEX_UNSUPPORTED"]


@pytest.mark.parametrize(
    ("source", "problem"),
    [
        ("$.accounts", 'It must be an object with a "path", such as $.container_data.accounts.'),
        ({"value": "iban"}, 'It must be an object with a "path", such as $.container_data.accounts.'),
        (
            {"path": "$.accounts[", "value": "iban"},
            "“$.accounts[” is not a JSON path: it ends too early at position 12.",
        ),
        ({"path": "$.accounts", "label": "name"}, "It has the key of the label, but not that of the value."),
    ],
)
def test_data_that_give_choices_can_be_found(source: Any, problem: str) -> None:
    schema = of(account={"type": "string", "x-options-from": source})

    assert list_messages(replace(SCHEMA, json_schema=schema)) == [
        ("OPTIONS_SOURCE_INVALID", f"Choices of account: {problem}")
    ]


def test_a_kind_is_built_in_or_registered() -> None:
    schema = replace(SCHEMA, json_schema=of(plate={"type": "string", "x-kind": "vehicel-plate"}, at={"x-kind": "time"}))
    finders = frozenset({"vehicle_plate"})

    ((code, message),) = list_messages(schema, finders=finders)

    assert code == "NOT_REGISTERED"
    assert message.startswith(
        "No finder is registered for the kind vehicel_plate of the field plate. Did you mean vehicle_plate? Known: "
    )
    assert list_messages(replace(SCHEMA, json_schema=of(plate={"x-kind": "vehicle_plate"})), finders=finders) == []


@pytest.mark.parametrize("name", ["mcp", "approval", "pending_slot", "pendingSlot", "state", "inputParams", "payload"])
def test_the_engines_own_names_are_no_fields(name: str) -> None:
    assert list_messages(replace(SCHEMA, json_schema=of(**{name: {}}))) == [
        ("SCHEMA_RESERVED_FIELD", f"{name} is a reserved name of the engine. Choose another field name.")
    ]


@pytest.mark.parametrize("name", ["clock", "dialogue"])
def test_a_name_that_was_reserved_later_is_an_error_for_a_new_field_and_a_warning_for_a_stored_one(name: str) -> None:
    schema = replace(SCHEMA, json_schema=of(**{name: {"type": "string"}}))

    severities = [[finding.is_error for finding in findings(schema, *stored)] for stored in ((), (schema,))]

    assert severities == [[True], [False]]


def test_extraction_needs_a_prompt_template() -> None:
    assert (
        "SCHEMA_NO_PROMPT",
        (
            "No prompt template of type SCHEMA_JSON applies to intent CANCEL_ORDER, state ANY, so the engine "
            "reads the fields without a model. Add one to let a model read."
        ),
    ) in list_messages(SCHEMA, without=EXTRACTIONS)
    assert "SCHEMA_NO_PROMPT" in codes(SCHEMA, replace(EXTRACTION, response_type="TEXT"), without=[EXTRACTION_ANYWHERE])
    assert "SCHEMA_NO_PROMPT" not in codes(replace(SCHEMA, enabled=False), without=EXTRACTIONS)


@pytest.mark.parametrize(
    ("extractor", "is_found"), [("LLM", True), ("DETERMINISTIC_THEN_LLM", True), ("DETERMINISTIC", False)]
)
def test_a_reader_that_asks_a_model_needs_a_prompt_template(extractor: str, is_found: bool) -> None:
    reader = make_config("SchemaExtractionStep/EXTRACTOR", extractor)

    assert ("SCHEMA_NO_PROMPT" in codes(SCHEMA, reader, without=EXTRACTIONS)) is is_found


def test_without_a_model_extraction_needs_no_prompt_template() -> None:
    assert "SCHEMA_NO_PROMPT" not in codes(SCHEMA, without=EXTRACTIONS, model_configured=False)


def test_R121_a_prompt_template_covers_the_whole_scope_of_the_schema() -> None:
    assert (
        "SCHEMA_NO_PROMPT",
        (
            "The prompt templates of type SCHEMA_JSON cover only the states COLLECT, so the engine reads the fields "
            "in other states without a model. Add one for state ANY to let a model read."
        ),
    ) in list_messages(SCHEMA, without=[EXTRACTION_ANYWHERE])
    assert "SCHEMA_NO_PROMPT" not in codes(replace(SCHEMA, state_code="COLLECT"), without=[EXTRACTION_ANYWHERE])
    assert "SCHEMA_NO_PROMPT" not in codes(SCHEMA)


def test_a_state_that_confirms_without_a_schema_is_told() -> None:
    assert list_messages(replace(SCHEMA, state_code="COLLECT")) == [
        (
            "CONFIRM_STATE_NO_SCHEMA",
            (
                "The prompt template for state CONFIRM lets the user confirm or edit, but no form applies in that "
                "state. Set the state of a form to ANY, or add a form for CONFIRM."
            ),
        )
    ]


def test_a_schema_for_the_confirming_state_is_enough() -> None:
    assert codes(replace(SCHEMA, schema_id=2, state_code="COLLECT")) == []
    assert codes(replace(SCHEMA, state_code="COLLECT"), without=[CONFIRMATION]) == []


def test_a_schema_that_requires_nothing_is_complete_at_once() -> None:
    assert list_messages(replace(SCHEMA, json_schema={"type": "object", "properties": {"a": {}}})) == [
        ("SCHEMA_NO_REQUIRED", "No field is required, so the form is complete at once. Mark the required fields.")
    ]


def test_a_schema_behind_another_is_never_used() -> None:
    assert list_messages(replace(SCHEMA, schema_id=2, priority=200, json_schema=of(other={}))) == [
        (
            "SCHEMA_OPTION_SHADOWED",
            (
                "Row 1 is always used instead of this one (same scope, lower priority number)."
                " Change the priority or the scope."
            ),
        )
    ]


def test_a_schema_of_an_intent_that_resets_is_never_reached() -> None:
    resets = rows.Config(
        config_id=5, config_type="ResetResolvedIntentStep", config_key="RESET_INTENT_CODES", config_value="CANCEL_ORDER"
    )
    assert codes(SCHEMA, resets) == ["RESET_INTENT_MIXED"]
