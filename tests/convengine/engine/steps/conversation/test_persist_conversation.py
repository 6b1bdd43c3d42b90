from typing import Any

import pytest

from convengine.engine.errors import PipelineNoResponsePayload
from convengine.engine.steps.conversation.persist_conversation import PersistConversationStep
from convengine.engine.turn.params import keep_persistent
from convengine.engine.turn.payload import TextPayload
from convengine.engine.turn.session import Clarification, Session
from convengine.engine.turn.turn import Turn
from tests.builders import CONVERSATION, make_config, make_snapshot, make_turn, payload


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
