from dataclasses import replace
from typing import Any

import pytest

from convengine.engine.steps.forms.schema_extraction import AutoAdvanceStep, SchemaExtractionStep, merge_values
from convengine.engine.turn.ports import TaskAnswer
from convengine.engine.turn.rows import OutputSchema, PromptTemplate, Row
from convengine.engine.turn.session import FieldsRead, ReplyOverride, Session
from convengine.engine.turn.turn import Turn
from tests.builders import (
    check_writes,
    make_config,
    make_intent,
    make_rule,
    make_schema,
    make_session,
    make_snapshot,
    make_turn,
    payload,
    stages,
)
from tests.fakes.models import AnsweringModel
from tests.fakes.ports import RecordingTasks

LOAN = make_schema(
    "LOAN",
    {
        "customerId": {"type": "string"},
        "amount": {"type": "number"},
        "city": {"type": "string", "enum": ["Dallas", "Irving"]},
    },
    state_code="GATE",
    schema_id=7,
    description="what we need",
)
LOCKED = {"intent_locked": True, "intent_lock_reason": "SCHEMA_INCOMPLETE"}


TEMPLATE = PromptTemplate(
    template_id=3,
    intent_code="LOAN",
    state_code="GATE",
    response_type="SCHEMA_JSON",
    system_prompt="Extract.",
    user_prompt="Missing: {{ missing_fields }}. Text: {{ user_input }}",
)


def run(
    text: str | None,
    *rows: Row,
    schema: Row | None = LOAN,
    begun: bool = True,
    tasks: RecordingTasks | None = None,
    model: Any = None,
    **fields: Any,
) -> tuple[Session, Turn]:
    """`begun`: the turn began in the form already."""
    rows = (*rows, *([schema] if schema else ()))
    turn = make_turn(make_snapshot(make_intent("LOAN"), *rows), text=text, tasks=tasks, model=model)
    defaults = {"intent": "LOAN", "state": "GATE", "user_text": text}
    start = {"turn_start_intent": "LOAN", "turn_start_state": "GATE"} if begun else {}
    session = make_session(**{**defaults, **start, **fields})
    after = SchemaExtractionStep().execute(session, turn).session
    check_writes(SchemaExtractionStep, session, after)
    return after, turn


def test_what_is_read_goes_into_the_context_and_the_facts_follow() -> None:
    session, turn = run("amount: 35,000, Dallas")

    assert session.context == {"amount": 35000, "city": "Dallas"}
    assert session.missing_required_fields == ("customerId",)
    assert (session.schema_complete, session.schema_has_any_value) == (False, True)
    assert (session.intent_locked, session.intent_lock_reason) == (True, "SCHEMA_INCOMPLETE")
    assert session.resolved_schema is LOAN
    params = session.input_params
    assert (params["missing_fields"], params["schema_id"], params["schema_description"]) == (
        ["customerId"],
        7,
        "what we need",
    )
    assert params["schema_field_details"]["city"]["enumOptions"] == ["Dallas", "Irving"]
    assert params["schema_json"] == session.context
    assert stages(turn)[:5] == [
        "DECISION",
        "SCHEMA_EXTRACTION_START",
        "MESSAGE_UNDERSTOOD",
        "SCHEMA_EXTRACTION_DETERMINISTIC",
        "FIELDS_READ",
    ]


def test_the_trail_says_what_was_read_and_what_was_not_taken() -> None:
    session, turn = run("customer id: C-7, city: Paris")

    event = payload(turn, "SCHEMA_EXTRACTION_DETERMINISTIC")
    assert event["extracted"] == [{"field": "customerId", "value": "C-7", "span": [13, 16], "by": "TEXT"}]
    assert event["rejected"] == [{"field": "city", "value": "Paris", "reason": "VALUE_VIOLATES_SCHEMA"}]
    assert session.input_params["schema_invalid_fields"] == {"city": "VALUE_VIOLATES_SCHEMA"}


