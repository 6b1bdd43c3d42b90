"""Real turns for a record of any size: answered ones, and failed ones."""

import uuid
from dataclasses import dataclass

from django.test import Client

from bench import tasks, worlds
from config_admin.models import CeRelease, CeResponse
from config_admin.releases.change_set import change_set
from convengine.server.sessions.models import CeConversationHistory

#: Releases of the turns, one after the other.
RELEASES = 20


@dataclass(frozen=True)
class Templates:
    """The real turns."""

    answered: list[int]
    failed: list[int]
    releases: list[int]


def play_templates(secret: str) -> Templates:
    """Run an answered conversation, edit rule by rule, and run one that finds no answers."""
    worlds.load(1_000, 100)
    answered = _talk(secret)
    for number in range(RELEASES):
        tasks.edit(scoped=number % 2 == 0)
    releases = list(CeRelease.objects.order_by("-config_version").values_list("config_version", flat=True)[:RELEASES])
    with change_set(author="bench", reason="Nothing is answered"):
        CeResponse.objects.all().delete()
    failed = _talk(secret)
    worlds.load(1_000, 100)
    return Templates(answered, failed, releases[::-1])


def _talk(secret: str) -> list[int]:
    """The numbers of the turns of one conversation."""
    client, conversation = Client(SERVER_NAME="127.0.0.1", raise_request_exception=False), uuid.uuid4()
    for message in worlds.MESSAGES:
        body = {"conversationId": str(conversation), "message": message}
        client.post(tasks.PATH, body, content_type="application/json", headers={"Authorization": f"Api-Key {secret}"})
    turns = CeConversationHistory.objects.filter(conversation_id=conversation).order_by("turn_no")
    return list(turns.values_list("history_id", flat=True))
