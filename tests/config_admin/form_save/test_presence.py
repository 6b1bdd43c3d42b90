"""Who else has a row open, and what becomes of it meanwhile."""

from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from config_admin import models as m
from config_admin.form_save import presence
from config_admin.releases.change_set import change_set
from tests.config_admin.admin.pages import a_response, address, fill, form_of
from tests.config_admin.builders import make

pytestmark = pytest.mark.django_db
ADA, BEN = "visit-of-ada", "visit-of-ben"


@pytest.fixture
def row() -> m.CeResponse:
    return a_response()


def say(client: Client, row: Any, visit: str, **more: str) -> Any:
    sent = {"table": row._meta.db_table, "pk": str(row.pk), "visit": visit, "doing": "OPEN", **more}
    return client.post(reverse("config_admin_here"), sent)


def others(client: Client, row: Any, visit: str, **more: str) -> list[str]:
    visitors: list[str] = say(client, row, visit, **more).json()["others"]
    return visitors


def clock() -> str:
    return timezone.localtime().strftime("%H:%M")


def test_whoever_opens_a_row_hears_who_has_it_open_and_since_when(ada: Client, ben: Client, row: Any) -> None:
    User.objects.filter(username="ben").update(first_name="Ben", last_name="Bow")

    assert others(ben, row, BEN) == []
    assert others(ada, row, ADA) == [f"Ben Bow also has this row open, since {clock()}."]
    assert others(ben, row, BEN) == [f"ada also has this row open, since {clock()}."]
    assert others(ada, a_response(), "another-row") == []


@pytest.mark.parametrize(
    ("doing", "activity"),
    [("READING", "is also reading this row"), ("CHANGING", "is also changing this row"), ("?", "also has this row")],
)
def test_it_tells_what_they_do(doing: str, activity: str, ada: Client, ben: Client, row: Any) -> None:
    say(ben, row, BEN, doing=doing)

    assert others(ada, row, ADA)[0].startswith(f"ben {activity}")


def test_another_window_of_one_s_own_is_told_as_such(ada: Client, row: Any) -> None:
    say(ada, row, "first-window")

    assert others(ada, row, ADA) == [f"You also have this row open in another window, since {clock()}."]


def test_who_leaves_is_gone_and_who_comes_back_was_there_before(ada: Client, ben: Client, row: Any) -> None:
    say(ben, row, BEN)
    since = m.CePresence.objects.get(pk=BEN).since
    say(ben, row, BEN, leaving="1")
    assert others(ada, row, ADA) == []

    say(ben, row, BEN)
    assert len(others(ada, row, ADA)) == 1
    assert m.CePresence.objects.get(pk=BEN).since == since


def test_who_says_nothing_for_a_minute_is_gone_and_later_forgotten(ada: Client, ben: Client, row: Any) -> None:
    say(ben, row, BEN)
    m.CePresence.objects.filter(pk=BEN).update(seen_at=timezone.now() - timedelta(seconds=61))
    assert others(ada, row, ADA) == []

    m.CePresence.objects.filter(pk=BEN).update(seen_at=timezone.now() - timedelta(minutes=11))
    say(ada, row, "another-visit")
    assert not m.CePresence.objects.filter(pk=BEN).exists()


def test_of_who_is_quiet_it_tells_when_they_were_last_seen(ada: Client, ben: Client, row: Any) -> None:
    say(ben, row, BEN)
    quiet = timezone.now() - timedelta(seconds=40)
    m.CePresence.objects.filter(pk=BEN).update(seen_at=quiet)

    (line,) = others(ada, row, ADA)
    assert line.endswith(f", last seen {timezone.localtime(quiet):%H:%M:%S}.")


def test_nobody_speaks_for_another_window(ada: Client, ben: Client, row: Any) -> None:
    say(ben, row, BEN)
    say(ada, row, BEN, leaving="1")
    say(ada, row, BEN, doing="CHANGING")

    stored = m.CePresence.objects.get(pk=BEN)
    assert (stored.user.username, stored.doing) == ("ben", "OPEN")
    assert stored.seen_at > timezone.now() - presence.GONE


def test_a_change_is_told_while_the_row_is_open(ada: Client, ben: Client, row: Any) -> None:
    url = address(m.CeResponse, "change", row.pk)
    seen = str(form_of(ada.get(url)).meeting.stored)
    assert say(ada, row, ADA, seen=seen).json()["news"] == ""

    fill(ben, url, exact_text="Ben was here.")

    news = say(ada, row, ADA, seen=seen).json()["news"]
    assert news.startswith("ben (")
    assert "saved this row while you have it open. Nothing is lost" in news


def test_a_deletion_is_told_while_the_row_is_open(ada: Client, ben: Client, row: Any) -> None:
    seen = str(form_of(ada.get(address(m.CeResponse, "change", row.pk))).meeting.stored)
    ben.post(address(m.CeResponse, "delete", row.pk), {"post": "yes", "reason": "Not said any more"})

    body = say(ada, row, ADA, seen=seen).json()

    assert "deleted this row. Your input is kept. Save to create the row again." in body["news"]
    assert body["history"] == address(m.CeResponse, "history", row.pk)


def test_whoever_is_about_to_delete_a_row_hears_who_has_it_open(ada: Client, ben: Client, row: Any) -> None:
    say(ben, row, BEN, doing="CHANGING")

    assert "ben is also changing this row" in ada.get(address(m.CeResponse, "delete", row.pk)).content.decode()


def test_who_may_not_see_a_table_says_nothing_there(somebody: Any, row: Any) -> None:
    with change_set():
        server = make(m.CeMcpServer)
    ines, quinn = somebody("ines", "integrator"), somebody("quinn", "qa")

    assert say(ines, server, "visit-of-ines").status_code == 403
    assert say(quinn, row, "visit-of-quinn", doing="READING").status_code == 200
    assert say(Client(), row, "visit-of-nobody").status_code == 302


@pytest.mark.parametrize(("field", "value", "status"), [("table", "auth_user", 404), ("visit", "<b>", 400)])
def test_nonsense_is_refused(field: str, value: str, status: int, ada: Client, row: Any) -> None:
    sent = {"table": "ce_response", "pk": "1", "visit": ADA, field: value}

    assert ada.post(reverse("config_admin_here"), sent).status_code == status


def test_a_word_costs_few_queries(ada: Client, ben: Client, row: Any, django_assert_max_num_queries: Any) -> None:
    seen = str(form_of(ada.get(address(m.CeResponse, "change", row.pk))).meeting.stored)
    say(ben, row, BEN)
    say(ada, row, ADA, seen=seen)

    with django_assert_max_num_queries(7):
        say(ada, row, ADA, seen=seen)


def test_the_secret_that_is_given_opens_a_form(ben: Client) -> None:
    strict = Client(enforce_csrf_checks=True)
    strict.cookies = ben.cookies
    assert strict.get(reverse("config_admin_signed_in")).status_code == 204
    token = strict.cookies["csrftoken"].value
    url = address(m.CeIntent, "add")

    assert strict.post(url, {"csrfmiddlewaretoken": "old"}).status_code == 403
    assert strict.post(url, {"csrfmiddlewaretoken": token}).status_code == 200


def test_nobody_is_given_none(client: Client) -> None:
    assert client.get(reverse("config_admin_signed_in")).status_code == 302
