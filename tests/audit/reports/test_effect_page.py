"""The page of a release's effect: the rates with their uncertainty, and where to look next."""

import re

import pytest
from django.test import Client
from django.urls import reverse

from config_admin import models as m
from config_admin.releases.change_set import change_set
from config_admin.releases.models import Origin
from tests.audit.reports.counts import blame_releases, count, count_turns
from tests.config_admin.builders import make
from tests.sign_in import sign_in

pytestmark = pytest.mark.django_db


@pytest.fixture
def ada() -> Client:
    return sign_in("ada", "config_admin")


def release(author: str = "ben", reason: str = "Softer words") -> int:
    with change_set(Origin.ADMIN, author, reason) as change:
        make(m.CeIntent, intent_code=f"LOAN{m.CeIntent.objects.count()}")
    assert change.release
    return change.release.pk


def open_page(client: Client, number: int) -> str:
    response = client.get(reverse("admin:audit_ceaudit_effect", args=[number]))
    assert response.status_code == 200
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", response.content.decode()))


def test_the_rates_stand_beside_each_other_with_their_uncertainty(ada: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    blame_releases(monkeypatch)
    first, second = release(), release(reason="Friendlier words")
    count_turns(300, 20, days=2, release=first)
    count_turns(200, 50, days=1, release=second)

    page = open_page(ada, second)

    assert "Not understood: 6.7 % → 25.0 %, worse." in page
    assert "25.0 % 19.5 to 31.4 % 50 of 200 turns" in page
    assert re.search(r"These shares are of the turns from \w+day [^:]+:00, to now: at most 30 days before", page)
    assert "Friendlier words" in page
    assert "What it changed Take it back" in page


def test_an_intent_that_lost_its_turns_is_named_though_no_rate_differs(ada: Client) -> None:
    first, second = release(), release()
    count("TURN", "OK", 200, days=2, release=first)
    count("TURN", "OK", 100, days=2, release=first, intent="FEES")
    count("TURN", "OK", 200, days=1, release=second)

    page = open_page(ada, second)

    assert "No rate differs by more than chance explains." in page
    assert "changed by more than chance explains: " in page
    assert "FEES (33.3 % → 0.0 %)" in page


def test_a_burst_of_releases_is_judged_together(ada: Client) -> None:
    first, second, third = release(), release(reason="A typing mistake"), release()
    count_turns(300, 20, days=2, release=first)
    count_turns(200, 50, days=1, release=third)

    assert open_page(ada, second).count("A typing mistake") == 1
    assert "Judged together" in open_page(ada, third)


def test_few_turns_and_none_are_said(ada: Client) -> None:
    first, second, third = release(), release(), release()
    count_turns(300, 20, days=2, release=first)
    count_turns(20, 20, days=1, release=second)

    assert "There are too few turns to say." in open_page(ada, second)
    assert "nothing to compare with" in open_page(ada, first)
    assert "No turn ran on this release." in open_page(ada, third)
    assert ada.get(reverse("admin:audit_ceaudit_effect", args=[99])).status_code == 404


def test_it_is_reached_from_the_release_by_those_who_may_read_turns(ada: Client) -> None:
    number = release()
    address = reverse("admin:audit_ceaudit_effect", args=[number])
    page = reverse("admin:config_admin_cerelease_change", args=[number])
    assert address in ada.get(page).content.decode()
    assert sign_in("olga", "operator").get(address).status_code == 403


def test_a_release_of_any_number_that_does_not_exist_is_not_found(ada: Client) -> None:
    for number in (999, 10**20):
        assert ada.get(reverse("admin:audit_ceaudit_effect", args=[number])).status_code == 404


def test_a_share_of_conversations_has_a_list(ada: Client) -> None:
    first, second = release(), release()
    for number, days in ((first, 2), (second, 1)):
        count_turns(100, 0, days=days, release=number)
        count("OUTCOME", "RESOLVED", 2, days=days, release=number)
        count("OUTCOME", "HANDED_OVER", 5 if number == second else 1, days=days, release=number)
    shown = ada.get(reverse("admin:audit_ceaudit_effect", args=[second])).context["lines"][1]
    assert (shown.rate.before.part, bool(shown.before_url)) == (1, True)
    assert (shown.rate.after.part, shown.rate.after.whole, bool(shown.after_url)) == (5, 7, True)
