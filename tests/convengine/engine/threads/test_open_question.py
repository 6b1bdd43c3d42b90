"""What is open between a session and its user, as a turn ends (R83)."""

from typing import Any

import pytest

from convengine.engine.threads.open_question import (
    find_interaction_mode,
    find_open_question,
    get_last_answer,
    has_open_action,
)
from convengine.engine.turn import rows
from convengine.engine.turn.session import Clarification, ReplyOverride, Session
from tests.builders import make_action, make_intent, make_session, make_snapshot, make_turn

INTENTS = (make_intent("TRIP"), make_intent("VISA"))
ASKED = {"type": "TEXT", "value": "Which city?"}


def at_trip(**values: Any) -> Session:
    return make_session(**{"intent": "TRIP", "state": "IDLE", "last_assistant": ASKED, **values})


def template(mode: str | None, intent: str = "TRIP") -> rows.PromptTemplate:
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
    ("mode", "found"), [("REVIEW", "REVIEW"), ("review", "REVIEW"), ("SOMETHING", None), (None, None)]
)
def test_the_mode_is_that_of_the_template_of_the_answer(mode: str | None, found: str | None) -> None:
    assert find_interaction_mode(at_trip(), make_turn(make_snapshot(*INTENTS, template(mode)))) == found


def test_an_answer_that_no_row_gave_has_no_mode() -> None:
    turn = make_turn(make_snapshot(*INTENTS, template("REVIEW")))

    assert find_interaction_mode(at_trip(reply_override=ReplyOverride("All right.", "RULE")), turn) is None
    assert find_interaction_mode(at_trip(intent="VISA"), turn) is None


def test_what_was_said_is_the_words_of_the_last_answer() -> None:
    assert get_last_answer(at_trip()) == "Which city?"
    assert get_last_answer(at_trip(last_assistant=None)) == ""
