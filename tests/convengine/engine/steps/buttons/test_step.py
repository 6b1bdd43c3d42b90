"""Buttons of answers; the conversations are in `buttons.yaml`."""

from pathlib import Path
from typing import Any

import pytest

from audit.replay.replay import replay_turn
from convengine.json_value import Json
from convengine.server.sessions.models import CeConversationHistory
from tests.conversations import list_conversations, make_bot, play_conversation

pytestmark = pytest.mark.django_db
CONVERSATIONS: Any = list_conversations(Path(__file__).with_name("buttons.yaml"))


@pytest.mark.parametrize("conversation", CONVERSATIONS)
def test_a_pressed_button_says_its_message_and_replays_equal(conversation: dict[str, Json]) -> None:
    make_bot(conversation)
    turns = play_conversation(conversation)

    assert all(replay_turn(turn).is_equal for turn in CeConversationHistory.objects.all())
    stored = CeConversationHistory.objects.order_by("history_id").values_list("user_input", flat=True)
    assert [*stored] == [turn.message for turn in turns]
    if "presses a button" in str(conversation["title"]):
        assert "The user pressed “My card is gone!”, which sends “I lost my card”." not in turns[1].explanation
        assert "The user pressed “My card is gone”, which sends “I lost my card”." in turns[1].explanation


def test_a_message_of_thousands_of_digits_is_no_number_of_a_button() -> None:
    conversation = next(each.values[0] for each in CONVERSATIONS if "presses a button" in each.id)
    beginning, *_ = conversation["turns"]
    long = {"user": "7" * 5000, "expect": {"audit_stages_absent": ["BUTTON_PRESSED"]}}
    make_bot({**conversation, "turns": [beginning, long]})

    play_conversation({**conversation, "turns": [beginning, long]})
