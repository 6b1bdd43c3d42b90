"""Look at the rules every minute: open and end alerts, and make their messages."""

from collections.abc import Iterator
from datetime import datetime, timedelta

from django.db import transaction

from audit.alerts.evaluate import (
    MeasuredValue,
    build_search,
    describe_rule,
    does_fire,
    read_counted_until,
    read_rule,
)
from audit.alerts.messages import create_messages
from audit.models import CeAlert, CeAlertMessage, CeAlertRule
from audit.reports.measures import MEASURES
from convengine.engine.turn.job import Counts, Every, Job
from convengine.server.database.sql import database_time

_Kind, _Status, _End = CeAlertMessage.Kind, CeAlert.Status, CeAlert.End


def check_alerts() -> Iterator[Counts]:
    """Look at each rule, and make the messages. Each rule has a transaction of its own."""
    at = read_counted_until()
    # Of rules that were deleted past the pages.
    CeAlert.objects.filter(rule=None, status=_Status.FIRING).update(
        status=_Status.ENDED, end=_End.RULE, ended_at=database_time()
    )
    rules = CeAlertRule.objects.filter(measure__in=MEASURES)
    for rule_id in rules.order_by("pk").values_list("pk", flat=True):
        changed = check_rule(rule_id, at) if at else {}
        if changed:
            yield changed


def check_rule(rule_id: int, at: datetime) -> Counts:
    """Open, update or end the alert of a rule, and make its messages; twice is the same as once."""
    with transaction.atomic():
        # Other processes, forms and silences wait.
        rule = CeAlertRule.objects.select_for_update().filter(pk=rule_id).first()
        if rule is None:
            return {}
        alert = rule.alerts.filter(status=_Status.FIRING).first()
        if not rule.is_enabled:
            return _end(alert, rule, _End.RULE) if alert else {}
        reading = read_rule(rule, at)
        if not does_fire(rule, reading):
            return _end(alert, rule, _End.NORMAL if reading.is_enough else _End.FEW_TURNS) if alert else {}
        if alert is None:
            return {"fired": 1, **_notify(_open(rule, reading), rule)}
        assert reading.value is not None
        pick = max if rule.direction == CeAlertRule.Direction.OVER else min
        alert.worst_value, alert.value = pick(alert.worst_value, reading.value), reading.value
        alert.turns, alert.since, alert.until = reading.turns, reading.since, reading.until
        alert.search = build_search(rule, reading)
        alert.save()
        return _notify(alert, rule)


def end_alert_of(rule: CeAlertRule) -> None:
    """End the alert of a rule that changes, in the transaction that changes it."""
    alert = rule.alerts.select_for_update().filter(status=_Status.FIRING).first()
    if alert:
        _end(alert, rule, _End.RULE)


def _open(rule: CeAlertRule, reading: MeasuredValue) -> CeAlert:
    value = reading.value
    assert value is not None
    return CeAlert.objects.create(
        rule=rule,
        title=rule.title,
        sentence=describe_rule(rule),
        measure=rule.measure,
        bound=rule.bound,
        search=build_search(rule, reading),
        workspace_id=rule.workspace_id,
        started_at=database_time(),
        first_value=value,
        worst_value=value,
        value=value,
        turns=reading.turns,
        since=reading.since,
        until=reading.until,
    )


def _end(alert: CeAlert, rule: CeAlertRule, end: CeAlert.End) -> Counts:
    now = database_time()
    alert.status, alert.end, alert.ended_at = _Status.ENDED, end, now
    if alert.notified_at and not rule.is_silenced(now):
        create_messages(alert, rule, _Kind.ENDED, now)
    alert.save()
    return {"ended": 1}


def _notify(alert: CeAlert, rule: CeAlertRule) -> Counts:
    """Make the first messages, or repeat them when it is time; none while silent."""
    now = database_time()
    pause = timedelta(hours=rule.repeat_hours)
    is_due = alert.notified_at is None or bool(rule.repeat_hours and now - alert.notified_at >= pause)
    if not is_due or rule.is_silenced(now):
        return {}
    kind = _Kind.REPEATED if alert.notified_at else _Kind.STARTED
    count = create_messages(alert, rule, kind, now)
    alert.save(update_fields=["notified_at"])
    return {"messages": count} if count else {}


JOB = Job(
    "check_alerts",
    "Check the alert rules",
    "Compares the counts of turns with the alert rules, and begins and ends alerts.",
    Every(60),
    check_alerts,
)
