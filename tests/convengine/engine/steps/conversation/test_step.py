from typing import Any

import pytest

from convengine.engine.errors import PipelineNoFinalResult, PipelineNoResponsePayload
from convengine.engine.steps.conversation.step import (
    AuditUserInputStep,
    CacheInspectAuditStep,
    LoadOrCreateConversationStep,
    PersistConversationBootstrapStep,
    PersistConversationStep,
    PipelineEndGuardStep,
    ResetConversationStep,
)
from convengine.engine.turn.params import keep_persistent
from convengine.engine.turn.payload import TextPayload
from convengine.engine.turn.session import Clarification, Exchange, FinalResult, Session
from convengine.engine.turn.turn import Turn
from tests.builders import CONVERSATION, make_config, make_intent, make_snapshot, make_turn, payload, stages
from tests.fakes.ports import StoredConversation


def run_load_or_create_conversation(turn: Turn) -> Session:
    session = Session(CONVERSATION, turn.turn_no, user_text=turn.request.message)
    return LoadOrCreateConversationStep().execute(session, turn).session


def test_LOC_V1_a_new_conversation_begins_unknown() -> None:
    turn = make_turn(loaded={"created": True})

    session = run_load_or_create_conversation(turn)

    assert (session.intent, session.state, session.status, session.context) == ("UNKNOWN", "UNKNOWN", "RUNNING", {})
    assert stages(turn) == ["CONVERSATION_CREATED"]


def test_LOC_V2_a_stored_conversation_goes_on_where_it_stood() -> None:
    turn = make_turn(conversation={"intent_code": "ORDER", "state_code": "CONFIRMATION", "context_json": {"qty": 3}})

    session = run_load_or_create_conversation(turn)

    assert (session.intent, session.state, session.context["qty"]) == ("ORDER", "CONFIRMATION", 3)
    assert (session.turn_start_intent, session.turn_start_state) == ("ORDER", "CONFIRMATION")
    assert payload(turn, "CONVERSATION_LOADED")["configVersion"] == 1


def test_LOC_V4_params_of_the_request_win_over_stored_ones() -> None:
    turn = make_turn(conversation={"input_params_json": {"tier": "gold"}}, input_params={"tier": "silver", "x": 1})

    session = run_load_or_create_conversation(turn)

    assert (session.input_params["tier"], session.input_params["x"]) == ("silver", 1)


def test_LOC_V5_stored_params_come_back() -> None:
    assert (
        run_load_or_create_conversation(make_turn(conversation={"input_params_json": {"tier": "gold"}})).input_params[
            "tier"
        ]
        == "gold"
    )


def test_LOC_V7_an_open_question_comes_back_as_one_of_before() -> None:
    context = {"pending_clarification": {"question": "Which?", "reason": "AGENT"}}

    clarification = run_load_or_create_conversation(make_turn(conversation={"context_json": context})).clarification

    assert clarification is not None
    assert (clarification.question, clarification.reason, clarification.from_previous_turn) == ("Which?", "AGENT", True)


def test_LOC_V8_a_blank_intent_of_an_old_row_reads_as_unknown() -> None:
    assert run_load_or_create_conversation(make_turn(conversation={"intent_code": ""})).intent == "UNKNOWN"


def test_ENG_V13_a_context_that_is_no_object_is_repaired_and_told() -> None:
    turn = make_turn(conversation={"context_json": [1, 2]})

    session = run_load_or_create_conversation(turn)

    assert session.context == {}
    assert payload(turn, "CONTEXT_REPAIRED")["raw_excerpt"] == "[1, 2]"


def test_ENG_V14_a_stored_lock_holds() -> None:
    context = {"intent_lock": {"locked": True, "reason": "SCHEMA_INCOMPLETE"}}

    session = run_load_or_create_conversation(make_turn(conversation={"context_json": context}))

    assert (session.intent_locked, session.intent_lock_reason) == (True, "SCHEMA_INCOMPLETE")


