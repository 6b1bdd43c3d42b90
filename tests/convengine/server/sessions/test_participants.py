import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.urls import reverse

from convengine.server.sessions.models import CeConversation, CeThread, CeThreadPart
from convengine.server.sessions.participants import find_participants, insert_parts, starts_with
from tests.api import make_key
from tests.threads import Participant, travel_desk

pytestmark = [pytest.mark.django_db, pytest.mark.dialects]
NAMES = ("4915112345678@s.whatsapp.net", "José.Núñez@example.com", "anna smith", "Annika Schmidt")


@pytest.fixture(autouse=True)
def people() -> None:
    travel_desk()
    for name in NAMES:
        Participant(remote_jid=name).say("hello")


@pytest.mark.parametrize(
    ("typed", "found"),
    [
        ("+49 151 1234-5678", [NAMES[0]]),
        ("0151 12345678", [NAMES[0]]),
        ("45678", [NAMES[0]]),
        ("nunez", [NAMES[1]]),
        ("SMITH Anna", [NAMES[2]]),
        ("ann", [NAMES[3], NAMES[2]]),
        ("mid", [NAMES[3]]),
        (NAMES[1], [NAMES[1]]),
        ("anna nunez", []),
        ("", []),
        ("%", []),
    ],
)
def test_participants_are_found_by_parts(typed: str, found: list[str]) -> None:
    assert find_participants(typed) == found


def test_only_those_of_a_workspace_are_found_if_one_is_named() -> None:
    assert find_participants("ann", "elsewhere") == []
    assert len(find_participants("ann", "default")) == 2


def test_the_parts_go_with_their_thread() -> None:
    CeThread.objects.all().delete()

    assert not CeThreadPart.objects.exists()


def test_the_search_uses_the_index() -> None:
    with connection.cursor() as cursor:
        for thread in CeThread.objects.all():
            for number in range(500):
                insert_parts(cursor, thread.pk, f"p{number}x{thread.pk}@example.org")
        if connection.vendor == "postgresql":
            cursor.execute("ANALYZE ce_thread_part")
    plan = CeThreadPart.objects.filter(starts_with("part", "p499x")).values_list("thread_id").explain()

    assert "ce_thread_part_prefix" in plan


def test_the_list_of_threads_finds_them(client: Client) -> None:
    client.force_login(User.objects.create_superuser("ada"))

    page = client.get(reverse("admin:ce_sessions_cethread_changelist"), {"q": "0151 1234"}).content.decode()

    assert NAMES[0] in page
    assert NAMES[1] not in page


def test_the_search_box_and_the_list_of_conversations_find_them(client: Client) -> None:
    client.force_login(User.objects.create_superuser("ada"))
    headers = {"Accept": "application/json"}

    hits = client.get("/admin/find/", {"q": "nunez"}, headers=headers).json()["hits"]
    page = client.get(reverse("admin:ce_sessions_ceconversation_changelist"), {"q": "nunez"}).content.decode()

    assert hits[0]["name"] == NAMES[1]
    assert CeConversation.objects.get(remote_jid=NAMES[1]).pk.hex in hits[0]["url"].replace("-", "")
    assert NAMES[1] in page
    assert NAMES[0] not in page


def test_the_search_for_turns_finds_them(client: Client) -> None:
    headers = {"Authorization": f"Api-Key {make_key(scopes=['audit'])}"}

    turns = client.get("/api/v1/audit/turns", {"participant": "ann"}, headers=headers).json()["results"]

    assert [turn["participant"] for turn in turns] == [NAMES[3], NAMES[2]]