def test_a_correction_is_made_as_a_whole_or_not_at_all() -> None:
    held, edit = {"amount": 1, "city": "Dallas", "customerId": "c 77"}, {"dialogue_act": "EDIT"}

    session, turn = run("change the amount to 5 and the city to Paris", context=held, input_params=edit)
    whole, _ = run("change the amount to 5 and the city to Irving", context=held, input_params=edit)

    assert session.context == held
    assert session.input_params["schema_invalid_fields"] == {"city": "VALUE_VIOLATES_SCHEMA"}
    assert payload(turn, "SCHEMA_EXTRACTION_DETERMINISTIC")["extracted"] == []
    assert (whole.context["amount"], whole.context["city"]) == (5, "Irving")


def test_the_answer_to_the_one_missing_field_is_taken_whole() -> None:
    held = {"amount": 1, "city": "Dallas"}

    assert run("c 77", context=held)[0].context["customerId"] == "c 77"
    assert "customerId" not in run("c 77", context={"amount": 1})[0].context
    assert "customerId" not in run("c 77", context=held, begun=False)[0].context


@pytest.mark.parametrize("key", ["pending_slot", "pendingSlot"])
def test_a_pending_slot_says_what_was_asked_for(key: str) -> None:
    assert run("c 77", context={key: "customerId"}, begun=False)[0].context["customerId"] == "c 77"
    assert "customerId" not in run("c 77", context={key: "elsewhere"}, begun=False)[0].context


def test_P2_5_6_V11_without_a_schema_the_lock_goes() -> None:
    session, turn = run("hello", schema=None, **LOCKED, schema_complete=True)

    assert (session.intent_locked, session.intent_lock_reason) == (False, None)
    assert (session.resolved_schema, session.schema_complete, session.missing_required_fields) == (None, False, ())
    assert stages(turn) == []


def test_nothing_chosen_is_a_decision_where_there_was_something_to_choose() -> None:
    session, turn = run("hello", state="DONE", **LOCKED)

    assert not session.intent_locked
    assert payload(turn, "DECISION")["winner"] is None
    assert payload(turn, "DECISION")["cut"] == {"SCOPE_STATE": 1}


def test_P2_5_6_V13_a_complete_form_may_move_on_at_once() -> None:
    rule = make_rule(
        phase="POST_SCHEMA_EXTRACTION",
        rule_type="JSON_PATH",
        match_pattern="$[?(@.schemaComplete == true)]",
        action_value="CONFIRMATION",
    )

    session, turn = run("Dallas", rule, context={"customerId": "1", "amount": 5}, **LOCKED)

    assert (session.state, session.intent_locked, session.schema_complete) == ("CONFIRMATION", False, True)
    assert "RULE_APPLIED (SchemaExtractionStep)" in stages(turn)


def test_P2_5_6_V14_with_the_skip_flag_nothing_is_read() -> None:
    held = {"customerId": "1", "amount": 5, "city": "Dallas"}

    session, turn = run("Irving", context=held, input_params={"skip_schema_extraction": "true"}, **LOCKED)

    assert session.context == held
    assert (session.schema_complete, session.intent_locked) == (True, False)
    assert stages(turn) == ["DECISION", "SCHEMA_STATUS"]
    assert payload(turn, "SCHEMA_STATUS")["skipped"] is True


def test_an_incomplete_form_that_is_skipped_leaves_the_lock_alone() -> None:
    assert not run("Irving", input_params={"skip_schema_extraction": True})[0].intent_locked
    assert run("Irving", input_params={"skip_schema_extraction": True}, **LOCKED)[0].intent_locked


@pytest.mark.parametrize("fields", [{"reply_override": ReplyOverride("?", "DISAMBIGUATION")}, {"reset_only": True}])
def test_a_step_that_has_nothing_to_say_reads_nothing(fields: dict[str, Any]) -> None:
    rule = make_rule(phase="POST_SCHEMA_EXTRACTION")

    session, turn = run("Dallas", rule, **fields)

    assert session.context == {}
    assert session.state == "GATE"
    assert stages(turn) == ["DECISION", "SCHEMA_STATUS"]


def test_empty_fields_are_filled_from_input_params() -> None:
    params = {"city": "Irving", "amount": 9, "zzz": 1}

    session, _ = run("hm", context={"amount": 5}, input_params=params)

    assert session.context == {"amount": 5, "city": "Irving"}


