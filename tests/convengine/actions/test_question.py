"""The question which action is meant, over several turns (pipeline-1 9.3, 12; R37, R101)."""

import pytest

from convengine.domain.ports import TaskAnswer
from tests.builders import make_action, make_classifier, make_intent, payload, stages
from tests.convengine.actions.talk import Talk
from tests.fakes.ports import RecordingTasks

FLIGHT = make_action("cancel_flight", bean_name="flight", method_names="x", description="Cancel the flight")
HOTEL = make_action("cancel_hotel", bean_name="hotel", method_names="x", description="Cancel the hotel booking")
PARCEL = make_classifier("PARCEL", "parcel")


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
