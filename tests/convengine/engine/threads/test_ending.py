"""Where a turn leaves its session, and what is said at that edge."""

from typing import Any

import pytest

from convengine.engine.pending_actions.disambiguation import has_open_action
from convengine.engine.threads import ending, resume
from convengine.engine.threads.ending import find_interaction_mode, find_open_question
from convengine.engine.turn import rows
from convengine.engine.turn.session import Clarification, Digression, ReplyOverride, Session, Transition
from convengine.engine.turn.turn import Turn
from tests.builders import (
    make_action,
    make_config,
    make_intent,
    make_session,
    make_snapshot,
    make_turn,
    payload,
    stages,
)

ON_A_THREAD = "within_timeout"
MOVED = Transition("TRIP", "IDLE", "TRIP", "DONE", "RULE")


def begin(
    meaning: str | None = None, *all_rows: rows.Row, resolved: str | None = ON_A_THREAD, **fields: Any
) -> tuple[Session, Turn]:
    params = {**fields.pop("params", {}), **({"message_intent": meaning} if meaning else {})}
    values = {"intent": "TRIP", "state": "IDLE", "last_assistant": {"type": "TEXT", "value": "Here."}, **fields}
    turn = make_turn(make_snapshot(make_intent("TRIP"), *all_rows), resolved=resolved, turn_no=4)
    return make_session(input_params=params, **values), turn


def template(mode: str) -> rows.PromptTemplate:
    return rows.PromptTemplate(
        template_id=1, intent_code="TRIP", state_code="ANY", response_type="TEXT", system_prompt="-", user_prompt="-",
        interaction_mode=mode,
    )  # fmt: skip


def moves(turn: Turn) -> list[str]:
    payloads = [event.payload for event in turn.trail.events if event.stage == "SESSION_LIFECYCLE"]
    return [f"{event['from']}>{event['to']} {event['reason']}" for event in payloads]


@pytest.mark.parametrize(
    ("meaning", "words"),
    [("CONFIRMATION", "Great, all done."), ("ABANDON", "All right, I have dropped it."), ("UNCLEAR", "Would you like")],
)
def test_three_meanings_have_an_answer_of_their_own(meaning: str, words: str) -> None:
    answer = ending.choose_edge_reply(*begin(meaning))

    assert answer
    assert (answer.text[: len(words)], answer.source) == (words, "SESSION")


@pytest.mark.parametrize(
    "fields",
    [
        {"resolved": None},
        {"reply_override": ReplyOverride("No.", "RULE")},
        {"params": {"pending_action_result": "EXECUTED"}},
        {"params": {"pending_action_result": "FAILED"}},
        {"transitions": (MOVED,)},
    ],
    ids=["plain turn API", "somebody answers", "an action ran", "an action failed", "a rule moved the state"],
)
def test_the_row_answers_where_it_has_something_to_tell(fields: dict[str, Any]) -> None:
    assert ending.choose_edge_reply(*begin("CONFIRMATION", **fields)) is None


@pytest.mark.parametrize("meaning", ["RESPONSE", "MODIFICATION", "NEW_TASK", "CONTINUATION", None])
def test_other_meanings_have_none(meaning: str | None) -> None:
    assert ending.choose_edge_reply(*begin(meaning)) is None


def test_the_texts_are_templates_of_the_configuration() -> None:
    text = make_config("Session/CLOSING_TEXT", "Bye from {{ intent }}.")

    answer = ending.choose_edge_reply(*begin("CONFIRMATION", text))

    assert answer
    assert answer.text == "Bye from TRIP."


@pytest.mark.parametrize(
    ("meaning", "start", "move"),
    [
        ("CONFIRMATION", "PENDING_COMPLETE", "PENDING_COMPLETE>COMPLETE confirmed"),
        ("ABANDON", "AWAITING_USER", "AWAITING_USER>ABORTED abandoned"),
    ],
)
def test_what_ends_the_session_says_why_and_when(meaning: str, start: str, move: str) -> None:
    session, turn = begin(meaning, lifecycle=start)

    after = ending.apply_end_of_turn(session, turn)

    assert moves(turn) == [move]
    assert after.lifecycle_detail == {"reason": move.split()[1], "at": turn.ports.clock.now().isoformat()}


@pytest.mark.parametrize(
    ("mode", "fields", "expected_moves"),
    [
        (None, {}, []),
        ("COLLECT", {}, ["RUNNING>AWAITING_USER question"]),
        ("FINAL", {}, ["RUNNING>PENDING_COMPLETE mode_final"]),
        ("REVIEW", {"lifecycle": "AWAITING_USER"},
         ["AWAITING_USER>RUNNING response", "RUNNING>PENDING_COMPLETE mode_review"]),
        ("FINAL", {"missing_required_fields": ("city",)}, ["RUNNING>AWAITING_USER question"]),
        ("COLLECT", {"params": {"session_complete_proposed": "true"}}, ["RUNNING>PENDING_COMPLETE proposed_by_rule"]),
        (None, {"clarification": Clarification("Which?", "AGENT")}, ["RUNNING>AWAITING_USER question"]),
        (None, {"lifecycle": "INTERRUPTED"}, ["INTERRUPTED>RUNNING response"]),
        (None, {"lifecycle": "PENDING_COMPLETE", "reset_reason": "USER_TEXT_COMMAND"},
         ["PENDING_COMPLETE>RUNNING reset"]),
    ],
)  # fmt: skip
def test_moves_are_made_one_after_the_other(
    mode: str | None, fields: dict[str, Any], expected_moves: list[str]
) -> None:
    session, turn = begin("RESPONSE", *([template(mode)] if mode else []), **fields)

    ending.apply_end_of_turn(session, turn)

    assert moves(turn) == expected_moves