def test_a_button_without_words_fills_the_form_too() -> None:
    rule = make_rule(phase="POST_SCHEMA_EXTRACTION", rule_type="JSON_PATH", match_pattern="$[?(@.city == 'Irving')]")

    session, turn = run(None, rule, input_params={"city": "Irving"})

    assert session.context == {"city": "Irving"}
    assert "SCHEMA_EXTRACTION_DETERMINISTIC" not in stages(turn)
    assert "RULE_APPLIED (SchemaExtractionStep)" in stages(turn)


def test_blank_words_alone_read_nothing() -> None:
    _, turn = run("  ")

    assert stages(turn) == ["DECISION", "SCHEMA_STATUS"]


def test_a_new_value_drops_the_results_of_tools() -> None:
    held = {"city": "Dallas", "mcp": {"finalAnswer": "x"}}

    assert "mcp" not in run("city: Irving", context=held)[0].context
    assert "mcp" in run("Dallas", context=held)[0].context
    assert "mcp" in run("hello", context=held)[0].context
    off = make_config("SchemaExtractionStep/CLEAR_MCP_ON_FRESH_VALUES", "false")
    assert "mcp" in run("Irving", off, context=held)[0].context


def test_values_inside_objects_are_merged() -> None:
    address = {
        "type": "object",
        "properties": {"city": {"type": "string"}, "zip": {"type": "string"}},
        "required": ["city"],
    }
    schema = make_schema("LOAN", {"address": address}, state_code="GATE")

    session, _ = run("city: Oslo", schema=schema, context={"address": {"zip": "1"}})

    assert session.context == {"address": {"zip": "1", "city": "Oslo"}}
    assert session.schema_complete


def test_P2_5_6_merge_and_nothing_empty_replaces_anything() -> None:
    context = {"a": 1, "l": [1, 2], "o": {"x": 1}}

    assert merge_values(context, {"a": None, "l": [3], "o": {"y": 2}, "b": " "}) == {
        "a": 1,
        "l": [3],
        "o": {"x": 1, "y": 2},
    }
    assert context == {"a": 1, "l": [1, 2], "o": {"x": 1}}


def test_a_broken_schema_is_told_and_holds_nobody() -> None:
    session, turn = run("Dallas", schema=make_schema("LOAN", {}, json_schema="<x/>", state_code="GATE"), **LOCKED)

    assert not session.intent_locked
    assert payload(turn, "CONFIG_ROW_INVALID")["table"] == "ce_output_schema"


def test_a_schema_switched_off_in_mid_collection_lets_go() -> None:
    off = make_schema("LOAN", {"a": {"type": "string"}}, enabled=False)

    assert not run("Dallas", schema=off, **LOCKED)[0].intent_locked


@pytest.mark.parametrize(
    ("extractor", "question_count", "expected"),
    [
        (None, 1, {"amount": 5}),
        ("LLM", 1, {"amount": 5}),
        ("DETERMINISTIC", 0, {"city": "Dallas"}),
        ("DETERMINISTIC_THEN_LLM", 1, {"city": "Dallas", "amount": 5}),
    ],
    ids=str,
)
def test_with_a_model_the_setting_says_who_reads(
    extractor: str | None, question_count: int, expected: dict[str, Any]
) -> None:
    rows = (make_config("SchemaExtractionStep/EXTRACTOR", extractor),) if extractor else ()
    model = AnsweringModel(['{"amount": 5}'])

    session, turn = run("Dallas", TEMPLATE, *rows, model=model)

    assert (len(model.requests), session.context) == (question_count, expected)
    read = [stage for stage in stages(turn) if stage.startswith("SCHEMA_EXTRACTION_")]
    engine_stages, model_stages = (
        ["SCHEMA_EXTRACTION_DETERMINISTIC"],
        ["SCHEMA_EXTRACTION_LLM_INPUT", "SCHEMA_EXTRACTION_LLM_OUTPUT"],
    )
    assert read == [
        "SCHEMA_EXTRACTION_START",
        *(engine_stages if "city" in expected else []),
        *(model_stages if question_count else []),
    ]
    assert session.input_params["schema_extracted_fields"] == list(expected)