def test_ENG_V15_signals_of_one_turn_do_not_come_back() -> None:
    stored: dict[str, Any] = {"skip_tool_execution": True, "guardrail_blocked": True, "reset": True, "tier": "gold"}

    params = run_load_or_create_conversation(make_turn(conversation={"input_params_json": stored})).input_params

    assert "skip_tool_execution" not in params
    assert "guardrail_blocked" not in params
    assert "reset" not in params
    assert params["tier"] == "gold"


def test_what_the_last_turn_left_is_readable_as_previous_turn() -> None:
    session = run_load_or_create_conversation(make_turn(loaded={"previous_turn": {"dialogue_act": "AFFIRM"}}))

    assert session.input_params["previousTurn"] == {"dialogue_act": "AFFIRM"}


def test_history_comes_as_it_was_loaded() -> None:
    history = (Exchange("hi", "hello"),)

    assert run_load_or_create_conversation(make_turn(loaded={"history": history})).history == history


def test_params_that_the_engine_owns_are_told_when_a_caller_sent_them() -> None:
    turn = make_turn(ignored_params=("guardrail_blocked",))

    run_load_or_create_conversation(turn)

    assert payload(turn, "INPUT_PARAM_IGNORED")["keys"] == ["guardrail_blocked"]


def test_what_is_remembered_is_there_from_the_start() -> None:
    own = run_load_or_create_conversation(
        make_turn(conversation={"context_json": {"memory": {"session_summary": "own"}}})
    )
    other = run_load_or_create_conversation(make_turn(loaded={"memory_recall": "another session"}))

    assert own.input_params["memory_recall"] == "own"
    assert other.input_params["memory_recall"] == "another session"


ON = make_config("AUDIT/CACHE_INSPECTOR", "true")


def test_CIA_V1_switched_off_it_takes_no_part() -> None:
    assert not CacheInspectAuditStep().active(Session(CONVERSATION), make_turn())


def test_CIA_V2_switched_on_it_shows_the_conversation_as_stored() -> None:
    turn = make_turn(make_snapshot(ON, make_intent("LOAN"), version=9))
    step, session = CacheInspectAuditStep(), Session(CONVERSATION)

    assert step.active(session, turn)
    step.execute(session, turn)

    inspected = payload(turn, "CACHE_INSPECTION")
    assert inspected["cache_snapshot"]["intent_code"] == "UNKNOWN"
    assert inspected["config_version"] == 9
    assert inspected["config_tables"]["ce_intent"] == 1


def run_reset_conversation(text: str | None = None, *, turn: Turn | None = None, **fields: Any) -> tuple[Session, Turn]:
    turn = turn or make_turn(text=text)
    params = fields.pop("params", {})
    values = {"intent": "ORDER", "state": "CONFIRM", "context": {"qty": 3}, **fields}
    session = Session(CONVERSATION, user_text=text, user_input_params=params, **values).with_params(params)
    return ResetConversationStep().execute(session, turn).session, turn


def test_RST_V1_the_bare_command_resets() -> None:
    session, turn = run_reset_conversation("  ReSeT ")

    assert (session.intent, session.state, session.context) == ("UNKNOWN", "UNKNOWN", {})
    event = payload(turn, "CONVERSATION_RESET")
    assert (event["reason"], event["intent"], event["previousIntent"]) == ("USER_TEXT_COMMAND", "UNKNOWN", "ORDER")
    assert event["previousContext"] == {"qty": 3}
    assert session.reset_only


def test_RST_V2_a_text_about_resetting_is_no_reset() -> None:
    session, turn = run_reset_conversation("reset my password")

    assert session.intent == "ORDER"
    assert stages(turn) == []


def test_RST_V3_a_param_with_a_text_resets_and_the_text_is_left_to_interpret() -> None:
    session, turn = run_reset_conversation("book a flight", params={"reset": True})

    assert payload(turn, "CONVERSATION_RESET")["reason"] == "INPUT_PARAM:reset"
    assert not session.reset_only


def test_RST_V4_restart_counts_as_well() -> None:
    _, turn = run_reset_conversation("hello", params={"restart": "YES"})

    assert payload(turn, "CONVERSATION_RESET")["reason"] == "INPUT_PARAM:restart"


def test_RST_V5_a_value_that_says_nothing_does_not_reset() -> None:
    _, turn = run_reset_conversation("hello", params={"reset": "maybe"})

    assert stages(turn) == []


