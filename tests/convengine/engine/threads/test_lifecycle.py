"""The moves of a session as values, and those of a turn; for the tables of sessions 2 see sessions/rows."""

from typing import Any

import pytest

from convengine.engine.errors import SessionTransitionInvalid
from convengine.engine.threads.lifecycle import MOVES, begin_new_task, check_move, find_moves, move_lifecycle
from convengine.engine.turn.enums import Lifecycle
from convengine.engine.turn.session import Exchange, Session
from convengine.engine.turn.turn import Turn
from tests.builders import CONVERSATION, make_session, make_turn, payload
from tests.threads import Participant, row_of, set_rule, setting, travel_desk

#: The table as the page has it.
ALLOWED = {
    "RUNNING": {"AWAITING_USER", "INTERRUPTED", "PENDING_COMPLETE", "COMPLETE", "ABORTED"},
    "AWAITING_USER": {"RUNNING", "COMPLETE", "ABORTED"},
    "INTERRUPTED": {"RUNNING", "ABORTED"},
    "PENDING_COMPLETE": {"RUNNING", "COMPLETE", "ABORTED"},
    "COMPLETE": set(),
    "ABORTED": set(),
}


@pytest.mark.parametrize("end", list(Lifecycle))
@pytest.mark.parametrize("start", list(Lifecycle))
def test_a_move_is_allowed_as_the_table_says(start: Lifecycle, end: Lifecycle) -> None:
    assert {state.value for state in MOVES[start]} == ALLOWED[start]
    if end in ALLOWED[start]:
        check_move(start, end)
    else:
        with pytest.raises(SessionTransitionInvalid, match=end.value):
            check_move(start, end)


def test_a_refused_move_changes_nothing_and_leaves_no_event() -> None:
    session, turn = make_session(lifecycle="COMPLETE"), make_turn()

    with pytest.raises(SessionTransitionInvalid):
        move_lifecycle(session, turn, Lifecycle.RUNNING, "any")

    assert session.lifecycle == "COMPLETE"
    assert turn.trail.events == []


def test_a_move_tells_from_to_reason_and_turn() -> None:
    turn = make_turn(turn_no=7)

    after = move_lifecycle(make_session(turn_no=7), turn, Lifecycle.AWAITING_USER, "question", {"question": "Which?"})

    assert (after.lifecycle, after.lifecycle_detail) == ("AWAITING_USER", {"question": "Which?"})
    expected = {"from": "RUNNING", "to": "AWAITING_USER", "reason": "question", "turn_no": 7}
    assert payload(turn, "SESSION_LIFECYCLE") == expected


def test_the_way_to_a_state_goes_by_running_where_it_has_to() -> None:
    assert find_moves("AWAITING_USER", "PENDING_COMPLETE") == ("RUNNING", "PENDING_COMPLETE")
    assert find_moves("INTERRUPTED", "COMPLETE") == ("RUNNING", "COMPLETE")
    assert find_moves("RUNNING", "RUNNING") == ()
    with pytest.raises(SessionTransitionInvalid):
        find_moves("ABORTED", "RUNNING")


@pytest.fixture
def guest(db: Any) -> Participant:
    travel_desk()
    return Participant()


def test_PENDING_COMPLETE_proposed_by_a_rule_wins_over_an_open_question(guest: Participant) -> None:
    set_rule("VISA", "SET_INPUT_PARAM", "session_complete_proposed:true")

    assert row_of(guest.say("a visa")).lifecycle == "PENDING_COMPLETE"


def test_an_open_question_wins_over_a_template_that_says_final(guest: Participant) -> None:
    from config_admin.models import CePromptTemplate

    CePromptTemplate.objects.create(
        intent_code="REFUND",
        state_code="ANY",
        response_type="TEXT",
        system_prompt="-",
        user_prompt="-",
        interaction_mode="FINAL",
    )

    assert row_of(guest.say("a refund")).lifecycle == "AWAITING_USER"


def test_moves_of_a_turn_follow_one_another(guest: Participant) -> None:
    guest.say("a visa")

    answer = guest.say("what about a trip?")

    assert guest.moves(answer) == ["AWAITING_USER>RUNNING", "RUNNING>PENDING_COMPLETE"]


def test_on_the_plain_turn_api_a_finished_conversation_is_opened_again(guest: Participant) -> None:
    from tests.api import Caller

    setting("TIMEOUT_MINUTES", "1")
    caller = Caller(guest.secret)
    caller.say("a trip")
    assert caller.say("looks good")["stateReport"]["lifecycle"] == "COMPLETE"

    answer = caller.say("hours")

    assert (answer["stateReport"]["lifecycle"], answer["turnNo"]) == ("RUNNING", 3)
    assert answer["payload"]["value"] == "Nine to five."
    reopened = caller.get(turn=3, stage="SESSION_LIFECYCLE").json()["results"][0]["payload"]
    assert (reopened["from"], reopened["to"], reopened["reason"]) == ("COMPLETE", "RUNNING", "reopened")


def test_the_summary_tells_the_question_that_the_answer_asks_and_forgets_it_when_it_is_answered(
    guest: Participant,
) -> None:
    reply = guest.say("a visa please")
    answered = guest.say("hours")

    assert "PENDING: Which country?\n" in row_of(reply).context_summary
    assert reply["session"]["context_summary"] == row_of(reply).context_summary
    assert "PENDING: none\n" in row_of(answered).context_summary


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
    return session, begin_new_task(session, turn), turn


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
