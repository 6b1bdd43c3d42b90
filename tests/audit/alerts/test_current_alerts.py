"""The alerts on Home, and in the metrics."""

from datetime import timedelta

import pytest

from audit.alerts.current_alerts import count_alerts, list_alerts, silence_rule
from audit.alerts.job import check_alerts
from audit.models import CeAlert
from convengine.server.observability import metrics
from convengine.server.probes.database_state import DatabaseState
from convengine.server.probes.views import list_readings
from tests.audit.alerts.counts import NOW, count, count_until, make_rule

pytestmark = [pytest.mark.django_db, pytest.mark.dialects]


def test_home_lists_what_fires_and_is_not_silenced() -> None:
    assert list_alerts() == []
    first, second = make_rule(title="all"), make_rule(title="intent", intent_code="HOURS")
    make_rule(title="high", bound=99)
    count(0, 100, 20)
    count_until()
    list(check_alerts())
    assert [alert.text for alert in list_alerts()] == [
        "intent: 20\xa0% (Not understood over 15\xa0% for an hour, with at least 30 turns, intent HOURS)",
        "all: 20\xa0% (Not understood over 15\xa0% for an hour, with at least 30 turns)",
    ]
    alert = CeAlert.objects.get(rule=first)
    assert list_alerts()[1][1:] == (NOW, f"/admin/audit/cealert/{alert.pk}/change/")
    silence_rule(first, NOW + timedelta(hours=1), "known", "ann")
    assert [alert.text[:6] for alert in list_alerts()] == ["intent"]
    silence_rule(second, NOW + timedelta(hours=1), "known", "ann")
    assert list_alerts() == []
    assert count_alerts() == 2


def test_the_metrics_count_what_fires() -> None:
    state = DatabaseState()
    assert list_readings(state)[metrics.ALERTS_FIRING] == {}
    state.alerts = 2
    assert list_readings(state)[metrics.ALERTS_FIRING] == {(): 2.0}
