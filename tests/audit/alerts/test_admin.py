"""The pages of alerts and their rules: who may do what, the preview, silences, the history."""

import re
from collections.abc import Callable
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.contrib.auth.models import Group, User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from audit.alerts.job import check_alerts
from audit.alerts.messages import outbox
from audit.models import CeAlert, CeAlertMessage, CeAlertRule
from tests.audit.alerts.counts import NOW, count, count_until, make_rule

pytestmark = pytest.mark.django_db
FORM = {
    "title": "Nobody understands",
    "is_enabled": "on",
    "measure": "not_understood",
    "direction": "OVER",
    "bound": "15",
    "hours": "1",
    "fewest": "30",
    "workspace_id": "default",
    "addresses": "ann@example.com\nbo@example.com",
    "repeat_hours": "24",
}


def page(name: str, *args: Any) -> str:
    return reverse(f"admin:audit_{name}", args=args)


def member(name: str, *groups: str) -> Client:
    user = User.objects.create(username=name, is_staff=True, email=f"{name}@else.org")
    user.groups.set(Group.objects.filter(name__in=groups))
    client = Client()
    client.force_login(user)
    return client


@pytest.fixture
def analyst() -> Client:
    return member("ann", "analyst")


def read_errors(answer: Any) -> str:
    return " ".join(text for texts in answer.context["adminform"].form.errors.values() for text in texts)


def fire(moment: datetime = NOW) -> CeAlert:
    count_until(moment)
    list(check_alerts())
    list(outbox.send_due())
    return CeAlert.objects.latest("pk")


def test_a_rule_is_made_and_fires(analyst: Client) -> None:
    user = User.objects.get()
    answer = analyst.post(page("cealertrule_add"), {**FORM, "users": [str(user.pk)]})
    assert answer.status_code == 302, read_errors(answer)
    rule = CeAlertRule.objects.get()
    assert (rule.addresses, rule.changed_by, list(rule.users.all())) == (
        ["ann@example.com", "bo@example.com"],
        "ann",
        [user],
    )
    assert rule.site_url == "http://testserver/admin/"
    count(0, 100, 20)
    alert = fire()
    answer = analyst.get(page("cealert_change", alert.pk))
    text = answer.content.decode()
    assert "20\xa0%" in text
    assert "ann@else.org" in text
    assert "Firing" in text
    assert {"stage=NOT_UNDERSTOOD", "since=2026-03-10T09%3A00%3A00%2B00%3A00"} <= set(
        answer.context["turns_url"].removeprefix("/admin/audit/ceaudit/find/?").split("&")
    )
    assert "Fires" in analyst.get(page("cealertrule_changelist")).content.decode()
    assert "Nobody understands" in analyst.get(page("cealert_changelist")).content.decode()


@pytest.mark.parametrize(
    ("values", "text"),
    [
        ({"bound": "-1"}, "The limit is negative"),
        ({"bound": "101"}, "“Not understood” is a percentage. Enter a limit from 0 to 100."),
        ({"addresses": "ann"}, "“ann” is not a mail address."),
        ({"addresses": "eve@evil.org"}, "The deployment does not allow mail to eve@evil.org."),
        ({"addresses": "\n".join(f"a{number}@example.com" for number in range(51))}, "at most 50"),
        ({"measure": "beauty"}, "beauty"),
        ({"webhook": "other"}, "other"),
        ({"hours": "2"}, "2"),
    ],
)
def test_a_wrong_rule_says_what_to_do(analyst: Client, values: dict[str, str], text: str) -> None:
    answer = analyst.post(page("cealertrule_add"), {**FORM, **values})
    assert text in read_errors(answer)
    assert not CeAlertRule.objects.exists()


def test_a_changed_rule_ends_its_alert(analyst: Client) -> None:
    count(0, 100, 20)
    rule = make_rule(title="Nobody understands", addresses=["ann@example.com", "bo@example.com"])
    alert = fire()
    assert analyst.post(page("cealertrule_change", rule.pk), FORM).status_code == 302
    alert.refresh_from_db()
    assert alert.status == "FIRING"
    assert analyst.post(page("cealertrule_change", rule.pk), {**FORM, "bound": "18"}).status_code == 302
    alert.refresh_from_db()
    assert (alert.end, CeAlertMessage.objects.filter(kind="ENDED").count()) == ("RULE", 2)
    assert fire().bound == Decimal(18)
    analyst.post(page("cealertrule_delete", rule.pk), {"post": "yes"})
    assert not CeAlertRule.objects.exists()
    assert not CeAlert.objects.filter(status="FIRING").exists()
    assert "(deleted)" in analyst.get(page("cealert_change", alert.pk)).content.decode()


def test_a_rule_for_all_workspaces_is_another_one(analyst: Client) -> None:
    count(0, 100, 20)
    rule = make_rule(title="Nobody understands", addresses=["ann@example.com", "bo@example.com"])
    alert = fire()
    assert analyst.post(page("cealertrule_change", rule.pk), {**FORM, "workspace_id": ""}).status_code == 302
    alert.refresh_from_db()
    assert alert.end == "RULE"
    assert (fire().workspace_id, fire().sentence.endswith(", all workspaces")) == ("", True)


