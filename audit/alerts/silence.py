"""Silences: no messages of a rule, or of one alert, until a time."""

from datetime import datetime

from django.db import transaction
from django.db.models import Exists, OuterRef, Q, QuerySet

from audit.models import CeAlert, CeAlertRule, CeAlertSilence
from convengine.engine.text.compare import storable
from convengine.server.database.sql import database_time

LONGEST_REASON = 2_000


class SilenceRefused(ValueError):
    """The message says why."""


def list_active_silences(now: datetime) -> QuerySet[CeAlertSilence]:
    """Those that hold messages back now."""
    return CeAlertSilence.objects.filter(ended_at=None, until__gt=now)


def is_silenced(now: datetime) -> Q:
    """The condition of alerts that are silent, themselves or with their rule."""
    silences = list_active_silences(now)
    own, of_rule = silences.filter(alert=OuterRef("pk")), silences.filter(rule=OuterRef("rule"), alert=None)
    return Q(Exists(own)) | Q(Exists(of_rule))


def select_silences(alert: CeAlert, now: datetime) -> QuerySet[CeAlertSilence]:
    """The active silences of an alert, and of its rule."""
    wanted = Q(alert=alert) if alert.rule_id is None else Q(alert=alert) | Q(rule=alert.rule_id, alert=None)
    return list_active_silences(now).filter(wanted)


def silence_rule(
    rule: CeAlertRule, until: datetime, reason: str, by: str, alert: CeAlert | None = None
) -> CeAlertSilence:
    """Send nothing until then; with `alert`, nothing about this alert. Raises SilenceRefused."""
    now = database_time()
    if until <= now:
        raise SilenceRefused("Choose a time in the future.")
    with transaction.atomic():
        # The job that sends messages waits, or has ended before.
        CeAlertRule.objects.select_for_update().get(pk=rule.pk)
        return CeAlertSilence.objects.create(
            rule=rule,
            alert=alert,
            until=until,
            reason=storable(reason)[:LONGEST_REASON],
            silenced_by=by,
            created_at=now,
        )


def silence_alert(alert: CeAlert, until: datetime, reason: str, by: str) -> CeAlertSilence:
    """Send nothing more about an alert until then. Raises SilenceRefused."""
    if alert.status != CeAlert.Status.FIRING or alert.rule is None:
        raise SilenceRefused("The alert has ended, so there is nothing to silence.")
    return silence_rule(alert.rule, until, reason, by, alert)


def end_silences(silences: QuerySet[CeAlertSilence], by: str) -> int:
    """Send messages again; returns how many silences ended."""
    return silences.filter(ended_at=None).update(ended_at=database_time(), ended_by=by)