def test_the_model_is_not_asked_when_the_engine_found_all() -> None:
    model = AnsweringModel(["{}"])
    mode = make_config("SchemaExtractionStep/EXTRACTOR", "DETERMINISTIC_THEN_LLM")

    session, _ = run("Dallas", mode, model=model, context={"customerId": "1", "amount": 5})

    assert session.schema_complete
    assert model.requests == []


def test_what_the_engine_read_in_a_message_stands_against_the_model() -> None:
    model = AnsweringModel(['{"city": "Irving", "amount": 5}'])
    mode = make_config("SchemaExtractionStep/EXTRACTOR", "DETERMINISTIC_THEN_LLM")

    session, turn = run("Dallas", TEMPLATE, mode, model=model)

    assert session.context == {"city": "Dallas", "amount": 5}
    event = payload(turn, "SCHEMA_EXTRACTION_LLM_OUTPUT")
    assert event["rejectedReasons"] == {"city": "ALREADY_READ"}
    assert session.input_params["schema_invalid_fields"] == {}


def test_what_the_engine_refused_the_model_may_read() -> None:
    model = AnsweringModel(['{"city": "Irving"}'])
    mode = make_config("SchemaExtractionStep/EXTRACTOR", "DETERMINISTIC_THEN_LLM")

    session, _ = run("city: the other one", TEMPLATE, mode, model=model)

    assert session.context["city"] == "Irving"
    assert session.input_params["schema_invalid_fields"] == {}


def test_a_blank_message_asks_no_model() -> None:
    model = AnsweringModel(["{}"])
    session, _ = run(" ", model=model, input_params={"customerId": "C-1"})

    assert (session.context, model.requests) == ({"customerId": "C-1"}, [])


def test_new_values_of_the_model_drop_old_results_of_tools() -> None:
    held = {"mcp": {"finalAnswer": "x"}, "amount": 5}

    assert "mcp" in run("5", TEMPLATE, context=held, model=AnsweringModel(['{"amount": "5"}']))[0].context
    assert "mcp" not in run("6", TEMPLATE, context=held, model=AnsweringModel(['{"amount": "6"}']))[0].context


def test_without_a_model_the_engine_reads_whatever_the_setting_says() -> None:
    assert run("Dallas", make_config("SchemaExtractionStep/EXTRACTOR", "LLM"))[0].context == {"city": "Dallas"}


def test_a_task_of_a_rule_sees_what_was_read() -> None:
    seen: list[Any] = []

    def remember(session: Session) -> TaskAnswer:
        seen.append(session.context)
        return TaskAnswer()

    tasks = RecordingTasks({"loans:check": remember})
    run("Dallas", make_rule(phase="POST_SCHEMA_EXTRACTION", action="SET_TASK", action_value="loans:check"), tasks=tasks)

    assert seen == [{"city": "Dallas"}]


def test_while_it_is_open_which_intent_is_meant_no_form_reads_the_message_or_holds_the_intent() -> None:
    anywhere = make_schema("LOAN", {"amount": {"type": "number"}}, state_code="ANY", schema_id=8)

    session, turn = run("amount: 35,000", schema=anywhere, state="INTENT_COLLISION")

    assert (session.context, session.intent_locked) == ({}, False)
    assert payload(turn, "SCHEMA_STATUS")["skipped"] is True


TEXT = {"type": "string"}
ONE = make_schema("LOAN", {"a": TEXT})
TWO = make_schema("LOAN", {"a": TEXT, "b": TEXT})
INCOMPLETE = {"intent_locked": True, "intent_lock_reason": "SCHEMA_INCOMPLETE"}


def run_auto_advance(schema: OutputSchema | None, context: dict[str, Any], **fields: Any) -> tuple[Session, Turn]:
    turn = make_turn(make_snapshot(make_intent("LOAN"), *([schema] if schema else ())))
    session = make_session(intent="LOAN", state="GATE", resolved_schema=schema, context=context, **fields)
    return AutoAdvanceStep().execute(session, turn).session, turn


def facts(turn: Turn) -> tuple[bool, bool]:
    event = payload(turn, "AUTO_ADVANCE_FACTS")
    return event["schemaComplete"], event["hasAnySchemaValue"]


