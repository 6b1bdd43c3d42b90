"""A message that begins something else: what it leaves behind, and what it takes along."""

from typing import Any

import pytest

from convengine.engine.threads import new_task
from convengine.engine.turn.session import Exchange, Session
from convengine.engine.turn.turn import Turn
from tests.builders import CONVERSATION, make_session, make_turn


def begin(**fields: Any) -> tuple[Session, Session, Turn]:
    """The session before and after, and the turn."""
    stored = {"input_params_json": {"tier": "gold", "lang": "en"}}
    turn = make_turn(text="tell me the hours", conversation=stored, turn_no=5, resolved="within_timeout")
    values = {
        "turn_no": 5, "user_text": "tell me the hours", "intent": "HOURS", "state": "IDLE", "lifecycle": "RUNNING",
        "intent_source": "CLASSIFIER", "context": {"city": "Rome", "memory": {"session_summary": "s"}},
        "input_params": {"tier": "gold", "lang": "de", "dialogue_act": "NEW_REQUEST", "previousTurn": {"a": 1}},
        "user_input_params": {"lang": "de"}, "context_summary": "GOAL: Trip", "history": (Exchange("u", "a"),),
        "preferences": {"model": "small"}, "mounted_kb_id": "manuals", "epoch": 2,
    }  # fmt: skip
    session = make_session(**{**values, **fields})
    return session, new_task.begin_new_task(session, turn), turn


def test_the_turn_is_the_first_of_another_session() -> None:
    _, fresh, turn = begin()

    assert (fresh.turn_no, turn.turn_no) == (1, 5)
    assert fresh.conversation_id != turn.request.conversation_id == CONVERSATION


def test_the_same_turn_run_again_begins_the_same_session() -> None:
    assert begin()[1].conversation_id == begin()[1].conversation_id


def test_no_later_turn_of_the_new_session_has_its_version() -> None:
    """Keys of tools and tasks have the version: an equal one would make another system skip the later call."""
    _, fresh, _ = begin(version=7)

    # The commit of this turn stores version 0.
    assert fresh.version == -1


@pytest.mark.parametrize(
    ("start", "moves"),
    [
        ("RUNNING", ["RUNNING>COMPLETE"]),
        ("PENDING_COMPLETE", ["PENDING_COMPLETE>RUNNING", "RUNNING>COMPLETE"]),
        ("AWAITING_USER", ["AWAITING_USER>RUNNING", "RUNNING>COMPLETE"]),
    ],
)
def test_the_old_one_is_complete_and_waits_to_be_stored(start: str, moves: list[str]) -> None:
    _, _, turn = begin(lifecycle=start)

    assert turn.previous_session
    assert (turn.previous_session.conversation_id, turn.previous_session.turn_no) == (CONVERSATION, 5)
    assert (turn.previous_session.lifecycle, turn.previous_session.lifecycle_detail["reason"]) == (
        "COMPLETE",
        "new_task",
    )
    payloads = [event.payload for event in turn.trail.events if event.stage == "SESSION_LIFECYCLE"]
    assert [f"{event['from']}>{event['to']}" for event in payloads] == moves
    assert {event["turn_no"] for event in payloads} == {5}


def test_what_was_found_out_of_the_message_goes_along() -> None:
    _, fresh, _ = begin()

    assert (fresh.user_text, fresh.intent, fresh.state, fresh.intent_source) == (
        "tell me the hours", "HOURS", "IDLE", "CLASSIFIER",
    )  # fmt: skip
    assert fresh.input_params["dialogue_act"] == "NEW_REQUEST"
    # What the caller sent, not what an earlier turn left.
    assert fresh.input_params["lang"] == "de"


def test_nothing_of_the_old_session_does() -> None:
    _, fresh, _ = begin()

    assert not {"tier", "previousTurn"} & set(fresh.input_params)
    assert (fresh.history, fresh.epoch, fresh.preferences, fresh.mounted_kb_id) == ((), 0, {}, None)
    assert (fresh.lifecycle, fresh.lifecycle_detail, fresh.context_summary) == ("RUNNING", {}, "")
    assert "city" not in fresh.context


@pytest.mark.parametrize(
    ("summary", "context", "recalled"),
    [("GOAL: Trip", {"memory": {"recalled_summary": "GOAL: Trip"}}, "GOAL: Trip"), (" ", {}, None)],
)
def test_but_for_what_it_left(summary: str, context: dict[str, Any], recalled: str | None) -> None:
    _, fresh, _ = begin(context_summary=summary)

    assert (fresh.context, fresh.input_params.get("memory_recall")) == (context, recalled)
