"""Whole conversations, the same on every channel: `conversations.yaml`."""

from pathlib import Path
from typing import Any

import pytest
import yaml
from django.utils.dateparse import parse_datetime

from convengine.server.channels.models import CeOptOut
from convengine.server.sessions.models import CeConversation
from convengine.server.threads.hand_over import answer_as_person, give_back
from tests.convengine.server.channels.conftest import World
from tests.dialogues.play import store_flows
from tests.live.configuration import configure

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.dialects]
FILE = yaml.safe_load(Path(__file__).with_name("conversations.yaml").read_text())
CONVERSATIONS = FILE["conversations"]
USER = "49151"


@pytest.mark.parametrize("conversation", CONVERSATIONS, ids=[each["about"] for each in CONVERSATIONS])
def test_the_user_sees_what_the_conversation_says(conversation: dict[str, Any], world: World, settings: Any) -> None:
    settings.CONVENGINE = {**settings.CONVENGINE, "CLOCK_AT": parse_datetime(FILE["clock"])}
    store_flows(FILE)
    configure("HandOverStep/HAS_DESK", "true")
    provider, place = world.provider, world.provider.address(USER)

    for step in conversation["steps"]:
        before = len(provider.shown)
        play(world, step)
        shown = provider.shown[before:]
        assert [each.text for each in shown] == step.get("shown", []), step
        assert {each.to for each in shown} <= {place}
        assert not shown or list(shown[-1].options) == step.get("options", []), step
    assert CeOptOut.objects.count() == conversation.get("opted_out", 0)


def play(world: World, step: dict[str, Any]) -> None:
    if text := step.get("person"):
        answer_as_person(str(CeConversation.objects.get().pk), "default", text, "ada")
        world.work()
    elif text := step.get("gives_back"):
        give_back(str(CeConversation.objects.get().pk), "default", text, "ada")
        world.work()
    elif label := step.get("chooses"):
        request = world.provider.choose(USER, label)
        # An impatient provider sends it again.
        assert [world.post(request).status_code for _ in range(3)] == [200, 200, 200]
        world.work()
    else:
        world.write(USER, step["user"])
