"""What comes of the meanings of messages beside the table of sessions 3, for which see sessions/rows."""

from typing import Any

import pytest

from convengine.engine.threads.message_intent import is_one_of, list_splits
from convengine.engine.understanding.finders import FINDERS
from convengine.engine.understanding.language import get_tables
from convengine.engine.understanding.understand import understand
from convengine.server.sessions.models import CeConversation
from tests.api import Caller
from tests.threads import Participant, row_of, set_rule, setting, travel_desk

pytestmark = pytest.mark.django_db


@pytest.fixture
def guest() -> Participant:
    travel_desk()
    return Participant()


def get_meaning(guest: Participant, answer: Any) -> tuple[str, str]:
    """The meaning as answered, and as it stands in the trail."""
    events = guest.stages(answer, "MESSAGE_INTENT_CLASSIFIED")
    assert events[-1]["messageIntent"] == answer["message_intent"]
    return answer["message_intent"], answer["session"]["lifecycle"]


def test_NEW_TASK_ends_this_session_and_the_turn_runs_in_the_next(guest: Participant) -> None:
    first = guest.say("a trip", input_params={"tier": "gold"})

    answer = guest.say("tell me the hours", input_params={"lang": "en"})

    assert get_meaning(guest, answer) == ("NEW_TASK", "RUNNING")
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


def test_a_turn_that_began_a_new_task_can_be_replayed(guest: Participant) -> None:
    from audit.replay.replay import find_replay_difference

    guest.say("a trip")

    record = row_of(guest.say("tell me the hours")).turns.get()

    assert find_replay_difference(record) is None


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


def test_NEW_TASK_is_stored_whole_when_events_are_written_step_by_step(guest: Participant) -> None:
    setting("AUDIT/FLUSH", "STEP")
    guest.say("a trip")

    answer = guest.say("tell me the hours")

    assert [stage["text"] for stage in guest.stages(answer, "USER_INPUT")] == ["tell me the hours"]
    assert guest.stages(answer, "ENGINE_RETURN")


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


@pytest.mark.parametrize("text", ["Perfect, thanks!", "perfect thanks", "  PERFECT  thanks. "])
def test_punctuation_and_case_do_not_count(text: str) -> None:
    assert is_one_of(text, ["perfect thanks"])


@pytest.mark.parametrize("text", ["never mind the gap", "", None, "mind"])
def test_a_phrase_is_the_whole_text_or_nothing(text: str | None) -> None:
    assert not is_one_of(text, ["never mind"])


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("looks good but also add a hotel", ("looks good", "add a hotel")),
        ("Looks good, and a hotel", ("Looks good", "and a hotel")),
        ("done except the hotel", ("done", "except the hotel")),
        ("yes plus breakfast", ("yes", "plus breakfast")),
    ],
)
def test_more_begins_with_another_clause(text: str, parts: tuple[str, str]) -> None:
    assert next(list_splits(understand(text, get_tables(""), FINDERS))) == parts


@pytest.mark.parametrize("text", ["looks good", "looks good but", "looks good, ...", "sandy beach", "and more"])
def test_without_another_clause_there_is_nothing_more(text: str) -> None:
    assert list(list_splits(understand(text, get_tables(""), FINDERS))) == []
