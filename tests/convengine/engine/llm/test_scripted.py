from typing import Any

from convengine.engine.llm.scripted import ScriptedModel, ScriptLine
from convengine.engine.turn.ports import LlmRequest


def make_request(purpose: str = "INTENT_AGENT", system: str = "Be Kind", user: str = "Parcel") -> LlmRequest:
    return LlmRequest(purpose, system, user, context_json='{"hidden": 1}')


def model(*lines: ScriptLine, text: str = "") -> ScriptedModel:
    return ScriptedModel(lines, user_text=text)


def make_script_line(reply: str = "yes", **values: Any) -> ScriptLine:
    return ScriptLine(**{"purposes": {"INTENT_AGENT"}, "reply": reply, **values})


def test_the_first_line_of_the_purpose_answers() -> None:
    script = model(
        make_script_line("other", purposes={"POLICY"}), make_script_line("first"), make_script_line("second")
    )

    assert script.complete(make_request()).text == "first"
    assert script.calls == ["INTENT_AGENT"]


def test_contains_looks_in_the_prompt_and_in_what_the_user_said_in_any_case() -> None:
    script = model(make_script_line(contains=("PARCEL", "where")), text="WHERE is it")

    assert script.complete(make_request()).text == "yes"


def test_all_texts_of_contains_must_occur() -> None:
    script = model(make_script_line(contains=("parcel", "lost")))

    assert script.complete(make_request()).error_code == "LLM_CALL_FAILED"


def test_prompt_contains_does_not_look_at_what_the_user_said() -> None:
    script = model(make_script_line(prompt_contains=("where",)), text="where is it")

    assert script.complete(make_request()).error_code == "LLM_CALL_FAILED"


def test_prompt_contains_looks_at_both_parts_of_the_prompt_in_any_case_and_not_at_the_context() -> None:
    script = model(
        make_script_line("context", prompt_contains=("hidden",)),
        make_script_line("prompt", prompt_contains=("kind", "PARCEL")),
    )

    assert script.complete(make_request()).text == "prompt"


def test_a_line_is_used_up_after_its_times() -> None:
    script = model(make_script_line("once", times=1), make_script_line("ever"))

    assert [script.complete(make_request()).text for _ in range(3)] == ["once", "ever", "ever"]


def test_an_error_is_an_outage_with_its_text() -> None:
    answer = model(make_script_line(error="offline")).complete(make_request())

    assert (answer.error_code, answer.error_message, answer.text) == ("LLM_CALL_FAILED", "offline", "")


def test_P2_15_2_V7_a_call_without_a_line_fails_and_is_counted() -> None:
    script = model()

    answer = script.complete(make_request("MCP_PLAN", "Plan", "the\n  tools"))

    assert answer.error_code == "LLM_CALL_FAILED"
    assert script.calls == ["MCP_PLAN"]


def test_a_scripted_model_counts_as_configured() -> None:
    assert model().configured
