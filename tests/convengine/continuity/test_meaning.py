"""The table of sessions 3, row by row: what a message means to its session."""

from typing import Any

import pytest

from config_admin.models import CeConfig
from convengine import wiring
from convengine.llm.scripted import Line, ScriptedModel
from convengine.sessions.models import CeConversation
from tests.api import Caller
from tests.threads import Participant, row_of, set_rule, setting, travel_desk

pytestmark = pytest.mark.django_db


@pytest.fixture
def guest() -> Participant:
    travel_desk()
    return Participant()


def meant(guest: Participant, answer: Any) -> tuple[str, str]:
    """The meaning as answered, and as it stands in the trail."""
    events = guest.stages(answer, "MESSAGE_INTENT_CLASSIFIED")
    assert events[-1]["messageIntent"] == answer["message_intent"]
    return answer["message_intent"], answer["session"]["lifecycle"]


@pytest.mark.parametrize("text", ["Japan", "what is that?", "yes", "hello"])
def test_RESPONSE_is_anything_said_while_a_question_is_open(guest: Participant, text: str) -> None:
    guest.say("a visa")

    answer = guest.say(text)

    assert meant(guest, answer)[0] == "RESPONSE"
    assert guest.moves(answer)[0] == "AWAITING_USER>RUNNING"


def test_RESPONSE_is_not_an_abandon_phrase(guest: Participant) -> None:
    guest.say("a visa")

    assert meant(guest, guest.say("never mind")) == ("ABANDON", "ABORTED")


def test_RESPONSE_is_not_a_clear_request_for_another_intent(guest: Participant) -> None:
    guest.say("a visa")

    assert meant(guest, guest.say("tell me the hours"))[0] == "NEW_TASK"


def test_MODIFICATION_is_an_edit(guest: Participant) -> None:
    guest.say("a trip")

    answer = guest.say("edit")

    assert meant(guest, answer)[0] == "MODIFICATION"
    assert guest.moves(answer)[0] == "PENDING_COMPLETE>RUNNING"


@pytest.mark.parametrize("text", ["yes", "looks good", "done", "perfect, thanks", "Thank you!", "yes, thanks"])
def test_CONFIRMATION_completes_the_session(guest: Participant, text: str) -> None:
    guest.say("a trip")

    answer = guest.say(text)

    assert meant(guest, answer) == ("CONFIRMATION", "COMPLETE")
    assert answer["reply"] == "Great, all done. Come back any time."
    assert answer["session"]["status"] == "closed"
    assert guest.moves(answer) == ["PENDING_COMPLETE>COMPLETE"]


@pytest.mark.parametrize("text", ["looks good but also add a hotel", "yes, and a car", "done except the hotel"])
def test_MODIFICATION_is_a_yes_and_more(guest: Participant, text: str) -> None:
    guest.say("a trip")

    answer = guest.say(text)

    assert meant(guest, answer)[0] == "MODIFICATION"
    assert guest.moves(answer)[0] == "PENDING_COMPLETE>RUNNING"


def test_NEW_TASK_ends_this_session_and_the_turn_runs_in_the_next(guest: Participant) -> None:
    first = guest.say("a trip", input_params={"tier": "gold"})

    answer = guest.say("tell me the hours", input_params={"lang": "en"})

    assert meant(guest, answer) == ("NEW_TASK", "RUNNING")
    assert answer["reply"] == "Nine to five."
    assert answer["session_id"] != first["session_id"]
    assert answer["session"]["previous_session_id"] == first["session_id"]
    assert (answer["turn"]["turnNo"], answer["session"]["turn_count"]) == (1, 1)
    old, new = row_of(first), row_of(answer)
    assert (old.lifecycle, old.lifecycle_detail["reason"], old.lease_token) == ("COMPLETE", "new_task", None)
    assert (new.intent_code, new.lifecycle, new.turn_count, new.last_turn_no) == ("HOURS", "RUNNING", 1, 1)
    assert "tier" not in new.input_params_json
    assert new.input_params_json["lang"] == "en"
    assert str(new.previous_session_id) == first["session_id"]
    assert [(turn.turn_no, turn.user_input) for turn in new.turns.all()] == [(1, "tell me the hours")]
    assert guest.say("hours?")["session_id"] == answer["session_id"]


def test_NEW_TASK_begins_with_what_the_last_session_left(guest: Participant) -> None:
    first = guest.say("a trip")

    new = row_of(guest.say("tell me the hours"))

    assert new.context_json["memory"]["recalled_summary"] == row_of(first).context_summary


def test_a_turn_that_began_a_new_task_can_be_replayed(guest: Participant) -> None:
    from audit.replay import replay

    guest.say("a trip")

    record = row_of(guest.say("tell me the hours")).turns.get()

    assert replay(record) is None