def test_selected_rules_are_deleted_with_the_end_of_their_alerts(analyst: Client) -> None:
    count(0, 100, 20)
    rule = make_rule()
    fire()
    given = {"action": "delete_selected", "_selected_action": [str(rule.pk)], "post": "yes"}
    analyst.post(page("cealertrule_changelist"), given)
    assert not CeAlertRule.objects.exists()
    assert CeAlert.objects.get().end == "RULE"


def test_the_preview_shows_the_past_before_anything_is_saved(analyst: Client) -> None:
    count(2, 100, 40)
    count(3, 100, 30)
    count(50, 100, 30)
    count(0, 100, 5)
    count_until()
    address = f"{page('cealertrule_preview')}?part=1"
    text = analyst.post(address, {**FORM, "title": ""}).content.decode()
    assert "fired <b>2 times</b>" in text
    assert "40\xa0%" in text
    assert "Now the value is 5\xa0%, of 100 turns." in text
    assert "<html" not in text
    text = analyst.post(address, {**FORM, "bound": "50"}).content.decode()
    assert "would not have fired. The highest value was 40\xa0%" in text
    text = analyst.post(address, {**FORM, "fewest": "1000"}).content.decode()
    assert "no hour had enough turns" in text
    text = analyst.post(address, {**FORM, "bound": ""}).content.decode()
    assert "Complete the form" in text
    assert "<html" in analyst.post(page("cealertrule_preview"), FORM).content.decode()
    assert not CeAlertRule.objects.exists()
    assert analyst.get(address).status_code == 405


def test_a_rule_is_silenced_with_a_reason(analyst: Client) -> None:
    rule = make_rule()
    address = page("cealertrule_silence", rule.pk)
    assert "enter a reason" in analyst.post(address, {"hours": "8"}, follow=True).content.decode()
    text = analyst.post(address, {"hours": "8", "reason": "deployment"}, follow=True).content.decode()
    assert "Silenced for 8 hours" in text
    assert "Send messages again" in text
    rule.refresh_from_db()
    assert (rule.silenced_until, rule.silenced_by) == (NOW + timedelta(hours=8), "ann")
    assert "Silenced" in analyst.get(page("cealertrule_changelist")).content.decode()
    analyst.post(page("cealertrule_unsilence", rule.pk))
    rule.refresh_from_db()
    assert rule.silenced_until is None


def test_an_alert_is_silenced_with_its_rule(analyst: Client, set_clock: Callable[[datetime], None]) -> None:
    count(0, 100, 20)
    make_rule()
    alert = fire()
    address = page("cealert_silence", alert.pk)
    text = analyst.post(address, {"hours": "24", "reason": "known"}, follow=True).content.decode()
    assert "Firing, silenced" in text
    assert "known" in text
    analyst.post(page("cealert_unsilence", alert.pk))
    assert CeAlertRule.objects.get().silenced_until is None
    CeAlertRule.objects.all().delete()
    set_clock(NOW + timedelta(hours=3))
    fire(NOW + timedelta(hours=3))
    text = analyst.post(address, {"hours": "24", "reason": "late"}, follow=True).content.decode()
    assert "The alert has ended" in text


def test_who_may_what() -> None:
    rule = make_rule()
    count(0, 100, 20)
    alert = fire()
    silences = (page("cealertrule_silence", rule.pk), page("cealert_silence", alert.pk))
    reader = member("quinn", "qa")
    assert reader.get(page("cealertrule_change", rule.pk)).status_code == 200
    assert "Silence</button>" not in reader.get(page("cealert_change", alert.pk)).content.decode()
    for address in (*silences, page("cealertrule_preview"), page("cealertrule_unsilence", rule.pk)):
        assert reader.post(address, {"hours": "8", "reason": "x"}).status_code == 403
    operator = member("olga", "operator")
    assert operator.get(page("cealertrule_add")).status_code == 200
    # Operators read no turns, so they get no link to them.
    assert operator.get(page("cealert_change", alert.pk)).context["turns_url"] == ""
    for address in silences:
        assert operator.get(address).status_code == 405
        assert operator.post(address, {"hours": "8", "reason": "x"}).status_code == 302
    stranger = member("ian", "integrator")
    for address in (page("cealert_changelist"), page("cealertrule_changelist"), page("cealert_change", alert.pk)):
        assert stranger.get(address).status_code == 403


def test_a_failed_message_is_seen(analyst: Client) -> None:
    count(0, 100, 20)
    make_rule(webhook="hook")
    alert = fire()
    text = analyst.get(page("cealert_change", alert.pk)).content.decode()
    assert re.search(r"Attempt 1 failed: .*hook", text)


def test_the_number_of_queries_is_fixed(analyst: Client) -> None:
    count(0, 100, 20)
    make_rule()
    fire()
    for name in ("cealert_changelist", "cealertrule_changelist"):
        analyst.get(page(name))
        with CaptureQueriesContext(connection) as one:
            analyst.get(page(name))
        for number in range(5):
            make_rule(title=f"{name} {number}")
        fire()
        with CaptureQueriesContext(connection) as many:
            analyst.get(page(name))
        assert len(many) == len(one)