def test_an_unclear_message_leaves_its_question() -> None:
    question = {"type": "TEXT", "value": "Go on?"}
    session, turn = begin("UNCLEAR", lifecycle="PENDING_COMPLETE", last_assistant=question)
    session = session.evolve(reply_override=ReplyOverride("Go on?", ending.SOURCE))

    after = ending.apply_end_of_turn(session, turn)

    assert moves(turn) == ["PENDING_COMPLETE>RUNNING unclear", "RUNNING>AWAITING_USER unclear"]
    assert after.lifecycle_detail["question"] == "Go on?"


@pytest.mark.parametrize("resolved", [resume.OFFERED, ON_A_THREAD])
def test_what_is_said_on_return_moves_the_session_only_where_it_is_an_offer(resolved: str) -> None:
    session, turn = begin(resolved=resolved, reply_override=ReplyOverride("Welcome back.", resume.SOURCE))

    after = ending.apply_end_of_turn(session, turn)

    offered = resolved == resume.OFFERED
    assert (after.lifecycle, "resume" in after.lifecycle_detail) == (
        ("AWAITING_USER", True) if offered else ("RUNNING", False)
    )
    assert ("SESSION_LIFECYCLE" in stages(turn)) is offered
    if offered:
        assert payload(turn, "SESSION_LIFECYCLE")["reason"] == resume.OFFERED


INTENTS = (make_intent("TRIP"), make_intent("VISA"))
ASKED = {"type": "TEXT", "value": "Which city?"}


def at_trip(**values: Any) -> Session:
    return make_session(**{"intent": "TRIP", "state": "IDLE", "last_assistant": ASKED, **values})


def template_open_question(mode: str | None, intent: str = "TRIP") -> rows.PromptTemplate:
    return rows.PromptTemplate(
        template_id=1, intent_code=intent, state_code="ANY", response_type="TEXT", system_prompt="-", user_prompt="-",
        interaction_mode=mode,
    )  # fmt: skip


def runtime(status: str) -> dict[str, Any]:
    record = {"status": status, "action_key": "refund", "action_ref": "billing.refund", "scope": "TRIP|IDLE"}
    return {"pending_action_runtime": record}


@pytest.mark.parametrize(
    ("session", "mode", "question"),
    [
        (at_trip(), None, None),
        (at_trip(), "FINAL", None),
        (at_trip(clarification=Clarification("This or that?", "AGENT")), None, "This or that?"),
        (at_trip(missing_required_fields=("city",)), None, "Which city?"),
        *((at_trip(), mode, "Which city?") for mode in ("COLLECT", "CONFIRM", "DISAMBIGUATE", "PENDING_ACTION")),
        (at_trip(context=runtime("OPEN")), None, "Which city?"),
        (at_trip(context=runtime("REJECTED")), None, None),
        (at_trip(missing_required_fields=("city",), last_assistant=None), None, ""),
    ],
)
def test_the_open_question_is_the_one_that_was_asked_or_what_was_said(
    session: Session, mode: str | None, question: str | None
) -> None:
    assert find_open_question(session, make_turn(), mode) == question


@pytest.mark.parametrize(("intent", "is_open"), [("TRIP", True), ("VISA", False)])
def test_an_action_that_the_table_proposes_where_the_dialogue_stands_is_open(intent: str, is_open: bool) -> None:
    turn = make_turn(make_snapshot(*INTENTS, make_action("refund", intent_code=intent, state_code="IDLE")))

    assert has_open_action(at_trip(), turn) is is_open


@pytest.mark.parametrize(
    ("mode", "expected_mode"), [("REVIEW", "REVIEW"), ("review", "REVIEW"), ("SOMETHING", None), (None, None)]
)
def test_the_mode_is_that_of_the_template_of_the_answer(mode: str | None, expected_mode: str | None) -> None:
    assert (
        find_interaction_mode(at_trip(), make_turn(make_snapshot(*INTENTS, template_open_question(mode))))
        == expected_mode
    )


def test_an_answer_that_no_row_gave_has_no_mode() -> None:
    turn = make_turn(make_snapshot(*INTENTS, template_open_question("REVIEW")))

    assert find_interaction_mode(at_trip(reply_override=ReplyOverride("All right.", "RULE")), turn) is None
    assert find_interaction_mode(at_trip(intent="VISA"), turn) is None


def test_the_open_question_is_that_of_the_form_if_the_answer_has_it() -> None:
    session, turn = begin("RESPONSE", last_assistant={"type": "TEXT", "value": "Thanks. Who are you?"})

    assert ending.find_open_question(session.evolve(form_question="Who are you?"), turn, None) == "Who are you?"
    assert ending.find_open_question(session.evolve(form_question="Who?"), turn, None) == "Thanks. Who are you?"


def test_a_question_in_between_does_not_end_the_waiting() -> None:
    detail = {"question": "Sorry, who are you?", "asked_at": "earlier"}
    session, turn = begin("RESPONSE", lifecycle="AWAITING_USER", lifecycle_detail=detail)
    session = session.evolve(digression=Digression("FAQ", "IDLE", 1, question="Who are you?"))

    after = ending.apply_end_of_turn(session, turn)

    assert moves(turn) == []
    assert (after.lifecycle, after.lifecycle_detail) == ("AWAITING_USER", {**detail, "question": "Who are you?"})
