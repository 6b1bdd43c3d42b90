"""Messages about alerts: made with the alert in one transaction, sent afterwards as mail and as signed webhooks."""

import hashlib
import hmac
import time
from datetime import datetime
from functools import partial
from typing import Any

from django.core.mail import EmailMessage
from django.db.models import Case, F, QuerySet, Value, When

from audit.alerts.evaluate import find_measure, format_value
from audit.models import CeAlert, CeAlertMessage, CeAlertRule
from convengine.engine.turn.codec import dumps
from convengine.engine.turn.job import Every, Job
from convengine.server.database.sql import database_time
from convengine.server.deployment import conf
from convengine.server.executors.http_client import HttpCall, fetch
from convengine.server.executors.http_connections import connection
from convengine.server.executors.http_policy import ONE_ATTEMPT
from convengine.server.executors.notification import may_write_to
from convengine.server.jobs.outbox import Outbox
from convengine.server.outgoing.loop import run_in_thread

_Kind, _Channel = CeAlertMessage.Kind, CeAlertMessage.Channel


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


def select_audible() -> QuerySet[CeAlertMessage]:
    """Those of silent rules wait. All mail goes to one receiver, the mail server."""
    receiver = Case(When(channel=_Channel.MAIL, then=Value(_Channel.MAIL)), default=F("recipient"))
    audible = CeAlertMessage.objects.exclude(alert__rule__silenced_until__gt=database_time())
    return audible.annotate(receiver=receiver)


async def _send(message: CeAlertMessage) -> None:
    if message.channel == _Channel.MAIL:
        await run_in_thread(partial(_send_mail, message))
    else:
        await send_webhook(message)


def _send_mail(message: CeAlertMessage) -> None:
    """Send it. Every attempt has the same Message-ID, so that mailboxes can drop a second copy."""
    sender = conf.get("NOTIFICATION_FROM")
    if not sender:
        raise RuntimeError("CE_NOTIFICATION_FROM is not set, so no mail is sent.")
    domain = sender.rpartition("@")[2].strip(" >") or "convengine"
    EmailMessage(
        " ".join(message.content["subject"].split()),
        message.content["text"],
        sender,
        [message.recipient],
        headers={"Message-ID": f"<{message.pk}@{domain}>", "Auto-Submitted": "auto-generated"},
    ).send()


outbox = Outbox(select_audible, _send, "receiver")
JOB = Job(
    "send_alerts",
    "Send messages about alerts",
    "Sends mail and webhooks about alerts, and tries again those that failed.",
    Every(20),
    outbox.send_due,
    waits_outside=True,
)


SIGNATURE = "ConvEngine-Signature"


async def send_webhook(message: CeAlertMessage) -> None:
    """Post it. Raises ToolFault."""
    if message.recipient not in conf.get("NOTIFICATION_WEBHOOKS"):
        raise RuntimeError(f"{message.recipient} is not in CE_NOTIFICATION_WEBHOOKS, so nothing is sent to it.")
    target = connection(message.recipient)
    body = dumps(build_body(message))
    headers = {"Content-Type": "application/json"}
    if target.secret:
        headers[SIGNATURE] = sign_body(body, target.secret, int(time.time()))
    key = str(message.pk)
    await fetch(HttpCall(target.target(""), "POST", ONE_ATTEMPT, target.name, headers, body=body, idempotency_key=key))


def build_body(message: CeAlertMessage) -> dict[str, Any]:
    """What `schemas/alert.schema.json` describes. `text` alone is what chats show."""
    return {
        "id": str(message.pk),
        "type": f"alert.{message.kind.lower()}",
        "createdAt": message.created_at.isoformat(),
        "text": message.content["text"],
        "alert": message.content["alert"],
    }


def sign_body(body: str, secret: str, seconds: int) -> str:
    """The time, and the HMAC-SHA256 of `time.body` as hexadecimal digits."""
    digest = hmac.new(secret.encode(), f"{seconds}.{body}".encode(), hashlib.sha256).hexdigest()
    return f"t={seconds},v1={digest}"