def test_RST_V6_other_params_of_the_request_stay() -> None:
    session, _ = run_reset_conversation("hello", params={"reset": True, "tier": "gold"})

    assert session.input_params["tier"] == "gold"
    assert "reset" not in session.input_params


def test_RST_V7_reset_comes_before_restart() -> None:
    _, turn = run_reset_conversation("hello", params={"restart": True, "reset": True})

    assert payload(turn, "CONVERSATION_RESET")["reason"] == "INPUT_PARAM:reset"


def test_RST_V8_a_reset_opens_an_epoch_and_forgets_the_history() -> None:
    session, _ = run_reset_conversation("/reset", history=(Exchange("a", "b"),), epoch=4)

    assert (session.epoch, session.history) == (5, ())


@pytest.mark.parametrize(("value", "resets"), [(1, True), (2, False)])
def test_RST_V10_a_number_counts_when_it_is_one(value: int, resets: bool) -> None:
    _, turn = run_reset_conversation("hello", params={"reset": value})

    assert bool(stages(turn)) is resets


def test_R121_the_param__reset_counts_as_reset() -> None:
    session, turn = run_reset_conversation("hello", params={"_reset": "true", "other": 1})

    assert payload(turn, "CONVERSATION_RESET")["reason"] == "INPUT_PARAM:reset"
    assert "_reset" not in session.input_params


def test_a_param_reset_without_a_text_leaves_nothing_to_interpret() -> None:
    session, _ = run_reset_conversation("  ", params={"reset": True})

    assert session.reset_only


def test_a_param_reset_with_a_bare_command_leaves_nothing_to_interpret() -> None:
    session, turn = run_reset_conversation("restart", params={"conversation_reset": "on"})

    assert session.reset_only
    assert payload(turn, "CONVERSATION_RESET")["reason"] == "INPUT_PARAM:conversation_reset"


def test_a_stored_param_of_an_earlier_turn_does_not_reset() -> None:
    turn = make_turn()
    session = Session(CONVERSATION, user_text="hi").with_params({"reset": True})

    ResetConversationStep().execute(session, turn)

    assert stages(turn) == []


@pytest.mark.parametrize(("allowed", "resets"), [("true", True), ("false", False)])
def test_a_full_stop_counts_only_where_it_is_allowed(allowed: str, resets: bool) -> None:
    snapshot = make_snapshot(make_config("ResetConversationStep/RESET_ALLOW_PUNCTUATION", allowed))

    _, turn = run_reset_conversation("Reset.", turn=make_turn(snapshot, text="Reset."))

    assert bool(stages(turn)) is resets


def test_a_reset_releases_lock_question_and_block() -> None:
    session, _ = run_reset_conversation(
        "reset",
        intent_locked=True,
        intent_lock_reason="SCHEMA_INCOMPLETE",
        clarification=Clarification("Which?", "AGENT"),
        status="BLOCKED",
    )

    assert (session.intent_locked, session.clarification, session.status) == (False, None, "RUNNING")


def test_the_command_list_is_a_live_setting() -> None:
    snapshot = make_snapshot(make_config("ResetConversationStep/TEXT_COMMANDS", "bye bye, adieu"))

    _, turn = run_reset_conversation("Adieu", turn=make_turn(snapshot, text="Adieu"))

    assert stages(turn) == ["CONVERSATION_RESET"]


def get_stored_time(created_at: object) -> int:
    turn = make_turn(conversation={} if created_at else {"created_at": None})
    PersistConversationBootstrapStep().execute(Session(CONVERSATION), turn)
    port = turn.ports.conversations
    assert isinstance(port, StoredConversation)
    return port.stored


def test_PCB_V1_a_row_that_is_there_is_not_written() -> None:
    assert get_stored_time(created_at=True) == 0


def test_PCB_V2_a_row_that_was_never_stored_is_stored() -> None:
    assert get_stored_time(created_at=None) == 1


def audit_text(text: str | None) -> dict[str, object]:
    turn = make_turn(text=text, turn_no=4)
    session = Session(CONVERSATION, 4, user_text=text, user_input_params={"b": 1, "a": 2})
    AuditUserInputStep().execute(session, turn)
    return dict(payload(turn, "USER_INPUT"))


