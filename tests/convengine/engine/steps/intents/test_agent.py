import json
from typing import Any

import pytest

from convengine.engine.errors import ConvEngineError
from convengine.engine.steps.intents.intent_resolution import IntentResolutionStep
from convengine.engine.turn.ports import LlmAnswer
from convengine.engine.turn.rows import Row
from convengine.engine.turn.session import Clarification, Exchange, ReplyOverride, Session
from convengine.engine.turn.turn import Turn
from tests.builders import (
    make_classifier,
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

INTENTS = (make_intent("ORDER"), make_intent("FAQ"), make_intent("BILLING", display_name="Bills"))
FORM = make_schema("ORDER", {"colour": {"type": "string"}}, state_code="COLLECT")
GAP = make_config("AgentIntentResolver/COLLISION_GAP_THRESHOLD", "0.1")
UNAVAILABLE = LlmAnswer(error_code="LLM_TIMEOUT", error_message="20 s are over")
ASKED = Clarification("Faq or bills?", "AGENT", from_previous_turn=True)
TWO = (make_classifier("FAQ", "fee"), make_classifier("BILLING", "invoice"))


def run(
    answer: Any, *rows: Row, text: str | None = "well", intents: tuple[Row, ...] = INTENTS, **fields: Any
) -> tuple[Session, Turn, AnsweringModel]:
    reply = answer if isinstance(answer, str | LlmAnswer) else json.dumps(answer)
    model = AnsweringModel([reply])
    turn = make_turn(make_snapshot(*intents, GAP, *rows), text=text, model=model)
    session = make_session(user_text=text, **fields)
    return IntentResolutionStep().execute(session, turn).session, turn, model


def make_answer(**scores: float) -> dict[str, Any]:
    """An Answer these scores, the best one its intent and its confidence."""
    best = max(scores, key=lambda intent: scores[intent])
    pairs = [{"intent": intent, "confidence": score} for intent, score in scores.items()]
    return {"intent": best, "state": "IDLE", "confidence": scores[best], "intentScores": pairs}


def rejection(turn: Turn) -> str:
    reason = payload(turn, "INTENT_AGENT_REJECTED")["reason"]
    assert stages(turn)[-1] == "INTENT_RESOLVE_NO_CHANGE"
    return str(reason)


def test_R119_the_built_in_prompt_has_the_summary_and_the_last_turns_when_there_are_any() -> None:
    known = {"context_summary": "Wants a chair.", "history": (Exchange("hello", "What can I do?"),)}
    _, _, model = run(make_answer(FAQ=0.9), **known)
    _, _, later = run(make_answer(FAQ=0.9), turn_no=9, **known)
    _, _, new = run(make_answer(FAQ=0.9))

    # The summary says what is not in the turns.
    assert "Summary so far" not in model.requests[0].user
    assert "Summary so far:\nWants a chair." in later.requests[0].user
    assert "What can I do?" in model.requests[0].user
    assert "so far, oldest" not in new.requests[0].user
    assert "Summary so far" not in new.requests[0].user


def test_IR_V2_the_agent_is_told_what_the_classifiers_could_not_decide() -> None:
    session, turn, model = run(make_answer(BILLING=0.9, FAQ=0.2), *TWO, text="the fee on my invoice")

    stage_names = stages(turn)
    assert stage_names.index("INTENT_CLASSIFIER_COLLISION") < stage_names.index("INTENT_AGENT_LLM_INPUT")
    assert '"code":"FAQ"' in model.requests[0].user.replace('": "', '":"')
    assert [candidate["code"] for candidate in session.input_params["intent_collision_candidates"]] == [
        "FAQ",
        "BILLING",
    ]
    assert session.intent == "BILLING"


def test_IR_V12_close_scores_are_asked_back() -> None:
    session, turn, _ = run({"intentScores": {"FAQ": 0.9, "BILLING": 0.8}, "intent": "FAQ"})

    question = session.clarification
    assert (session.state, session.intent) == ("INTENT_COLLISION", "FAQ")
    assert question is not None
    assert (question.question, question.reason) == ("Do you mean Faq or Bills?", "AGENT")
    assert session.input_params["intent_collision_candidates"] == [
        {"code": "FAQ", "confidence": 0.9},
        {"code": "BILLING", "confidence": 0.8},
    ]
    assert session.reply_override is None
    assert stages(turn)[-1] == "INTENT_RESOLVE_NEEDS_CLARIFICATION"


def test_IR_V13_the_gap_is_compared_without_the_noise_of_floats() -> None:
    assert run(make_answer(FAQ=0.8, BILLING=0.7))[0].state == "INTENT_COLLISION"


def test_IR_V14_a_clear_winner_is_accepted() -> None:
    session, turn, _ = run(make_answer(FAQ=0.75, BILLING=0.6))

    assert (session.intent, session.state, session.intent_source) == ("FAQ", "IDLE", "AGENT")
    assert payload(turn, "INTENT_AGENT_ACCEPTED")["confidence"] == 0.75
    assert payload(turn, "INTENT_RESOLVED_BY_AGENT")["agentIntent"] == "FAQ"


def test_IR_V15_two_hopeless_scores_do_not_collide() -> None:
    session, turn, _ = run(make_answer(FAQ=0.05, BILLING=0.0))

    assert rejection(turn) == "low confidence"
    assert (session.intent, session.clarification) == ("UNKNOWN", None)


def test_IR_V16_an_intent_does_not_collide_with_itself() -> None:
    pairs = [{"code": "FAQ", "score": 0.9}, {"code": "faq", "score": 0.85}]
    session, _, _ = run({"intent_scores": pairs})

    assert session.input_params["intent_scores"] == [{"intent": "FAQ", "confidence": 0.9}]
    assert session.intent == "FAQ"


def test_IR_V17_an_intent_that_is_none_changes_nothing() -> None:
    session, turn, _ = run({"intent": "refund", "confidence": 0.99}, intent="FAQ", state="IDLE")

    assert rejection(turn) == "Intent not in allowed intents"
    assert session.intent == "FAQ"


@pytest.mark.parametrize(("confidence", "intent"), [(0.55, "FAQ"), ("0.55", "FAQ"), (0.549, "UNKNOWN")])
def test_IR_V18_the_bound_itself_is_enough(confidence: Any, intent: str) -> None:
    assert run({"intent": "FAQ", "confidence": confidence})[0].intent == intent


def test_IR_V19_a_code_fence_is_no_obstacle() -> None:
    assert run('```json\n{"intent": "FAQ", "confidence": 0.9}\n```')[0].intent == "FAQ"


def test_IR_V20_prose_is_rejected_and_the_turn_goes_on() -> None:
    session, turn, model = run("I think FAQ")

    assert rejection(turn) == "invalid json"
    assert (session.last_llm_output, session.last_llm_stage) == ("I think FAQ", "INTENT_AGENT")
    assert len(model.requests) == 2


def test_IR_V21_a_model_that_is_out_leaves_what_there_was() -> None:
    session, turn, _ = run(UNAVAILABLE)

    assert payload(turn, "INTENT_AGENT_LLM_ERROR")["exception"] == "LlmTimeout"
    assert stages(turn)[-1] == "INTENT_RESOLVE_NO_CHANGE"
    assert (session.intent, session.state) == ("UNKNOWN", "UNKNOWN")


def test_IR_V22_a_question_that_is_not_put_is_none() -> None:
    _, turn, _ = run({"intent": "FAQ", "confidence": 0.9, "needsClarification": True})

    assert rejection(turn) == "needsClarification without question"


def test_IR_V23_a_form_asks_its_own_questions() -> None:
    answer = make_answer(ORDER=0.8, FAQ=0.75) | {"needsClarification": True, "clarificationQuestion": "Which?"}
    session, turn, _ = run(answer | {"followups": ["Order or question?"]}, FORM)

    assert payload(turn, "INTENT_AGENT_CLARIFICATION_SUPPRESSED_SCHEMA_FLOW")["question"] == "Which?"
    assert (session.intent, session.state, session.clarification) == ("ORDER", "COLLECT", None)


def test_IR_V24_a_question_is_put_once_and_its_answer_taken_even_if_close() -> None:
    session, turn, _ = run(
        make_answer(FAQ=0.6, BILLING=0.6) | {"intent": "FAQ"}, state="INTENT_COLLISION", clarification=ASKED
    )

    assert "INTENT_AGENT_COLLISION" not in stages(turn)
    assert (session.intent, session.state, session.clarification) == ("FAQ", "IDLE", None)


def test_IR_V25_an_idle_by_habit_throws_nobody_out_of_a_flow() -> None:
    answer = {"intent": "ORDER", "state": "IDLE", "confidence": 0.9}
    reset = make_config("AgentIntentResolver/RESET_STATE_ON_SAME_INTENT", "true")

    assert run(answer, intent="ORDER", state="CONFIRMATION")[0].state == "CONFIRMATION"
    assert run(answer, reset, intent="ORDER", state="CONFIRMATION")[0].state == "IDLE"


def test_IR_V26_an_intent_is_stored_as_its_row_spells_it() -> None:
    assert run({"intent": " faq ", "confidence": 0.9})[0].intent == "FAQ"


def test_A1_without_intents_nobody_is_asked() -> None:
    _, turn, model = run({}, intents=())

    assert payload(turn, "INTENT_AGENT_SKIPPED")["reason"] == "no allowed intents"
    assert not model.requests


def test_a_blank_text_asks_no_agent() -> None:
    _, turn, model = run({}, text=" ")

    assert not model.requests
    assert payload(turn, "INTENT_RESOLVE_NO_CHANGE")["reason"] == "BLANK_TEXT"


def test_A2_nothing_of_an_earlier_answer_is_left() -> None:
    session, turn, model = run(UNAVAILABLE, input_params={"intent_scores": [1], "followups": ["x"], "intent_top3": [1]})

    params = session.input_params
    assert (params["intent_scores"], params["intent_top3"], params["followups"]) == ([], [], [])
    assert params["agentResolver"] is False
    event = payload(turn, "INTENT_AGENT_LLM_INPUT")
    assert (event["systemPrompt"], event["userPrompt"]) == (model.requests[0].system, model.requests[0].user)
    assert (event["system_prompt"], event["user_prompt"]) == (model.requests[0].system, model.requests[0].user)
    assert model.requests[0].json_schema["additionalProperties"] is False


def test_A3_a_deployment_may_rather_fail_than_guess() -> None:
    with pytest.raises(ConvEngineError) as raised:
        run(UNAVAILABLE, make_config("AgentIntentResolver/FAIL_TURN_ON_LLM_ERROR", "true"))

    assert (raised.value.code, raised.value.recoverable) == ("LLM_TIMEOUT", True)


def test_A3_a_prompt_that_cannot_be_filled_in_is_an_error_of_the_call() -> None:
    _, turn, model = run({}, make_config("AgentIntentResolver/USER_PROMPT", "{{ nowhere }}"))

    assert payload(turn, "INTENT_AGENT_LLM_ERROR")["exception"] == "PromptRender"
    assert not model.requests


def test_A3_with_the_model_out_classifiers_that_collided_ask_as_without_one() -> None:
    session, turn, _ = run(UNAVAILABLE, *TWO, text="the fee on my invoice")

    assert session.clarification is not None
    assert (session.state, session.clarification.reason) == ("INTENT_COLLISION", "CLASSIFIER")
    assert stages(turn).count("INTENT_AGENT_LLM_ERROR") == 1


@pytest.mark.parametrize("reply", ["2", "bills", "Bills, please"])
def test_A3_with_the_model_out_its_own_question_is_answered_by_number_or_name(reply: str) -> None:
    first, _, _ = run(make_answer(FAQ=0.9, BILLING=0.85))
    assert first.clarification is not None
    question = Clarification(
        first.clarification.question, "AGENT", first.clarification.options, from_previous_turn=True
    )

    session, turn, _ = run(UNAVAILABLE, text=reply, intent="FAQ", state="INTENT_COLLISION", clarification=question)

    assert (session.intent, session.state, session.clarification) == ("BILLING", "IDLE", None)
    assert payload(turn, "INTENT_AGENT_ACCEPTED")["by"] == "OPTION"


def test_A3_a_reply_that_names_nothing_is_asked_once_more() -> None:
    session, turn, _ = run(UNAVAILABLE, text="hmm", intent="FAQ", state="INTENT_COLLISION", clarification=ASKED)

    assert session.clarification is not None
    assert (session.clarification.asks, stages(turn)[-1]) == (2, "INTENT_RESOLVE_NEEDS_CLARIFICATION")


def test_A4_what_was_said_is_kept_for_rules_and_never_for_the_user() -> None:
    session, turn, _ = run({"intent": "FAQ", "confidence": 0.9})

    assert session.last_llm_output == {"intent": "FAQ", "confidence": 0.9}
    assert (session.payload, session.last_assistant) == (None, None)
    assert payload(turn, "INTENT_AGENT_LLM_OUTPUT")["json"] == {"intent": "FAQ", "confidence": 0.9}


def test_A5_a_list_is_no_object() -> None:
    assert rejection(run('[{"intent": "FAQ"}]')[1]) == "invalid json"


def test_A6_a_blank_intent_is_the_best_score() -> None:
    session, turn, _ = run({"intent": " ", "confidence": 0.2, "intentScores": {"FAQ": 0.9, "HACK": 1}})

    assert session.intent == "FAQ"
    assert payload(turn, "INTENT_AGENT_SCORES")["scores"] == [{"intent": "FAQ", "confidence": 0.9}]
    assert payload(turn, "INTENT_AGENT_ACCEPTED")["confidence"] == 0.9


def test_A7_the_question_is_the_models_then_its_follow_up() -> None:
    close = make_answer(FAQ=0.9, BILLING=0.9)

    own, _, _ = run(close | {"clarificationQuestion": "Which of them?", "followups": ["F or B?"]})
    follow_up, _, _ = run(close | {"followups": ["F or B?"]})

    assert own.clarification is not None
    assert follow_up.clarification is not None
    assert (own.clarification.question, follow_up.clarification.question) == ("Which of them?", "F or B?")


def test_A8_between_two_forms_the_user_decides() -> None:
    other = make_schema("BILLING", {"invoice": {"type": "string"}})
    session, turn, _ = run(make_answer(ORDER=0.8, BILLING=0.75), FORM, other)

    assert session.state == "INTENT_COLLISION"
    assert "INTENT_AGENT_CLARIFICATION_SUPPRESSED_SCHEMA_FLOW" not in stages(turn)


def test_A9_a_collision_that_the_model_names_takes_its_follow_up() -> None:
    session, _, _ = run({"intent": "FAQ", "state": "INTENT_COLLISION", "confidence": 0.9, "followups": ["F or B?"]})

    assert session.clarification is not None
    assert (session.state, session.clarification.question) == ("INTENT_COLLISION", "F or B?")


def test_A9_a_collision_of_nothing_is_none() -> None:
    session, _, _ = run({"intent": "FAQ", "state": "INTENT_COLLISION", "confidence": 0.9})

    assert (session.intent, session.state, session.clarification) == ("FAQ", "IDLE", None)


def test_A9_a_collision_that_the_model_names_without_a_question_gets_one() -> None:
    session, _, _ = run(make_answer(FAQ=0.9, BILLING=0.6) | {"state": "INTENT_COLLISION"})

    assert session.clarification is not None
    assert session.clarification.question == "Do you mean Faq or Bills?"


def test_A10_what_the_model_calls_settled_is_not_asked_again() -> None:
    answer = {"intent": "FAQ", "confidence": 0.9, "needsClarification": True, "clarificationResolved": True}

    assert run(answer, clarification=ASKED)[0].clarification is None
    assert run(answer | {"clarificationResolved": False}, clarification=ASKED)[0].clarification == ASKED


def test_A11_a_question_of_the_agent_is_the_answer_of_the_turn() -> None:
    answer = {"intent": "FAQ", "state": "IDLE", "confidence": 0.4, "needsClarification": True}
    session, turn, _ = run(answer | {"clarificationQuestion": "Which fee?"})

    assert session.reply_override == ReplyOverride("Which fee?", "AGENT")
    assert session.clarification == Clarification("Which fee?", "AGENT")
    assert session.intent == "FAQ"
    assert payload(turn, "INTENT_AGENT_NEEDS_CLARIFICATION")["question"] == "Which fee?"
    assert stages(turn)[-1] == "INTENT_RESOLVE_NEEDS_CLARIFICATION"


def test_A11_a_question_about_an_intent_that_is_none_leaves_the_intent() -> None:
    answer = {"intent": "HACK", "needsClarification": True, "clarificationQuestion": "Really?"}

    assert run(answer, intent="BILLING", state="IDLE")[0].intent == "BILLING"


def test_A11_what_an_earlier_step_answers_stands() -> None:
    answer = {"needsClarification": True, "clarificationQuestion": "Really?"}
    denied = ReplyOverride("Not without approval.", "GUARDRAIL")

    assert run(answer, reply_override=denied)[0].reply_override == denied


def test_A12_no_intent_at_all_is_rejected_with_what_there_was_to_choose_from() -> None:
    _, turn, _ = run({"confidence": 0.9})

    assert rejection(turn) == "blank intent"
    assert payload(turn, "INTENT_AGENT_REJECTED")["allowedIntents"] == ["BILLING", "FAQ", "ORDER"]


def test_A15_rules_after_the_agent_have_the_last_word() -> None:
    rule = make_rule(phase="POST_AGENT_INTENT", intent_code="FAQ", action="SET_STATE", action_value="START")
    session, turn, _ = run({"intent": "FAQ", "confidence": 0.9}, rule)

    assert session.state == "START"
    stage_names = stages(turn)
    assert stage_names.index("RULE_APPLIED (AgentIntentResolver)") < stage_names.index("INTENT_AGENT_ACCEPTED")
    assert payload(turn, "INTENT_AGENT_ACCEPTED")["state"] == "START"


@pytest.mark.parametrize("named", ["START", "LATER", "NOWHERE", "IDLE", "", None])
@pytest.mark.parametrize(
    ("rows", "state"),
    [
        (
            [make_classifier("FAQ", "zzz", state_code="START"), make_classifier("FAQ", "yyy", state_code="LATER")],
            "START",
        ),
        ([make_classifier("FAQ", "zzz", state_code="ANY"), make_classifier("FAQ", "yyy", state_code="LATER")], "LATER"),
        ([make_classifier("FAQ", "zzz", state_code="START", enabled=False)], "IDLE"),
        ([make_schema("FAQ", {"colour": {}}, state_code="START")], "START"),
        (
            [make_schema("FAQ", {"colour": {}}, state_code="START"), make_rule(intent_code="FAQ", state_code="IDLE")],
            "IDLE",
        ),
        ([make_rule(intent_code="FAQ", state_code="START")], "IDLE"),
        ([], "IDLE"),
    ],
)
def test_an_intent_begins_in_the_state_of_the_configuration_whatever_the_model_names(
    rows: list[Row], state: str, named: Any
) -> None:
    session, _, _ = run({"intent": "FAQ", "state": named, "confidence": 0.9}, *rows)

    assert session.state == state


def test_the_agent_sees_the_message_as_it_was_restated() -> None:
    _, _, plain = run({}, text="and tomorrow?")
    _, _, restated = run({}, text="and tomorrow?", standalone_query="Are you open tomorrow?")

    assert plain.requests[0].user.endswith("Message:\nand tomorrow?")
    assert restated.requests[0].user.endswith("and tomorrow?\n\nIn full:\nAre you open tomorrow?")
