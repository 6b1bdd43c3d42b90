"""One message is played as the first of a conversation: to which intents it leads."""

import pytest
from django.apps import apps
from django.utils import timezone

from convengine.play.first_message import list_reached_intents, play_first_message
from convengine.server.interfaces.configuration import configuration
from tests.worlds import create_help_desk

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(
    ("text", "intents"), [("hours", ("HOURS",)), ("hours and fees", ("HOURS", "FEES")), ("parking", ()), ("hello", ())]
)
def test_a_message_leads_to_an_intent_to_a_question_or_nowhere(text: str, intents: tuple[str, ...]) -> None:
    create_help_desk()
    before = {model: model._base_manager.count() for model in apps.get_models()}

    turn = play_first_message(configuration().current(), text, timezone.now())

    assert set(list_reached_intents(turn)) == set(intents)
    assert before == {model: model._base_manager.count() for model in apps.get_models()}