def test_a_turn_that_fails_in_the_session_that_it_began_never_began_it(guest: Participant) -> None:
    from config_admin.models import CeResponse

    first = guest.say("a trip")
    CeResponse.objects.filter(intent_code="HOURS").delete()

    answer = guest.say("tell me the hours")

    assert (answer["ok"], answer["turn"]["errorCode"]) == (False, "RESPONSE_MAPPING_NOT_FOUND")
    assert answer["session_id"] == first["session_id"]
    row = CeConversation.objects.get()
    assert (row.lifecycle, row.intent_code, row.last_turn_no) == ("PENDING_COMPLETE", "TRIP", 2)
    assert row.turns.get(turn_no=2).status == "FAILED"


def test_NEW_TASK_is_not_a_first_request(guest: Participant) -> None:
    guest.say("hello")

    assert meant(guest, guest.say("tell me the hours"))[0] == "CONTINUATION"


def test_NEW_TASK_is_stored_whole_when_events_are_written_step_by_step(guest: Participant) -> None:
    setting("AUDIT/FLUSH", "STEP")
    guest.say("a trip")

    answer = guest.say("tell me the hours")

    assert [one["text"] for one in guest.stages(answer, "USER_INPUT")] == ["tell me the hours"]
    assert guest.stages(answer, "ENGINE_RETURN")


@pytest.mark.parametrize("text", ["never mind", "Stop!", "forget it"])
@pytest.mark.parametrize("before", ["hours", "a visa", "a trip"])
def test_ABANDON_aborts_from_any_open_state(guest: Participant, before: str, text: str) -> None:
    guest.say(before)

    answer = guest.say(text)

    assert meant(guest, answer) == ("ABANDON", "ABORTED")
    assert answer["reply"] == "All right, I have dropped it. Tell me when you need something."
    assert row_of(answer).lifecycle_detail["reason"] == "abandoned"


def test_ABANDON_is_not_said_while_an_action_waits_a_no_rejects_the_action(guest: Participant) -> None:
    guest.say("a refund")

    answer = guest.say("stop")

    assert meant(guest, answer)[0] == "RESPONSE"
    assert answer["session"]["lifecycle"] != "ABORTED"


def test_UNCLEAR_asks_whether_to_go_on(guest: Participant) -> None:
    guest.say("a trip")

    answer = guest.say("bananas")

    assert meant(guest, answer) == ("UNCLEAR", "AWAITING_USER")
    assert answer["reply"] == "Would you like to go on with this, or start something new?"
    assert row_of(answer).lifecycle_detail["question"] == answer["reply"]


def test_UNCLEAR_is_settled_when_the_turn_resolved_an_intent(guest: Participant) -> None:
    guest.say("a trip")

    answer = guest.say("the trip?")

    assert meant(guest, answer)[0] == "CONTINUATION"


def test_UNCLEAR_may_be_asked_of_a_model(guest: Participant) -> None:
    setting("CLASSIFY_WITH_LLM", "true")
    guest.say("a trip")
    said = '{"messageIntent": "MODIFICATION", "confidence": 0.9}'
    lines = [Line(("DIALOGUE_ACT",), said, None, ("Task so far",))]

    with wiring.using(wiring.Outside(model=ScriptedModel(lines))):
        answer = guest.say("bananas")

    assert meant(guest, answer)[0] == "MODIFICATION"


def test_UNCLEAR_stays_when_the_model_is_not_sure(guest: Participant) -> None:
    setting("CLASSIFY_WITH_LLM", "true")
    guest.say("a trip")
    lines = [Line(("DIALOGUE_ACT",), '{"messageIntent": "MODIFICATION", "confidence": 0.5}')]

    with wiring.using(wiring.Outside(model=ScriptedModel(lines))):
        answer = guest.say("bananas")

    assert meant(guest, answer)[0] == "UNCLEAR"


def test_CONTINUATION_is_everything_else(guest: Participant) -> None:
    guest.say("hours")

    assert meant(guest, guest.say("and on sunday?")) == ("CONTINUATION", "RUNNING")


def test_phrases_are_rows_of_the_configuration(guest: Participant) -> None:
    setting("CLOSING_PHRASES", "ship it")
    guest.say("a trip")

    assert meant(guest, guest.say("Ship it!"))[0] == "CONFIRMATION"
    assert CeConfig.objects.filter(config_key="CLOSING_PHRASES").exists()


def test_a_rule_that_moved_the_state_makes_the_row_answer(guest: Participant) -> None:
    guest.say("a trip")
    set_rule("TRIP", "SET_STATE", "DONE")

    answer = guest.say("looks good")

    assert (answer["reply"], answer["session"]["lifecycle"]) == ("Here is your plan.", "COMPLETE")


def test_on_the_plain_turn_api_the_meaning_changes_no_answer(guest: Participant) -> None:
    caller = Caller(guest.secret)
    caller.say("a trip")

    answer = caller.say("looks good")

    assert answer["payload"]["value"] == "Here is your plan."
    assert answer["stateReport"]["lifecycle"] == "COMPLETE"


def test_on_the_plain_turn_api_another_intent_stays_in_its_conversation(guest: Participant) -> None:
    caller = Caller(guest.secret)
    caller.say("a trip")

    answer = caller.say("tell me the hours")

    assert (answer["conversationId"], answer["turnNo"]) == (caller.conversation_id, 2)
