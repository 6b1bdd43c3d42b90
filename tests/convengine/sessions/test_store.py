import uuid
from typing import Any

import pytest

from audit.replay import replay
from config_admin.models import CeConfig, CeResponse
from convengine.domain.payload import TextPayload
from convengine.domain.session import Exchange
from convengine.domain.turn import TurnRequest
from convengine.errors import InvalidResponseTransformer
from convengine.extensions.registry import Registry
from convengine.extensions.scoped import transformer
from convengine.sessions.models import CeConversation, CeConversationHistory
from convengine.sessions.turns import TurnAnswer, take_turn
from convengine.wiring import Outside, using
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


def test_a_limit_that_was_raised_is_in_force_on_the_next_turn(conversation_id: str) -> None:
    row = CeConfig.objects.create(config_type="CONVERSATION_HISTORY", config_key="MAX_TURNS", config_value="1")
    for number in (1, 2, 3):
        say(conversation_id, f"hours {number}")
    row.config_value = "3"
    row.save()

    assert history(conversation_id) == ["hours 1", "hours 2", "hours 3"]


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


class Footer:
    def transform(self, payload: Any, session: Any, input_params: Any) -> str:
        return f"{payload.value} [{session['intent']}]"


def test_what_a_transformer_made_of_the_answer_is_what_is_kept_and_a_replay_asks_it_nothing(
    conversation_id: str,
) -> None:
    registry = Registry()
    registry.response_transformers["FINAL"].append(transformer(Footer, "ANY", "ANY", (), InvalidResponseTransformer))
    with using(Outside(registry=registry)):
        answer = say(conversation_id, "hours")

    assert answer.payload == TextPayload("Nine to five. [HOURS]")
    assert CeConversation.objects.get().last_assistant_json == {"type": "TEXT", "value": "Nine to five. [HOURS]"}
    assert say(conversation_id, "fees").session.history[0].assistant == "Nine to five. [HOURS]"
    assert replay(CeConversationHistory.objects.get(turn_no=1)) is None