@pytest.mark.parametrize("text", [pytest.param("Hello", id="AUI_V1"), pytest.param(None, id="AUI_V2")])
def test_AUI_V1_V2_the_text_is_kept(text: str | None) -> None:
    assert audit_text(text)["text"] == text


def test_AUI_V3_blanks_and_breaks_are_kept() -> None:
    assert audit_text("  a\n b ")["text"] == "  a\n b "


def test_AUI_V5_a_very_long_text_is_cut_and_says_so() -> None:
    event = audit_text("x" * 25_000)

    assert len(str(event["text"])) == 20_000
    assert (event["truncated"], event["originalChars"]) == (True, 25_000)


def test_the_event_names_what_the_caller_sent() -> None:
    event = audit_text("Hello")

    assert (event["inputParamKeys"], event["channel"], event["turnNo"]) == (["a", "b"], "api", 4)


def run(*rows: Any, **fields: Any) -> tuple[Session, Turn]:
    turn = make_turn(make_snapshot(*rows))
    session = Session(CONVERSATION, **{"payload": TextPayload("hi"), "intent": "LOAN", "state": "DONE", **fields})
    return PersistConversationStep().execute(session, turn).session, turn


def test_P2_11_V1_without_a_payload_there_is_nothing_to_commit() -> None:
    with pytest.raises(PipelineNoResponsePayload):
        run(payload=None)


def test_the_result_is_the_session_as_it_will_be_stored() -> None:
    session, turn = run(context={"amount": 5})

    result = session.final_result
    assert result is not None
    assert (result.intent, result.state, result.payload) == ("LOAN", "DONE", TextPayload("hi"))
    assert result.context["amount"] == 5
    assert payload(turn, "ENGINE_RETURN")["final_result"] == {"type": "TEXT", "value": "hi"}


def test_P2_11_V3_an_answer_of_bare_words_is_kept_as_a_document() -> None:
    session, _ = run(payload=TextPayload("hello"), last_assistant="hello")

    assert session.last_assistant == {"type": "TEXT", "value": "hello"}


def test_lock_and_question_go_into_their_branches_always_both() -> None:
    session, _ = run(clarification=Clarification("Which?", "AGENT"), intent_locked=True, intent_lock_reason="X")

    assert session.context["pending_clarification"] == {"question": "Which?", "reason": "AGENT"}
    assert session.context["intent_lock"] == {"locked": True, "reason": "X"}
    assert run()[0].context == {
        "pending_clarification": {"question": None, "reason": None},
        "intent_lock": {"locked": False, "reason": None},
    }


def test_blank_codes_are_stored_as_unknown() -> None:
    session, _ = run(intent=" ", state=None)

    assert (session.intent, session.state) == ("UNKNOWN", "UNKNOWN")


def test_a_context_that_is_too_large_loses_what_can_be_fetched_again() -> None:
    limit = make_config("PersistConversationStep/MAX_CONTEXT_BYTES", "2000")
    context = {"container_data": "x" * 3000, "mcp": {"observations": ["y" * 10], "finalAnswer": "z"}, "amount": 5}

    session, turn = run(limit, context=context)

    assert "container_data" not in session.context
    assert session.context["mcp"]["observations"] == ["y" * 10]
    assert payload(turn, "CONTEXT_TRIMMED")["dropped"] == ["container_data"]


def test_P2_11_V4_only_lasting_params_are_kept() -> None:
    assert keep_persistent({"amount": 1, "tool_request": {}, "dialogue_act": "AFFIRM"}) == {"amount": 1}


def test_the_timing_of_a_complete_turn_is_written() -> None:
    turn, answer = make_turn(), TextPayload("hi")
    session = Session(CONVERSATION, payload=answer, final_result=FinalResult("A", "B", answer, {}))

    PipelineEndGuardStep().execute(session, turn)

    assert payload(turn, "PIPELINE_TIMING")["status"] == "COMPLETED"


def test_a_turn_without_a_result_is_refused() -> None:
    with pytest.raises(PipelineNoFinalResult):
        PipelineEndGuardStep().execute(Session(CONVERSATION), make_turn())
