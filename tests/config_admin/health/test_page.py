"""The page of the health check: progress, findings with their rows, what was accepted and why."""

import time
import uuid
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import Permission, User
from django.test import Client

from config_admin import models as m
from config_admin.editing.links import health_url
from config_admin.releases.change_set import change_set
from convengine.server.database.sql import database_time
from convengine.server.phrase_models.models import CePhraseModel, CePhraseVector
from convengine.server.turns.dead_turns import recover_expired_lease
from tests.config_admin.builders import make
from tests.convengine.server.turns.test_take_turn import hold_lease, say
from tests.sign_in import sign_in
from tests.worlds import create_help_desk

pytestmark = pytest.mark.django_db


def open_finished_check(client: Client) -> str:
    """The page, once the check is through."""
    for _ in range(300):
        page = client.get(health_url()).content.decode()
        if "<progress" not in page:
            return page
        time.sleep(0.05)
    raise AssertionError("The check did not end.")


def finding(client: Client) -> dict[str, str]:
    """What the form of the first finding sends."""
    page = client.get(health_url())
    first = page.context["findings"][0]
    return {"fingerprint": first["fingerprint"], "code": first["code"]}


@pytest.mark.parametrize(("days", "is_told"), [(1, True), (8, False)])
def test_it_tells_for_a_week_that_somebody_changed_a_stored_classifier(ben: Client, days: int, is_told: bool) -> None:
    then = database_time() - timedelta(days=days)
    CePhraseModel.objects.create(name="3f2a", weights=b"learned", used_at=then, refused_at=then)
    CePhraseVector.objects.create(name="77c1", vector=b"", made_at=then, refused_at=then)

    page = ben.get(health_url()).content.decode()

    for sentence in (
        "1 classifier of phrases changed outside",
        "1 vector of a phrase changed outside",
        "row 77c1 of ce_phrase_vector",
    ):
        assert (sentence in page) == is_told


@pytest.fixture
def idle_intent() -> Any:
    """An intent that is off, and has a rule: a finding for sure."""
    make(m.CeIntent)
    rule = make(m.CeRule)
    with change_set():
        m.CeIntent.objects.filter(pk="LOAN").update(enabled=False)
    return rule


def test_a_finding_says_what_happens_and_leads_to_its_rows(ben: Client, idle_intent: Any) -> None:
    page = open_finished_check(ben)

    assert "ROW_INACTIVE_INTENT" in page
    assert f"/admin/config_admin/cerule/{idle_intent.pk}/change/" in page


def test_what_is_accepted_is_told_apart_with_its_reason_until_a_row_changes(ben: Client, idle_intent: Any) -> None:
    open_finished_check(ben)
    sent = finding(ben)
    assert "Enter a reason" in ben.post(health_url(), sent, follow=True).content.decode()
    ben.post(health_url(), sent | {"reason": "off until spring"})

    page = open_finished_check(ben)
    assert "off until spring" in page
    assert sent["fingerprint"] not in {finding["fingerprint"] for finding in ben.get(health_url()).context["findings"]}

    with change_set():
        m.CeRule.objects.filter(pk=idle_intent.pk).update(priority=7)
        m.CeIntent.objects.filter(pk="LOAN").update(priority=7)
    assert "off until spring" not in open_finished_check(ben)

    again = finding(ben)
    ben.post(health_url(), again | {"reason": "still off"})
    ben.post(health_url(), again | {"again": "1"})
    assert "still off" not in open_finished_check(ben)


def test_who_only_reads_accepts_nothing(somebody: Any, idle_intent: Any) -> None:
    quinn = somebody("quinn", "qa")

    assert "Accept" not in open_finished_check(quinn)
    assert quinn.post(health_url(), {"fingerprint": "x", "reason": "y"}).status_code == 403
    assert somebody("olga", "operator").get(health_url()).status_code == 403


def test_turns_that_did_not_end_are_listed_for_a_day_for_those_who_may_read_them(
    ben: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    title = "Turns of the last day that did not end in time"
    assert title not in open_finished_check(ben)
    create_help_desk()
    conversation_id = str(uuid.uuid4())
    say(conversation_id)
    hold_lease(conversation_id, -1)
    assert recover_expired_lease(conversation_id)

    page = open_finished_check(ben)
    assert title in page
    assert f"/{conversation_id}/turn/2/" in page
    reader_of_rules = sign_in("eve")
    User.objects.get(username="eve").user_permissions.set(Permission.objects.filter(codename="view_cerule"))
    assert title not in open_finished_check(reader_of_rules)
    # Rows of turns cannot be changed, so the day ends at once.
    monkeypatch.setattr("config_admin.health.page._ENDED_TURNS_SHOWN", timedelta())
    assert title not in open_finished_check(ben)
