"""What the tests of conversations begin with."""

import uuid

import pytest

from tests.convengine.server.turns.test_take_turn import say
from tests.worlds import create_help_desk


@pytest.fixture
def conversation_id() -> str:
    """A conversation of one turn at the desk."""
    create_help_desk()
    name = str(uuid.uuid4())
    say(name)
    return name
