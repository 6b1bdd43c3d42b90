"""Messages about alerts: made with the alert in one transaction, sent afterwards, at least once."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from typing import Any

from django.db.models import F

from audit.alerts.evaluate import find_measure, format_value
from audit.alerts.mail import send_mail
from audit.alerts.webhook import send_webhook
from audit.models import CeAlert, CeAlertMessage, CeAlertRule
from convengine.engine.text.compare import storable
from convengine.engine.turn.job import Counts
from convengine.server.database.release import release_connections
from convengine.server.database.sql import database_time
from convengine.server.executors.notification import may_write_to

#: Messages that are sent at once, and in one run of the job: the rules must be looked at again soon.
_AT_ONCE, _MOST = 4, 40
#: Pauses between attempts double, up to this number of minutes; after a day the message is given up.
_LONGEST_PAUSE_MINUTES = 60
_GIVE_UP_AFTER = timedelta(days=1)
_LONGEST_ERROR = 1_000
_Kind, _Channel, _Status = CeAlertMessage.Kind, CeAlertMessage.Channel, CeAlertMessage.Status


def create_messages(alert: CeAlert, rule: CeAlertRule, kind: CeAlertMessage.Kind, now: datetime) -> int:
    """A message for each recipient. Needs the transaction that changes the alert."""
    number = alert.messages.filter(kind=kind).values("number").distinct().count()
    content = build_content(alert, rule, kind)
    recipients = [(_Channel.MAIL, address) for address in list_addresses(rule)]
    recipients += [(_Channel.WEBHOOK, rule.webhook)] if rule.webhook else []
    CeAlertMessage.objects.bulk_create(
        CeAlertMessage(
            alert=alert,
            kind=kind,
            number=number,
            channel=channel,
            recipient=recipient,
            content=content,
            next_attempt_at=now,
            created_at=now,
        )
        for channel, recipient in recipients
    )
    alert.notified_at = now
    return len(recipients)


def list_addresses(rule: CeAlertRule) -> list[str]:
    """The addresses of its active users, and the others that the deployment allows."""
    active = rule.users.filter(is_active=True)
    users = {str(getattr(user, "email", "")).strip() for user in active}
    return sorted({*users, *filter(may_write_to, rule.addresses)} - {""})


def build_content(alert: CeAlert, rule: CeAlertRule, kind: CeAlertMessage.Kind) -> dict[str, Any]:
    """What the message says, for people and for programs."""
    measure = find_measure(alert.measure)
    value = format_value(measure, alert.value)
    ends = kind == _Kind.ENDED
    state = str(CeAlert.End(alert.end).label) if ends else f"{value} {'still ' if kind == _Kind.REPEATED else ''}now"
    page = f"{rule.site_url}audit/cealert/{alert.pk}/change/" if rule.site_url else ""
    lines = [
        f"{alert.title}: {state}.",
        f"Rule: {alert.sentence}.",
        f"{'Last value' if ends else 'Value'}: {value}, of {alert.turns} turns from {alert.since:%Y-%m-%d %H:%M} "
        f"to {alert.until:%Y-%m-%d %H:%M} UTC.",
        f"It fires since {alert.started_at:%Y-%m-%d %H:%M} UTC." if not ends else "",
        page,
    ]
    return {
        "subject": f"[{'OK' if ends else 'Alert'}] {alert.title}: {state}",
        "text": "\n\n".join(filter(None, lines)),
        "alert": {
            "id": alert.pk,
            "title": alert.title,
            "rule": alert.sentence,
            "workspace": alert.workspace_id,
            "measure": alert.measure,
            "value": float(alert.value),
            "limit": float(alert.bound),
            "turns": alert.turns,
            "since": alert.since.isoformat(),
            "until": alert.until.isoformat(),
            "startedAt": alert.started_at.isoformat(),
            "endedAt": alert.ended_at.isoformat() if alert.ended_at else None,
            "end": alert.end or None,
            "url": page or None,
        },
    }


def send_due_messages() -> Iterator[Counts]:
    """Send what is due, the least tried first, so that a recipient that fails holds nobody up."""
    tried = 0
    while tried < _MOST and (batch := _claim_batch()):
        release_connections()
        # Threads touch no database: they only send.
        with ThreadPoolExecutor(_AT_ONCE) as threads:
            errors = list(threads.map(_send, batch))
        for message, error in zip(batch, errors, strict=True):
            _store_result(message, error)
        tried += len(batch)
        sent = errors.count("")
        yield {"sent": sent, "failed": len(errors) - sent}


def _claim_batch() -> list[CeAlertMessage]:
    now = database_time()
    due = CeAlertMessage.objects.filter(status=_Status.PENDING, next_attempt_at__lte=now)
    due = due.exclude(alert__rule__silenced_until__gt=now)
    return [message for message in due.order_by("attempts", "created_at", "pk")[:_AT_ONCE] if _claim(message, now)]


def _claim(message: CeAlertMessage, now: datetime) -> bool:
    """True if this process may try it. The time of the next attempt is stored first, in case the process dies."""
    pause = timedelta(minutes=min(2**message.attempts, _LONGEST_PAUSE_MINUTES))
    same = CeAlertMessage.objects.filter(pk=message.pk, status=_Status.PENDING, attempts=message.attempts)
    return bool(same.update(attempts=F("attempts") + 1, next_attempt_at=now + pause))


def _send(message: CeAlertMessage) -> str:
    """What went wrong; blank for nothing."""
    try:
        if message.channel == _Channel.MAIL:
            send_mail(message)
        else:
            send_webhook(message)
    except Exception as error:
        return storable(f"{type(error).__name__}: {error}")[:_LONGEST_ERROR]
    return ""


def _store_result(message: CeAlertMessage, error: str) -> None:
    now = database_time()
    values: dict[str, Any] = {"error": error}
    if not error:
        values |= {"status": _Status.SENT, "sent_at": now}
    elif now - message.created_at >= _GIVE_UP_AFTER:
        values["status"] = _Status.FAILED
    CeAlertMessage.objects.filter(pk=message.pk, status=_Status.PENDING).update(**values)
