"""The firing alerts, for Home and the metrics; the silence of their rules: until a time, nobody gets a message."""

from datetime import datetime

from django.urls import reverse

from audit.alerts.evaluate import find_measure, format_value
from audit.models import CeAlert, CeAlertRule
from convengine.engine.text.compare import storable
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


LONGEST_REASON = 2_000


class SilenceRefused(ValueError):
    """The message says why."""


def find_rule(alert: CeAlert) -> CeAlertRule:
    """The rule to silence. Raises SilenceRefused for an alert that has ended."""
    if alert.status != CeAlert.Status.FIRING or alert.rule is None:
        raise SilenceRefused("The alert has ended, so there is nothing to silence.")
    return alert.rule


def silence_rule(rule: CeAlertRule, until: datetime, reason: str, by: str) -> None:
    """Send nothing about its alerts until then. Raises SilenceRefused."""
    if until <= database_time():
        raise SilenceRefused("Choose a time in the future.")
    rule.silenced_until, rule.silenced_by, rule.silence_reason = until, by, storable(reason)[:LONGEST_REASON]
    # The job that makes messages holds the row: it waits, or has ended before.
    rule.save(update_fields=["silenced_until", "silenced_by", "silence_reason"])


def end_silence(rule: CeAlertRule) -> None:
    rule.silenced_until = None
    rule.save(update_fields=["silenced_until"])
