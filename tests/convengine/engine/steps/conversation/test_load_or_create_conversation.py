from typing import Any

from convengine.engine.steps.conversation.load_or_create_conversation import LoadOrCreateConversationStep
from convengine.engine.turn.session import Exchange, Session
from convengine.engine.turn.turn import Turn
from tests.builders import CONVERSATION, make_turn, payload, stages


def run(turn: Turn) -> Session:
    session = Session(CONVERSATION, turn.turn_no, user_text=turn.request.message)
    return LoadOrCreateConversationStep().execute(session, turn).session


def test_LOC_V1_a_new_conversation_begins_unknown() -> None:
    turn = make_turn(loaded={"created": True})

    session = run(turn)

    assert (session.intent, session.state, session.status, session.context) == ("UNKNOWN", "UNKNOWN", "RUNNING", {})
    assert stages(turn) == ["CONVERSATION_CREATED"]


def test_LOC_V2_a_stored_conversation_goes_on_where_it_stood() -> None:
    turn = make_turn(conversation={"intent_code": "ORDER", "state_code": "CONFIRMATION", "context_json": {"qty": 3}})

    session = run(turn)

    assert (session.intent, session.state, session.context["qty"]) == ("ORDER", "CONFIRMATION", 3)
    assert (session.turn_start_intent, session.turn_start_state) == ("ORDER", "CONFIRMATION")
    assert payload(turn, "CONVERSATION_LOADED")["configVersion"] == 1


def test_LOC_V4_params_of_the_request_win_over_stored_ones() -> None:
    turn = make_turn(conversation={"input_params_json": {"tier": "gold"}}, input_params={"tier": "silver", "x": 1})

    session = run(turn)

    assert (session.input_params["tier"], session.input_params["x"]) == ("silver", 1)


def test_LOC_V5_stored_params_come_back() -> None:
    assert run(make_turn(conversation={"input_params_json": {"tier": "gold"}})).input_params["tier"] == "gold"


def test_LOC_V7_an_open_question_comes_back_as_one_of_before() -> None:
    context = {"pending_clarification": {"question": "Which?", "reason": "AGENT"}}

    clarification = run(make_turn(conversation={"context_json": context})).clarification

    assert clarification is not None
    assert (clarification.question, clarification.reason, clarification.from_previous_turn) == ("Which?", "AGENT", True)


def test_LOC_V8_a_blank_intent_of_an_old_row_reads_as_unknown() -> None:
    assert run(make_turn(conversation={"intent_code": ""})).intent == "UNKNOWN"


def test_ENG_V13_a_context_that_is_no_object_is_repaired_and_told() -> None:
    turn = make_turn(conversation={"context_json": [1, 2]})

    session = run(turn)

    assert session.context == {}
    assert payload(turn, "CONTEXT_REPAIRED")["raw_excerpt"] == "[1, 2]"


def test_ENG_V14_a_stored_lock_holds() -> None:
    context = {"intent_lock": {"locked": True, "reason": "SCHEMA_INCOMPLETE"}}

    session = run(make_turn(conversation={"context_json": context}))

    assert (session.intent_locked, session.intent_lock_reason) == (True, "SCHEMA_INCOMPLETE")


def test_ENG_V15_signals_of_one_turn_do_not_come_back() -> None:
    stored: dict[str, Any] = {"skip_tool_execution": True, "guardrail_blocked": True, "reset": True, "tier": "gold"}

    params = run(make_turn(conversation={"input_params_json": stored})).input_params

    assert "skip_tool_execution" not in params
    assert "guardrail_blocked" not in params
    assert "reset" not in params
    assert params["tier"] == "gold"


def test_what_the_last_turn_left_is_readable_as_previous_turn() -> None:
    session = run(make_turn(loaded={"previous_turn": {"dialogue_act": "AFFIRM"}}))

    assert session.input_params["previousTurn"] == {"dialogue_act": "AFFIRM"}


def test_history_comes_as_it_was_loaded() -> None:
    history = (Exchange("hi", "hello"),)

    assert run(make_turn(loaded={"history": history})).history == history


def test_params_that_the_engine_owns_are_told_when_a_caller_sent_them() -> None:
    turn = make_turn(ignored_params=("guardrail_blocked",))

    run(turn)

    assert payload(turn, "INPUT_PARAM_IGNORED")["keys"] == ["guardrail_blocked"]


def test_what_is_remembered_is_there_from_the_start() -> None:
    own = run(make_turn(conversation={"context_json": {"memory": {"session_summary": "own"}}}))
    other = run(make_turn(loaded={"memory_recall": "another session"}))

    assert own.input_params["memory_recall"] == "own"
    assert other.input_params["memory_recall"] == "another session"