def test_P2_6_V1_without_a_schema_there_is_nothing_to_publish() -> None:
    session, turn = run_auto_advance(None, {})

    assert not session.schema_complete
    assert stages(turn) == ["AUTO_ADVANCE_SKIPPED_NO_SCHEMA"]


def test_P2_6_V2_a_filled_form_is_complete() -> None:
    session, turn = run_auto_advance(ONE, {"a": "x"})

    assert facts(turn) == (True, True)
    assert (session.schema_complete, session.schema_has_any_value) == (True, True)


def test_P2_6_V3_an_empty_form_is_not() -> None:
    session, turn = run_auto_advance(ONE, {})

    assert facts(turn) == (False, False)
    assert session.missing_required_fields == ("a",)


def test_P2_6_V4_a_form_half_filled_is_neither() -> None:
    assert facts(run_auto_advance(TWO, {"a": "x"})[1]) == (False, True)


def test_P2_6_V5_a_malformed_schema_is_no_exception() -> None:
    session, turn = run_auto_advance(make_schema("LOAN", {}, json_schema='{"type": '), {"a": "x"})

    assert facts(turn) == (False, False)
    assert not session.intent_locked


def test_P2_6_V6_a_task_that_filled_the_last_field_releases_the_lock() -> None:
    session, turn = run_auto_advance(
        TWO, {"a": "x", "b": "y"}, schema_has_any_value=True, missing_required_fields=("b",), **INCOMPLETE
    )

    assert facts(turn) == (True, True)
    assert (session.intent_locked, session.intent_lock_reason) == (False, None)
    assert session.input_params["missing_fields"] == []


def test_P2_6_V7_a_form_that_requires_nothing_is_complete() -> None:
    free = make_schema("LOAN", {"a": TEXT}, required=[])

    assert facts(run_auto_advance(free, {})[1]) == (True, False)


def test_a_rule_that_emptied_a_field_locks_again() -> None:
    session, _ = run_auto_advance(ONE, {}, schema_complete=True, schema_has_any_value=True)

    assert (session.intent_locked, session.intent_lock_reason) == (True, "SCHEMA_INCOMPLETE")


def test_what_did_not_change_is_left_as_the_extraction_told_it() -> None:
    params = {"schema_invalid_fields": {"a": "AMBIGUOUS"}}

    session, _ = run_auto_advance(ONE, {}, missing_required_fields=("a",), input_params=params)

    assert session.input_params == params
    assert not session.intent_locked


def test_R121_a_complete_form_is_read_by_nobody_where_only_other_states_have_a_template() -> None:
    full = {"customerId": "7", "amount": 5, "city": "Dallas"}
    elsewhere = replace(TEMPLATE, state_code="OTHER")

    session, turn = run("city: Irving", elsewhere, model=AnsweringModel(()), context=full)

    assert session.schema_complete
    assert session.context == full
    assert "SCHEMA_EXTRACTION_LLM_INPUT" not in stages(turn)


@pytest.mark.parametrize("extractor", ["LLM", "DETERMINISTIC_THEN_LLM"])
@pytest.mark.parametrize("context", [{}, {"amount": 5}, {"customerId": "7", "amount": 5, "city": "Dallas"}])
def test_without_a_template_a_model_changes_nothing(extractor: str, context: dict[str, Any]) -> None:
    setting = make_config("SchemaExtractionStep/EXTRACTOR", extractor)

    with_model, turn = run("amount: 35,000, city: Irving", setting, model=AnsweringModel(()), context=context)
    without_model, other = run("amount: 35,000, city: Irving", setting, context=context)

    assert with_model.context == without_model.context == {**context, "amount": 35000, "city": "Irving"}
    assert stages(turn) == stages(other)


def test_R121_a_complete_form_is_given_to_the_model_where_a_template_is() -> None:
    full = {"customerId": "7", "amount": 5, "city": "Dallas"}

    session, _ = run("Irving instead", TEMPLATE, model=AnsweringModel(('{"city": "Irving"}',)), context=full)

    assert session.context["city"] == "Irving"


