"""Turns as the product leaves them, of which a record of any size is made: answered ones, and such as failed."""

import uuid
from dataclasses import dataclass

from django.test import Client

from bench import tasks, worlds
from config_admin.models import CeRelease, CeResponse
from config_admin.releases.change_set import change_set
from convengine.sessions.models import CeConversationHistory

#: Releases that turns ran on, one behind the other.
RELEASES = 20


@dataclass(frozen=True)
class Templates:
    """What there is to make a record of."""

    answered: list[int]
    failed: list[int]
    releases: list[int]


def played(secret: str) -> Templates:
    """Play a conversation that is answered, edit rule by rule, and play one that finds no answers."""
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
    client, one = Client(SERVER_NAME="127.0.0.1", raise_request_exception=False), str(uuid.uuid4())
    for message in worlds.MESSAGES:
        body = {"conversationId": one, "message": message}
        client.post(tasks.PATH, body, content_type="application/json", headers={"Authorization": f"Api-Key {secret}"})
    turns = CeConversationHistory.objects.filter(conversation_id=one).order_by("turn_no")
    return list(turns.values_list("history_id", flat=True))
