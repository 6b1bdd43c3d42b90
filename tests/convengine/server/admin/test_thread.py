"""The page of a thread lists its sessions; threads are found by who writes in them."""

from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from convengine.server.sessions.models import CeConversation, CeThread
from tests.sign_in import sign_in
from tests.threads import Participant, row_of, travel_desk

pytestmark = pytest.mark.django_db
LIST = "admin:ce_sessions_cethread_changelist"


@pytest.fixture
def reader() -> Client:
    return sign_in("ann", "analyst")


def thread_of(jid: str, sessions: int) -> CeThread:
    CeConversation.objects.bulk_create(
        CeConversation(
            channel="whatsapp", remote_jid=jid, lifecycle="COMPLETE", lifecycle_detail={"reason": f"end {number}"}
        )
        for number in range(sessions)
    )
    return CeThread.objects.create(workspace_id="default", channel="whatsapp", remote_jid=jid)


def page_of(thread: CeThread, query: str = "") -> str:
    return reverse("admin:ce_sessions_cethread_change", args=[thread.pk]) + query


def test_a_thread_lists_its_sessions_and_each_leads_back_to_it(reader: Client) -> None:
    travel_desk()
    guest = Participant()
    first = row_of(guest.say("a trip to Japan"))
    second = row_of(guest.say("reset"))
    Participant().say("hours")
    thread = CeThread.objects.get(remote_jid=guest.remote_jid)

    page = reader.get(page_of(thread))

    assert [entry["row"].pk for entry in page.context["sessions"]] == [second.pk, first.pk]
    text = page.content.decode()
    for part in ("Running", "Aborted", "the user wants to start over", "a trip to Japan", "TRIP / "):
        assert part in text
    back = reader.get(reverse("admin:ce_sessions_ceconversation_change", args=[first.pk])).content.decode()
    assert f'href="{page_of(thread)}"' in back


def test_sessions_follow_one_another_to_the_oldest(reader: Client) -> None:
    thread = thread_of("+1", 120)
    seen: list[Any] = []
    query: str | None = ""

    while query is not None:
        context = reader.get(page_of(thread, query)).context
        seen += [entry["row"].pk for entry in context["sessions"]]
        query = f"?before={context['older']}" if context["older"] else None

    assert len(seen) == len(set(seen)) == 120


@pytest.mark.parametrize("cursor", ["nonsense", "7b1c1f4e-58a5-4a4e-9d0f-0d4c5a0f3a11"])
def test_a_place_that_is_none_shows_what_there_is(cursor: str, reader: Client) -> None:
    assert reader.get(page_of(thread_of("+1", 1), f"?before={cursor}")).status_code == 200


def test_a_thread_whose_sessions_are_gone_says_so(reader: Client) -> None:
    assert "removed by retention" in reader.get(page_of(thread_of("+1", 0))).content.decode()


def test_a_thread_is_found_by_exactly_its_participant(reader: Client) -> None:
    wanted = thread_of("+49 170", 0)
    thread_of("+49 1701", 0)

    def find(text: str) -> list[CeThread]:
        return list(reader.get(reverse(LIST), {"q": text}).context["cl"].result_list)

    assert find(" +49 170 ") == [wanted]
    assert find("+49") == []
    assert len(find("")) == 2


def test_pages_of_threads_cost_the_same_however_many_sessions_there_are(reader: Client) -> None:
    few, many = thread_of("+1", 1), thread_of("+2", 400)

    def queries(address: str) -> int:
        reader.get(address)
        with CaptureQueriesContext(connection) as captured:
            reader.get(address)
        return len(captured)

    assert queries(page_of(many)) == queries(page_of(few)) <= 9
    before = queries(reverse(LIST))
    for number in range(200):
        CeThread.objects.create(workspace_id="default", channel="sms", remote_jid=str(number))
    assert queries(reverse(LIST)) == before <= 8


def test_who_may_not_see_it_is_refused_and_one_that_is_not_there_is_told(reader: Client) -> None:
    thread = thread_of("+1", 1)
    stranger = sign_in("sam")

    assert stranger.get(page_of(thread)).status_code == 403
    assert reader.get(reverse("admin:ce_sessions_cethread_change", args=[thread.pk + 1])).status_code == 302