# --- the form of an earlier state stays known --------------------------------------------------------------------

LATER = {"intent": "LOAN", "state": "CONFIRM", "turn_start_state": "CONFIRM"}
HELD = {"customerId": "7", "amount": 5, "city": "Dallas", "dialogue": {"last_schema": 7}}


def test_R117_the_form_is_known_in_a_later_state_of_its_intent() -> None:
    session, turn = run("hello", context={**HELD, "city": None}, **LATER)

    assert session.resolved_schema is not None
    assert session.missing_required_fields == ("city",)
    assert session.input_params["missing_fields"] == ["city"]
    assert payload(turn, "SCHEMA_STATUS")["schemaComplete"] is False


def test_R117_it_is_read_there_by_the_engine_only_and_sets_no_lock() -> None:
    session, turn = run("the city is Irving", TEMPLATE, model=AnsweringModel(()), context=HELD, **LATER)

    assert session.context["city"] == "Irving"
    assert session.intent_locked is False
    assert "SCHEMA_EXTRACTION_LLM_INPUT" not in stages(turn)


def make_check(**changes: Any) -> Row:
    """A rule of the state that collects: no loan in Irving."""
    values = {
        "phase": "POST_SCHEMA_EXTRACTION", "intent_code": "LOAN", "state_code": "GATE", "rule_type": "CONDITION",
        "match_pattern": '{"combinator": "and", "rules": [{"field": "city", "operator": "is", "value": "Irving"}, '
        '{"field": "state", "operator": "is", "value": "CONFIRM"}]}',
        "action": "SET_INPUT_PARAM", "action_value": "forbidden:1",
    }  # fmt: skip
    return make_rule(**{**values, **changes})


@pytest.mark.parametrize(
    ("text", "is_checked"),
    [
        pytest.param("the city is Irving", True, id="another value"),
        pytest.param("the city is Dallas", False, id="the same value"),
        pytest.param("hello", False, id="no value"),
    ],
)
def test_R151_a_changed_value_is_checked_by_the_rules_of_its_collecting_state(text: str, is_checked: bool) -> None:
    check = make_check(match_pattern='{"field": "state", "operator": "is", "value": "CONFIRM"}')
    of_other_state = make_check(rule_id=2, state_code="CONFIRM", action_value="own:1")

    session, _ = run(text, check, of_other_state, context=HELD, **LATER)

    assert ("forbidden" in session.input_params, "own" in session.input_params) == (is_checked, False)


def test_R151_a_value_that_an_earlier_step_corrected_is_checked() -> None:
    read = FieldsRead(read=("city",))

    session, _ = run(
        "never Dallas",
        make_check(),
        context={**HELD, "city": "Irving"},
        fields_read=read,
        input_params={"skip_schema_extraction": True},
        **LATER,
    )

    assert session.input_params["forbidden"] == 1


def test_R151_a_rule_that_moves_the_dialogue_ends_the_open_action() -> None:
    action = {"status": "OPEN", "action_key": "pay", "scope": "LOAN|CONFIRM"}

    session, turn = run(
        "yes, the city is Irving",
        make_check(action="SET_STATE", action_value="GATE"),
        context={**HELD, "pending_action_runtime": action},
        **LATER,
    )

    assert session.state == "GATE"
    assert payload(turn, "PENDING_ACTION_LIFECYCLE")["event"] == "SCOPE_LEFT"
    assert "pending_action_runtime" not in session.context
    assert session.input_params["skip_pending_action_execution"] is True


@pytest.mark.parametrize(
    ("rows", "fields"),
    [
        pytest.param(
            (make_schema("LOAN", {"ok": {"type": "boolean"}}, state_code="CONFIRM", schema_id=9),), {}, id="own schema"
        ),
        pytest.param((make_intent("ORDER"),), {"intent": "ORDER"}, id="another intent"),
        pytest.param((), {"context": {"customerId": "7", "amount": 5, "city": "Dallas"}}, id="a reset or x-clear"),
    ],
)
def test_R117_it_is_known_no_longer(rows: tuple[Row, ...], fields: dict[str, Any]) -> None:
    session, _ = run("the city is Irving", *rows, **{"context": HELD, **LATER, **fields})

    assert session.resolved_schema is not LOAN
    assert session.context["city"] == "Dallas"


