import uuid

import pytest

from config_admin.models import CeConfig, CeResponse
from convengine.domain.session import Exchange
from convengine.domain.turn import TurnRequest
from convengine.sessions.turns import TurnAnswer, take_turn
from tests.worlds import desk

pytestmark = pytest.mark.django_db


@pytest.fixture
def conversation_id() -> str:
    desk()
    return str(uuid.uuid4())


def say(conversation_id: str, text: str | None) -> TurnAnswer:
    answer = take_turn(TurnRequest(conversation_id, text))
    assert isinstance(answer, TurnAnswer)
    return answer


def history(conversation_id: str) -> list[str]:
    """What the user said, as the next turn's prompts would have it."""
    return [turn.user for turn in say(conversation_id, "fees").session.history]


def test_P2_13_V1_the_newest_turns_come_the_oldest_of_them_first(conversation_id: str) -> None:
    CeConfig.objects.create(config_type="CONVERSATION_HISTORY", config_key="MAX_TURNS", config_value="2")
    for number in (1, 2, 3):
        say(conversation_id, f"hours {number}")

    assert history(conversation_id) == ["hours 2", "hours 3"]


def test_P2_13_V5_a_turn_without_words_on_both_sides_is_left_out(conversation_id: str) -> None:
    CeResponse.objects.filter(intent_code="HOURS", state_code="IDLE").update(exact_text="")
    say(conversation_id, "hours")
    say(conversation_id, None)
    say(conversation_id, "fees")

    found = say(conversation_id, "fees").session.history
    assert found == (Exchange("fees", "No fees."),)


def test_P2_13_V6_turns_before_a_reset_are_not_returned(conversation_id: str) -> None:
    say(conversation_id, "hours 1")
    take_turn(TurnRequest(conversation_id, "hours 2", input_params={"reset": True}))
    say(conversation_id, "hours 3")

    assert history(conversation_id) == ["hours 2", "hours 3"]
