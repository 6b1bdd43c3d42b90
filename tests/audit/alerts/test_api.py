"""Alerts through the API: of the key's workspace, in pages, silenced with the scope `config`."""

from datetime import timedelta
from typing import Any

import pytest
from django.test import Client

from audit.alerts.job import check_alerts
from audit.models import CeAlert, CeAlertRule
from convengine.server.api.models import CeApiKey
from tests.audit.alerts.counts import NOW, count, count_until, make_rule

pytestmark = pytest.mark.django_db


def call(path: str, *scopes: str, workspace: str = "default", **sent: Any) -> Any:
    _, secret = CeApiKey.objects.create_key(name="monitor", workspace_id=workspace, scopes=list(scopes))
    headers = {"Authorization": f"Api-Key {secret}"}
    if sent:
        return Client().post(f"/api/v1/alerts{path}", sent, content_type="application/json", headers=headers)
    return Client().get(f"/api/v1/alerts{path}", headers=headers)


@pytest.fixture
def alert() -> CeAlert:
    make_rule()
    count(0, 100, 20)
    count_until()
    list(check_alerts())
    return CeAlert.objects.get()


def test_a_key_reads_the_alerts_of_its_workspace(alert: CeAlert) -> None:
    page = call("", "audit").json()
    assert (page["next"], len(page["results"])) == (None, 1)
    document = page["results"][0]
    assert document == call(f"/{alert.pk}", "audit").json()
    assert document["status"] == "FIRING"
    assert (document["value"], document["limit"], document["turns"]) == (20.0, 15.0, 100)
    assert document["rule"] == "Not understood over 15\xa0% for an hour, with at least 30 turns"
    assert call("?status=ENDED", "audit").json()["results"] == []
    assert call("", "audit", workspace="shop").json()["results"] == []
    assert call(f"/{alert.pk}", "audit", workspace="shop").status_code == 404
    assert call("", "turns").status_code == 403


def test_alerts_come_in_pages(alert: CeAlert) -> None:
    for number in range(3):
        make_rule(title=f"rule {number}")
    list(check_alerts())
    first = call("?limit=3", "audit").json()
    assert len(first["results"]) == 3
    second = call(f"?limit=3&before={first['next']}", "audit").json()
    assert [document["id"] for document in second["results"]] == [alert.pk]
    assert second["next"] is None


@pytest.mark.parametrize("query", ["?status=LOUD", "?before=x", "?limit=1000", "/x", "/0"])
def test_a_wrong_call_is_refused(query: str) -> None:
    assert call(query, "audit").status_code == 400


def test_an_alert_is_silenced_with_a_reason(alert: CeAlert) -> None:
    until = (NOW + timedelta(hours=2)).isoformat()
    assert call(f"/{alert.pk}/silence", "audit", until=until, reason="known").status_code == 403
    answer = call(f"/{alert.pk}/silence", "config", until=until, reason="known")
    assert answer.json()["silencedUntil"] == "2026-03-10T12:20:00Z"
    rule = CeAlertRule.objects.get()
    assert rule.silenced_by.startswith("API key ")
    assert rule.silence_reason == "known"


def test_a_silence_can_be_ended(alert: CeAlert) -> None:
    CeAlertRule.objects.update(silenced_until=NOW + timedelta(hours=2))
    _, key = CeApiKey.objects.create_key(name="desk", scopes=["config"])
    _, other = CeApiKey.objects.create_key(name="other", workspace_id="shop", scopes=["config"])

    def delete(secret: str) -> Any:
        return Client().delete(f"/api/v1/alerts/{alert.pk}/silence", headers={"Authorization": f"Api-Key {secret}"})

    assert delete(other).status_code == 404
    assert (delete(key).status_code, delete(key).json()["silencedUntil"]) == (200, None)
    CeAlert.objects.update(status=CeAlert.Status.ENDED)
    assert delete(key).status_code == 400


@pytest.mark.parametrize(
    ("sent", "field"),
    [
        ({"until": "2026-03-10T12:00:00Z"}, "reason"),
        ({"until": "2026-03-10T12:00:00Z", "reason": " "}, "reason"),
        ({"until": "soon", "reason": "known"}, "until"),
        ({"until": "2026-03-10T10:00:00Z", "reason": "known"}, None),
        ({"until": "2026-03-10T12:00:00Z", "reason": "known", "for": "ever"}, "for"),
    ],
)
def test_a_silence_that_makes_no_sense_is_refused(alert: CeAlert, sent: dict[str, str], field: str | None) -> None:
    answer = call(f"/{alert.pk}/silence", "config", **sent)
    assert answer.status_code == 400
    assert field is None or field in answer.json()["fields"]
    assert CeAlertRule.objects.get().silenced_until is None
