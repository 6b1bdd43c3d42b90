"""The question which action is meant, over several turns."""

from typing import Any

import pytest

from convengine.engine.steps.actions.action_lifecycle import DisambiguationStep
from convengine.engine.turn.ports import LlmAnswer, TaskAnswer
from convengine.engine.turn.rows import Row
from tests.builders import (
    make_action,
    make_classifier,
    make_config,
    make_intent,
    make_session,
    make_snapshot,
    make_turn,
    payload,
    stages,
)
from tests.convengine.engine.steps.actions.talk import Talk
from tests.fakes.models import AnsweringModel
from tests.fakes.ports import RecordingTasks

FLIGHT = make_action("cancel_flight", bean_name="flight", method_names="x", description="Cancel the flight")
HOTEL = make_action("cancel_hotel", bean_name="hotel", method_names="x", description="Cancel the hotel booking")
PARCEL = make_classifier("PARCEL", "parcel")


ON = make_config("DisambiguationStep/ENABLE_LLM", "true")
ROWS = (make_intent("ORDER"), make_action("cancel_flight"), make_action("cancel_hotel", description="the room"))
TEMPLATE = "More than one action fits here. Which one do you mean: cancel_flight, cancel_hotel (the room)?"


@pytest.fixture
def talk() -> Talk:
    tasks = RecordingTasks({"flight:x": TaskAnswer(1), "hotel:x": TaskAnswer(1)})
    return Talk((make_intent("ORDER"), make_intent("PARCEL"), FLIGHT, HOTEL, PARCEL), tasks=tasks)


def test_DIS_V10_a_question_runs_nothing_and_is_the_answer(talk: Talk) -> None:
    session, _ = talk.say("yes")

    assert talk.tasks.calls == []
    assert session.reply_override is not None
    assert session.reply_override.source == "DISAMBIGUATION"
    assert (session.intent, session.state) == ("ORDER", "CONFIRM")


@pytest.mark.parametrize("reply", ["2", "the hotel one", "cancel hotel"])
def test_DIS_V9_the_reply_runs_the_action_that_it_means(talk: Talk, reply: str) -> None:
    talk.say("yes")
    session, turn = talk.say(reply)

    assert talk.tasks.calls == ["hotel:x"]
    assert (session.clarification, session.reply_override) == (None, None)
    assert payload(turn, "PENDING_ACTION_LIFECYCLE")["actionKey"] == "cancel_hotel"
    assert "pending_action_key" not in talk.params


def test_what_was_chosen_is_not_run_again_and_the_other_is_asked_about(talk: Talk) -> None:
    talk.say("yes")
    talk.say("2")
    _, turn = talk.say("yes")

    assert talk.tasks.calls == ["hotel:x"]
    assert payload(turn, "DISAMBIGUATION_REQUIRED")["options"] == ["cancel_flight (Cancel the flight)"]
    talk.say("1")
    assert talk.tasks.calls == ["hotel:x", "flight:x"]
    talk.say("yes")
    assert talk.tasks.calls == ["hotel:x", "flight:x"]


def test_a_reply_that_means_nothing_is_asked_again_and_then_dropped(talk: Talk) -> None:
    talk.say("yes")
    second, _ = talk.say("hm")
    third, _ = talk.say("hm")

    assert second.reply_override is not None
    assert (third.reply_override, third.clarification) == (None, None)
    assert talk.tasks.calls == []


def test_another_topic_ends_the_question(talk: Talk) -> None:
    talk.say("yes")
    session, turn = talk.say("show my parcel")

    assert (session.intent, session.clarification, session.reply_override) == ("PARCEL", None, None)
    assert "DISAMBIGUATION_REQUIRED" in stages(turn)


def test_a_no_ends_the_question_and_rejects_nothing(talk: Talk) -> None:
    talk.say("yes")
    session, turn = talk.say("no")

    assert session.clarification is None
    assert "PENDING_ACTION_REJECTED" not in stages(turn)


def test_a_key_in_the_request_ends_it_and_runs(talk: Talk) -> None:
    talk.say("yes")
    session, _ = talk.say("yes", pending_action_key="cancel_flight")

    assert (talk.tasks.calls, session.clarification) == (["flight:x"], None)


