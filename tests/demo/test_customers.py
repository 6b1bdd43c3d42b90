"""The help desk as people type who have not read what it understands, and as they answer its questions."""

from pathlib import Path

import pytest

from convengine.json_value import Json
from tests.conversations import list_conversations
from tests.demo.talking import tell

# How people put things is no matter of the database; test_conversations talks on each.
pytestmark = [pytest.mark.usefixtures("shared_helpdesk"), pytest.mark.nightly]

FILES = [Path(__file__).with_name(name) for name in ("customers.yaml", "questions.yaml")]


@pytest.mark.parametrize("conversation", list_conversations(*FILES))
def test_a_conversation_goes_as_it_is_told(conversation: dict[str, Json]) -> None:
    tell(conversation)
