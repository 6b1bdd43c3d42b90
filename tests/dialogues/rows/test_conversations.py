"""What a bot of flows answers, told as conversations: a file of them beside this one is a subject."""

from pathlib import Path

import pytest

from convengine.json_value import Json
from tests.conversations import list_conversations, make_bot, play_conversation

pytestmark = pytest.mark.django_db

FILES = sorted(Path(__file__).parent.glob("*.yaml"))


@pytest.mark.parametrize("conversation", list_conversations(*FILES))
def test_a_conversation_goes_as_it_is_told(conversation: dict[str, Json]) -> None:
    make_bot(conversation)

    play_conversation(conversation)
