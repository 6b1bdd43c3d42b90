"""The firing alerts, for Home and the metrics."""

from django.urls import reverse

from audit.alerts.evaluate import find_measure, format_value
from audit.models import CeAlert
from convengine.server.database.sql import database_time
from convengine.server.interfaces.turn_reports import Alert

#: More are not listed on Home.
MOST = 20


def list_alerts() -> list[Alert]:
    """The alerts that fire now and are not silenced, the newest first. One query if none fires."""
    firing = CeAlert.objects.filter(status=CeAlert.Status.FIRING)
    if not firing.exists():
        return []
    alerts = firing.exclude(rule__silenced_until__gt=database_time()).order_by("-alert_id")
    return [_describe_alert(alert) for alert in alerts[:MOST]]


def count_alerts() -> int:
    """How many alerts fire now, also silenced ones."""
    return CeAlert.objects.filter(status=CeAlert.Status.FIRING).count()


def _describe_alert(alert: CeAlert) -> Alert:
    value = format_value(find_measure(alert.measure), alert.value)
    url = reverse("admin:audit_cealert_change", args=[alert.pk])
    return Alert(f"{alert.title}: {value} ({alert.sentence})", alert.started_at, url)
