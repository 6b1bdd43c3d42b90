"""Choices whose options come from a data source, a tool or a task."""

from pathlib import Path
from typing import Any

import pytest

from audit.replay.replay import replay_turn
from convengine.json_value import Json
from convengine.server.sessions.models import CeConversationHistory
from tests.conversations import list_conversations, make_bot, play_conversation

pytestmark = pytest.mark.django_db
CONVERSATIONS: Any = list_conversations(Path(__file__).with_name("options_from_data.yaml"))


@pytest.mark.parametrize("conversation", CONVERSATIONS)
def test_a_conversation_goes_as_it_is_written_and_replays_equal(conversation: dict[str, Json]) -> None:
    for stub in conversation.get("containers", ()):
        if stub["result"] == "201 accounts":
            stub["result"] = [{"iban": f"DE-{number}"} for number in range(201)]
    make_bot(conversation)
    play_conversation(conversation)

    assert all(replay_turn(turn).is_equal for turn in CeConversationHistory.objects.all())


def test_the_record_names_an_option_by_its_label() -> None:
    conversation = next(each.values[0] for each in CONVERSATIONS if "the first message" in each.id)
    make_bot(conversation)
    (turn,) = play_conversation(conversation)

    assert "The data at $.container_data.accounts are the options of Account: 2 of 4 entries." in turn.explanation
    assert "The message gave Account = Holiday savings." in turn.explanation