# --- the asked field ---------------------------------------------------------------------------------------------

ASKED = {"dialogue": {"asked_field": "customerId", "last_schema": 7}}


@pytest.mark.parametrize(
    ("text", "values"),
    [
        pytest.param("John Smith", {"customerId": "John Smith"}, id="a bare answer is for the asked field"),
        pytest.param("Irving", {"city": "Irving"}, id="a typed field that alone accepts it"),
        pytest.param("why do you ask?", {}, id="a question is no free text"),
        pytest.param("no", {}, id="nor is a denial"),
        pytest.param("thanks", {}, id="nor are thanks"),
        pytest.param("never mind", {}, id="nor is a wish to leave"),
    ],
)
def test_R109_a_bare_answer_is_read_with_the_asked_field(text: str, values: dict[str, Any]) -> None:
    session, turn = run(text, context=ASKED)

    assert {key: session.context[key] for key in ("customerId", "amount", "city") if key in session.context} == values
    assert payload(turn, "FIELDS_READ")["asked"] == "customerId"


def test_R109_a_bare_answer_is_as_before_where_the_setting_says_so() -> None:
    only_missing = make_config("SchemaExtractionStep/BARE_ANSWER", "ONLY_MISSING")

    session, _ = run("John Smith", only_missing, context=ASKED)

    assert "customerId" not in session.context


def test_R109_a_pending_slot_goes_before_the_asked_field() -> None:
    session, _ = run("12", context={**ASKED, "pending_slot": "amount"})

    assert session.context["amount"] == 12


@pytest.mark.parametrize("text", ["skip", "none", "no", "don't know"])
def test_R109_an_optional_field_is_answered_by_a_skip_and_stays_null(text: str) -> None:
    schema = {**LOAN.json_schema, "required": ["amount"]}
    schema["properties"] = {**LOAN.json_schema["properties"], "customerId": {"type": "string", "x-ask": "Number?"}}

    session, turn = run(text, schema=replace(LOAN, json_schema=schema), context=ASKED)

    assert session.context["customerId"] is None
    assert payload(turn, "FIELDS_READ")["read"] == ["customerId"]


# --- misses ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "misses"),
    [
        pytest.param("not the red one", 2, id="not understood"),
        pytest.param("how tall is the moon?", 1, id="another question does not count"),
        pytest.param("why?", 1, id="asking what the field is for does not count"),
        pytest.param("Irving", 0, id="another field: understood"),
        pytest.param("thanks", 1, id="thanks do not count"),
        pytest.param("John Smith", 0, id="an answer ends the row"),
    ],
)
def test_R110_misses_of_the_asked_field_count_in_a_row(text: str, misses: int) -> None:
    session, _ = run(text, context={"dialogue": {**ASKED["dialogue"], "misses": 1}})

    assert session.context["dialogue"].get("misses", 0) == misses


def test_R110_a_refused_value_counts_as_a_miss_and_says_why() -> None:
    context = {"dialogue": {"asked_field": "amount", "last_schema": 7}}
    small = replace(LOAN, json_schema={**LOAN.json_schema, "properties": {"amount": {"type": "number", "maximum": 8}}})

    session, turn = run("12", schema=small, context=context)

    assert session.context["dialogue"]["misses"] == 1
    assert payload(turn, "FIELDS_READ")["refused"][0]["reason"] == "OUT_OF_BOUNDS"


# --- x-fillers ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("fillers", "offered"), [([], {"amount": 12}), (["roundabouts", "pretty please"], {})])
def test_R146_words_that_say_nothing_in_a_form_need_no_question(fillers: list[str], offered: dict[str, Any]) -> None:
    schema = replace(LOAN, json_schema={**LOAN.json_schema, "x-fillers": fillers})
    context = {"dialogue": {"asked_field": "amount", "last_schema": 7}}

    session, turn = run("12 roundabouts, pretty please", schema=schema, context=context)

    assert payload(turn, "FIELDS_READ")["offered"] == offered
    assert ("amount" in session.context) is not bool(offered)
