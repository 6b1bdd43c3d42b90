import json
from typing import Any

import pytest

from convengine.engine.errors import (
    ConvEngineError,
    LlmNotConfigured,
    NoResponseConfigured,
    PromptContextMissing,
    ResponseMappingNotFound,
    UnresolvedPromptVariable,
)
from convengine.engine.steps.responses.step import FINAL, ResponseResolutionStep
from convengine.engine.steps.responses.write_answer import LLM, derive_payload, transform_payload
from convengine.engine.turn.payload import JsonPayload, TextPayload
from convengine.engine.turn.ports import LlmAnswer, TransformAnswer
from convengine.engine.turn.rows import PromptTemplate, Row
from convengine.engine.turn.session import Clarification, Exchange, ReplyOverride, Session
from convengine.engine.turn.turn import Turn
from convengine.server.interfaces.older_templates import to_jinja
from tests.builders import (
    CONVERSATION,
    check_writes,
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
from tests.fakes.ports import FixedTransformers

LOAN = make_intent("LOAN")


EXACT = make_response("exact", intent_code="LOAN", state_code="CONFIRM", priority=100)
TEMPLATE = PromptTemplate(
    template_id=3, intent_code="LOAN", state_code="ANY", response_type="JSON", system_prompt="s", user_prompt="u"
)
WRITTEN = make_response(None, intent_code="LOAN", response_type="DERIVED", output_format="JSON", response_id=8)
HELLO = TextPayload("Hello")


def run(*rows: Row, **fields: Any) -> tuple[Session, Turn]:
    turn = make_turn(make_snapshot(LOAN, *rows))
    session = make_session(**{"intent": "LOAN", "state": "CONFIRM", "user_text": "hi", **fields})
    return ResponseResolutionStep().execute(session, turn).session, turn


def get_answer(*rows: Row, **fields: Any) -> Any:
    answer = run(*rows, **fields)[0].payload
    assert answer is not None
    return answer.value


def test_P2_9_8_V1_the_row_of_this_state_wins() -> None:
    assert get_answer(EXACT, make_response("any", intent_code="LOAN", priority=1)) == "exact"


def test_P2_9_8_V2_a_large_number_does_not_overturn_that() -> None:
    late = make_response("exact", intent_code="LOAN", state_code="CONFIRM", priority=2000)

    assert get_answer(late, make_response("any", intent_code="LOAN", priority=1)) == "exact"


def test_P2_9_8_V3_a_row_for_everything_is_found() -> None:
    assert get_answer(make_response("everything")) == "everything"


@pytest.mark.amended("R11")
def test_P2_9_8_V4_without_a_row_the_turn_fails() -> None:
    with pytest.raises(ResponseMappingNotFound) as failed:
        run(make_response("other", intent_code="FEES"))

    assert (failed.value.code, failed.value.recoverable) == ("RESPONSE_MAPPING_NOT_FOUND", False)


def test_P2_9_8_V5_names_are_filled_in() -> None:
    row = make_response(to_jinja("Hi [(${name})], {{state}}"))

    assert get_answer(row, state="IDLE", input_params={"name": "Al"}) == "Hi Al, IDLE"


def test_a_fixed_answer_knows_its_own_columns() -> None:
    text = "{{ responseType }} {{ outputFormat }} {{ derivationHint }}{{ promptTemplateId }}"
    assert get_answer(make_response(text, derivation_hint="short")) == "EXACT TEXT short"


def test_P2_9_8_V6_a_broken_template_falls_back_to_a_final_answer() -> None:
    session, turn = run(make_response("{{ 1 / 0 }}"), context={"mcp": {"finalAnswer": "safe"}})

    assert session.payload == TextPayload("safe")
    event = payload(turn, "EXACT_RESPONSE_RENDERING")
    assert (event["fallbackUsed"], event["templatePreview"]) == ("context.mcp.finalAnswer", "{{ 1 / 0 }}")


def test_P2_9_8_V7_json_is_a_document() -> None:
    session, _ = run(make_response('{"a":1}', output_format="JSON"))

    assert session.payload == JsonPayload({"a": 1})
    assert session.last_assistant == {"a": 1}


@pytest.mark.parametrize("text", ["oops", "[" * 100_000])
def test_a_text_that_is_no_json_is_told_apart(text: str) -> None:
    session, _ = run(make_response(text, output_format="JSON"))

    assert session.last_assistant == {"type": "JSON_TEXT", "value": text}


def test_a_template_never_shows_its_source() -> None:
    text = get_answer(make_response("{{ broken"))

    assert "{{" not in text
    assert text.strip()


def test_a_row_for_this_state_beats_one_for_this_intent() -> None:
    rows = (
        make_response("of the state", state_code="CONFIRM", response_id=1),
        make_response("of the intent", intent_code="LOAN", response_id=2),
    )

    assert get_answer(*rows) == "of the state"


def test_the_decision_tells_who_was_outranked_and_why() -> None:
    _, turn = run(
        make_response("b", intent_code="LOAN", state_code="CONFIRM", response_id=2, priority=9),
        make_response("a", intent_code="LOAN", state_code="CONFIRM", response_id=1, priority=5),
        make_response("c", response_id=3),
        make_response("d", intent_code="FEES", response_id=4),
        make_response("e", response_id=5, enabled=False),
    )

    event = payload(turn, "DECISION")
    assert event["winner"] == 1
    assert event["candidates"] == [
        {"id": 1, "matched": True},
        {"id": 2, "matched": False, "reason": "LOWER_PRIORITY"},
        {"id": 3, "matched": False, "reason": "LESS_SPECIFIC"},
    ]
    assert event["cut"] == {"DISABLED": 1, "INTENT_DISABLED": 1}


def test_the_trail_of_an_exact_answer() -> None:
    _, turn = run(EXACT)

    assert stages(turn) == ["MESSAGE_UNDERSTOOD", "DECISION", "RESOLVE_RESPONSE", "RESPONSE_EXACT", "ASSISTANT_OUTPUT"]
    assert payload(turn, "ASSISTANT_OUTPUT")["responseType"] == "EXACT"


def test_a_configured_fallback_answers_where_a_row_is_missing() -> None:
    rows = (
        make_config("ResponseResolutionStep/ON_MISSING", "FALLBACK"),
        make_config("ResponseResolutionStep/FALLBACK_TEXT", "Hm."),
    )

    session, turn = run(*rows)

    assert session.payload == TextPayload("Hm.")
    assert "RESPONSE_MAPPING_NOT_FOUND" in stages(turn)


def test_a_derived_answer_without_a_model_falls_back_to_its_text_or_fails() -> None:
    assert get_answer(make_response("plan B", response_type="DERIVED")) == "plan B"
    with pytest.raises(LlmNotConfigured):
        run(make_response(None, response_type="DERIVED"))


@pytest.mark.parametrize("values", [{"response_type": "POEM"}, {"output_format": "XML"}])
def test_a_kind_that_nothing_produces_fails(values: dict[str, str]) -> None:
    with pytest.raises(NoResponseConfigured):
        run(make_response("x", **values))


@pytest.mark.parametrize("source", ["RESET", "RESUME", "GUARDRAIL", "DISAMBIGUATION", "AGENT", "SESSION"])
def test_an_override_wins_over_the_row(source: str) -> None:
    session, turn = run(EXACT, reply_override=ReplyOverride("listen", source))

    assert session.payload == TextPayload("listen")
    assert stages(turn) == ["ASSISTANT_OUTPUT"]
    assert (payload(turn, "ASSISTANT_OUTPUT")["responseType"], payload(turn, "ASSISTANT_OUTPUT")["source"]) == (
        "OVERRIDE",
        source,
    )


@pytest.mark.parametrize(("source", "answer"), [("GUARDRAIL", "listen"), ("AGENT", "A or B?")])
def test_the_question_of_a_collision_stands_between_the_overrides(source: str, answer: str) -> None:
    fields = {"state": "INTENT_COLLISION", "clarification": Clarification("A or B?", "CLASSIFIER")}

    assert get_answer(EXACT, reply_override=ReplyOverride("listen", source), **fields) == answer


def test_a_collision_looks_at_no_row() -> None:
    _, turn = run(make_response("row"), state="INTENT_COLLISION", clarification=Clarification("A or B?", "CLASSIFIER"))

    assert stages(turn) == ["INTENT_COLLISION_DETECTED", "INTENT_COLLISION_RESOLVED", "ASSISTANT_OUTPUT"]


def test_a_bare_reset_without_a_row_is_acknowledged() -> None:
    assert get_answer(intent="UNKNOWN", state="UNKNOWN", reset_only=True) == "Starting fresh. How can I help you?"


@pytest.mark.parametrize(
    ("config", "text"),
    [
        (make_config("Session/LOCALE", "de-DE"), "Fangen wir neu an. Wie kann ich Ihnen helfen?"),
        (make_config("Session/FRESH_START_TEXT", "Ahoi!"), "Ahoi!"),
    ],
)
def test_a_default_text_of_a_setting_is_in_the_language_of_the_conversation(config: Row, text: str) -> None:
    assert get_answer(config, intent="UNKNOWN", state="UNKNOWN", reset_only=True) == text


def transforming(**answers: Any) -> Any:
    """A turn in which the transformer of each named stage adds its text."""

    def adds(text: str) -> Any:
        return lambda payload: TransformAnswer(TextPayload(payload.value + text), "Adds")

    return FixedTransformers({stage: adds(text) for stage, text in answers.items()})


def test_P2_9_8_V16_a_transformer_adds_its_part_before_anything_is_stored() -> None:
    turn = make_turn(make_snapshot(LOAN, EXACT), transformers=transforming(LLM=" footer", FINAL="."))

    session = ResponseResolutionStep().execute(Session(CONVERSATION, intent="LOAN", state="CONFIRM"), turn).session

    assert session.payload == TextPayload("exact footer.")
    assert session.last_assistant == {"type": "TEXT", "value": "exact footer."}
    assert payload(turn, "ASSISTANT_OUTPUT")["output"] == "exact footer."
    assert session.last_llm_output == "exact"


def test_an_answer_that_no_row_gave_meets_the_final_transformer_alone() -> None:
    turn = make_turn(make_snapshot(LOAN, EXACT), transformers=transforming(LLM=" footer", FINAL="."))
    override = ReplyOverride("Not now", "SESSION")

    session = ResponseResolutionStep().execute(Session(CONVERSATION, reply_override=override), turn).session

    assert session.payload == TextPayload("Not now.")


# --- answers that a model writes --------------------------------------------------------------------------------


def write_answer(answer: Any, *rows: Row, response: Any = WRITTEN, **fields: Any) -> tuple[Session, Turn]:
    turn = make_turn(make_snapshot(LOAN, TEMPLATE, response, *rows), model=AnsweringModel([answer]))
    session = make_session(**{"intent": "LOAN", "state": "CONFIRM", "user_text": "hi", **fields})
    after = ResponseResolutionStep().execute(session, turn).session
    check_writes(ResponseResolutionStep, session, after)
    return after, turn


def test_P2_9_8_V11_a_state_in_the_answer_moves_nothing() -> None:
    session, turn = write_answer('{"state": "DONE"}')

    assert (session.state, session.payload) == ("CONFIRM", JsonPayload({"state": "DONE"}))
    assert (session.last_llm_stage, session.last_llm_output) == ("RESPONSE_JSON", {"state": "DONE"})
    assert session.last_assistant == {"state": "DONE"}
    assert "RESPONSE_STATE_OVERRIDE" not in stages(turn)
    event = payload(turn, "ASSISTANT_OUTPUT")
    assert (event["responseType"], event["outputFormat"], event["responseId"]) == ("DERIVED", "JSON", 8)


def test_unless_a_setting_lets_it() -> None:
    rows = (make_config("ResponseResolutionStep/ALLOW_LLM_STATE_OVERRIDE", "true"), make_response(state_code="DONE"))

    session, turn = write_answer('{"state": "DONE"}', *rows)

    assert session.state == "DONE"
    assert payload(turn, "ASSISTANT_OUTPUT")["state"] == "DONE"


def test_P2_9_8_V15_a_collision_is_asked_about_in_the_words_of_the_model() -> None:
    clarification = Clarification("A or B?", "AGENT", ({"intent": "LOAN"},))
    session, turn = write_answer("Is it about your loan?", state="INTENT_COLLISION", clarification=clarification)

    assert session.payload == TextPayload("Is it about your loan?")
    assert session.clarification is not None
    assert session.clarification.question == "Is it about your loan?"
    names = [stage for stage in stages(turn) if not stage.startswith(("PROMPT", "RESOLVE"))]
    assert names == ["INTENT_COLLISION_DETECTED", "INTENT_COLLISION_RESOLVED", "ASSISTANT_OUTPUT"]


def test_a_text_to_fall_back_to_answers_for_a_model_that_is_out() -> None:
    row = make_response("Call us.", intent_code="LOAN", response_type="DERIVED", output_format="JSON")
    down = LlmAnswer(error_code="LLM_CALL_FAILED", error_message="503")

    session, turn = write_answer(down, response=row)

    assert session.payload == JsonPayload("Call us.")
    assert session.last_llm_stage == "RESPONSE_EXACT"
    assert stages(turn)[-3:] == ["RESOLVE_RESPONSE_LLM_ERROR", "RESPONSE_EXACT", "ASSISTANT_OUTPUT"]


def test_a_transformer_changes_what_the_model_wrote() -> None:
    transformers = FixedTransformers({"LLM": TransformAnswer(JsonPayload({"n": 6}), "T")})
    turn = make_turn(
        make_snapshot(LOAN, TEMPLATE, WRITTEN), model=AnsweringModel(['{"n": 5}']), transformers=transformers
    )

    session = ResponseResolutionStep().execute(Session(CONVERSATION, intent="LOAN", state="CONFIRM"), turn).session

    assert (session.payload, session.last_llm_output) == (JsonPayload({"n": 6}), {"n": 5})


def appends(text: str) -> object:
    return lambda payload: TransformAnswer(TextPayload(payload.value + text), "Appends")


def test_the_stages_follow_one_another() -> None:
    turn = make_turn(transformers=FixedTransformers({LLM: appends(" you"), FINAL: appends("!")}))

    assert transform_payload(HELLO, make_session(), turn, LLM, FINAL) == TextPayload("Hello you!")
    assert [(event.payload["by"], event.payload["before"], event.payload["after"]) for event in turn.trail.events] == [
        ("Appends", "Hello", "Hello you"), ("Appends", "Hello you", "Hello you!"),
    ]  # fmt: skip
    assert stages(turn) == ["RESPONSE_TRANSFORMED", "RESPONSE_TRANSFORMED"]


def test_a_failure_leaves_the_answer_and_is_told() -> None:
    broken = TransformAnswer(None, "Broken", "ValueError", "no")
    turn = make_turn(transformers=FixedTransformers({LLM: broken, FINAL: appends("!")}))

    assert transform_payload(HELLO, make_session(), turn, LLM, FINAL) == TextPayload("Hello!")
    assert payload(turn, "RESPONSE_TRANSFORM_FAILED") == {
        "stage": "LLM", "transformer": "Broken", "errorType": "ValueError", "errorMessage": "no",
    }  # fmt: skip


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


def test_a_prompt_knows_the_columns_of_its_answer() -> None:
    rows = (template(3, user_prompt="{{ responseType }} {{ outputFormat }} {{ promptTemplateId }}"),)

    _, _, model = write("Ten.", rows=rows)

    assert model.requests[0].user == "DERIVED TEXT 3"


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
    event = payload(turn, "RESOLVE_RESPONSE_LLM_INPUT")
    assert (event["user_prompt"], event["derivation_hint"]) == ("Q: how much?", "To LOAN.")
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
    ("text", "code"),
    [('{"n": "x"}', "LLM_SCHEMA_VIOLATION"), ("sorry", "LLM_INVALID_RESPONSE"), ("", "LLM_EMPTY_RESPONSE")],
)
def test_and_then_fails_the_turn(text: str, code: str) -> None:
    with pytest.raises(ConvEngineError) as caught:
        write(text, rows=(JSON,), response=row(output_format="JSON", json_schema=SHAPE))

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


def test_without_a_template_the_text_of_the_row_is_the_answer() -> None:
    answer, turn, model = write("x", rows=(JSON,), response=row(exact_text="Call us."))

    assert answer is None
    assert (stages(turn), model.requests) == ([], [])


def test_without_a_model_nothing_is_chosen() -> None:
    turn = make_turn()
    session = make_session(intent="LOAN", state="CONFIRM")

    assert derive_payload(row(exact_text="Call us."), session, turn) is None
    with pytest.raises(LlmNotConfigured, match="Answer 8 should be written by a model"):
        derive_payload(row(), session, turn)
    assert stages(turn) == []