def test_leaving_the_state_ends_it(talk: Talk) -> None:
    talk.rows = (
        make_intent("ORDER"),
        *(make_action(k, state_code="CONFIRM") for k in ("cancel_flight", "cancel_hotel")),
    )
    talk.say("yes")
    talk.state = "DONE"
    session, _ = talk.say("2")

    assert (session.clarification, talk.tasks.calls) == (None, [])


def test_an_option_that_was_switched_off_meanwhile_is_not_run(talk: Talk) -> None:
    talk.say("yes")
    talk.rows = (make_intent("ORDER"), FLIGHT)
    session, _ = talk.say("2")

    assert (talk.tasks.calls, session.clarification) == ([], None)


def ask(*answers: Any, rows: tuple[Row, ...] = (ON,)) -> tuple[str, Any, AnsweringModel]:
    model = AnsweringModel(answers)
    turn = make_turn(make_snapshot(*ROWS, *rows), model=model if answers else None)
    params = {"policy_decision": "EXECUTE_PENDING_ACTION", "skip_intent_resolution": True}
    session = make_session(intent="ORDER", state="CONFIRM", user_text="yes", input_params=params)
    after = DisambiguationStep().execute(session, turn).session
    assert after.reply_override is not None
    assert payload(turn, "DISAMBIGUATION_REQUIRED")["question"] == after.reply_override.text
    return after.reply_override.text, turn, model


def source(turn: Any) -> Any:
    return payload(turn, "DISAMBIGUATION_REQUIRED")["questionSource"]


def test_the_model_words_the_question_when_it_may() -> None:
    text, turn, model = ask("Your CANCEL_FLIGHT, or cancel_hotel? ")

    assert (text, source(turn)) == ("Your CANCEL_FLIGHT, or cancel_hotel?", "LLM")
    assert model.requests[0].purpose == "DISAMBIGUATION"
    assert "The 2 options: cancel_flight, cancel_hotel (the room)" in model.requests[0].user
    assert [stage for stage in stages(turn) if "LLM" in stage] == [
        "DISAMBIGUATION_LLM_INPUT",
        "DISAMBIGUATION_LLM_OUTPUT",
    ]


@pytest.mark.parametrize("code", ["LLM_CALL_FAILED", "LLM_TIMEOUT"])
def test_DIS_V6_a_model_that_is_out_leaves_the_templates_question(code: str) -> None:
    text, turn, _ = ask(LlmAnswer(error_code=code, error_message="503"))

    assert (text, source(turn)) == (TEMPLATE, "TEMPLATE")
    assert payload(turn, "DISAMBIGUATION_LLM_ERROR")["errorCode"] == code


def test_DIS_V7_so_does_a_question_that_omits_an_option() -> None:
    text, turn, _ = ask("Do you mean cancel_flight?")

    assert (text, source(turn)) == (TEMPLATE, "TEMPLATE")
    assert payload(turn, "DISAMBIGUATION_LLM_ERROR")["omitted"] == ["cancel_hotel"]


def test_a_blank_one_and_prompts_with_a_fault() -> None:
    assert ask(" ")[0] == TEMPLATE
    broken = make_config("DisambiguationStep/LLM_USER_PROMPT", "{{ nope }}")
    text, turn, model = ask("x", rows=(ON, broken))

    assert (text, model.requests) == (TEMPLATE, [])
    assert payload(turn, "DISAMBIGUATION_LLM_ERROR")["errorCode"] == "UNRESOLVED_PROMPT_VARIABLE"


def test_a_spent_budget_is_a_model_that_is_out() -> None:
    _, turn, _ = ask("cancel_flight cancel_hotel", rows=(ON, make_config("LLM/MAX_CALLS_PER_TURN", "1")))
    assert source(turn) == "LLM"
    turn.trail.events.clear()
    session = make_session(intent="ORDER", state="CONFIRM", input_params={"policy_decision": "EXECUTE_PENDING_ACTION"})
    DisambiguationStep().execute(session, turn)

    assert payload(turn, "DISAMBIGUATION_LLM_ERROR")["errorCode"] == "LLM_BUDGET_EXCEEDED"
    assert source(turn) == "TEMPLATE"


def test_by_default_and_without_a_model_nobody_is_asked() -> None:
    text, _, model = ask("cancel_flight cancel_hotel", rows=())

    assert (text, model.requests) == (TEMPLATE, [])
    assert ask()[0] == TEMPLATE
