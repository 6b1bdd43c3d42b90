"""Send deliveries: soon after their commit, and by a job that tries again what failed.

Secrets and signatures are as Standard Webhooks say (https://www.standardwebhooks.com).

Attempts and the pauses between them are those of every outbox (`jobs/outbox.py`).
"""

import base64
import hashlib
import hmac
import secrets
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from http import HTTPStatus

from django.db.models import Exists, Min, OuterRef, Q, QuerySet

from convengine.engine.tools.fault import ToolFault
from convengine.engine.turn.audit_settings import RETENTION_DAYS
from convengine.engine.turn.job import Counts, Every, Job, Nightly, Retention
from convengine.server.database.sql import database_time, remove_in_batches
from convengine.server.deployment import conf
from convengine.server.executors.http_client import HttpCall, HttpConnection, circuits, fetch
from convengine.server.executors.http_connections import HttpTarget, split_address
from convengine.server.executors.http_policy import ONE_ATTEMPT
from convengine.server.interfaces.turn_log import turn_log
from convengine.server.jobs.outbox import MOST_AT_ONCE, Outbox, OutboxStatus, SendFailed
from convengine.server.observability import metrics
from convengine.server.outgoing.addresses import resolve_host
from convengine.server.outgoing.loop import outgoing, run_in_thread
from convengine.server.resilience.circuit import Circuit
from convengine.server.sessions.old_turns import retention_cutoff
from convengine.server.webhooks.models import TEST, CeWebhook, CeWebhookDelivery

#: A receiver that fails again and again does not hold up the others.
_POLICY = replace(ONE_ATTEMPT, circuit_breaker_enabled=True, circuit_failure_threshold=10, circuit_open_ms=10_000)
#: Seconds in which a page waits for the address of a name.
_LOOK_UP_SECONDS = 5.0
#: A receiver that asks for more is tried after this.
_LONGEST_PAUSE = timedelta(days=1)
#: Faults of the HTTP client whose own text names something that a webhook does not have.
_TEXTS = {
    "HOST_REFUSED": (
        "{host} has an address that is not public. Use a public address, or ask an operator to add the host to "
        "CE_WEBHOOK_PRIVATE_HOSTS."
    ),
    "CIRCUIT_OPEN": "{host} failed too often a moment ago, so it was not called.",
}
_PREFIX = "whsec_"
_SECRET_BYTES = 32


def check_address(url: str) -> None:
    """Raises ToolFault, in words, unless a webhook may have this URL now."""
    target = _find_target(url)
    is_allowed = target.connection.may_be_private(target.host, target.port)
    try:
        outgoing.run(run_in_thread(lambda: resolve_host(target.host, target.port, is_allowed)), _LOOK_UP_SECONDS)
    except ToolFault as fault:
        raise _reword(fault, target.host) from fault
    except TimeoutError as error:
        raise ToolFault("HOST_UNKNOWN", f"The name server does not answer for {target.host}. Try again.") from error


def _find_target(url: str) -> HttpTarget:
    """The address of a webhook.

    Raises ToolFault for an unusable one, and for http to a host that is not in CE_WEBHOOK_PRIVATE_HOSTS.
    """
    private_hosts = frozenset(conf.get("WEBHOOK_PRIVATE_HOSTS"))
    target = HttpConnection(url, split_address(url), private_hosts=private_hosts).target(url)
    if target.scheme != "https" and not target.connection.may_be_private(target.host, target.port):
        raise ToolFault(
            "HOST_REFUSED",
            f"{url[:200]} does not begin with https://. Use https, or ask an operator to add {target.host} to "
            "CE_WEBHOOK_PRIVATE_HOSTS.",
        )
    return target


async def send_delivery(row: CeWebhookDelivery) -> None:
    """Post a signed body once. Raises ToolFault; SendFailed, which is one, when the receiver said what to do next."""
    webhook = row.webhook
    target = _find_target(webhook.url)
    headers = build_headers(str(row.event_id), int(time.time()), row.body, (webhook.secret, webhook.old_secret))
    try:
        await fetch(HttpCall(target, "POST", _POLICY, f"webhook {webhook.pk}", headers, body=row.body))
    except ToolFault as fault:
        reworded = _reword(fault, target.host)
        if fault.status == HTTPStatus.GONE:
            raise SendFailed(reworded, is_final=True) from fault
        if pause := _read_pause(fault.retry_after):
            raise SendFailed(reworded, pause=pause) from fault
        raise reworded from fault


def _read_pause(retry_after: str | None) -> timedelta | None:
    """How long a receiver asks to wait, in seconds or until a date; at most a day.

    Returns None if the header is missing or unreadable.
    """
    text = (retry_after or "").strip()
    if text.isascii() and text.isdigit():
        return min(timedelta(seconds=int(text[:9])), _LONGEST_PAUSE)
    try:
        pause = parsedate_to_datetime(text) - datetime.now(UTC)
    except (TypeError, ValueError, OverflowError):
        return None
    return min(max(pause, timedelta()), _LONGEST_PAUSE)


def deactivate(row: CeWebhookDelivery, error: ToolFault) -> None:
    """Turn off the webhook of a delivery if its receiver answered that it is gone (410).

    A webhook that has another URL by now stays on.
    """
    if not isinstance(error, SendFailed) or not error.is_final:
        return
    at = database_time()
    webhooks = CeWebhook.objects.filter(pk=row.webhook_id, url=row.webhook.url)
    webhooks.update(is_enabled=False, deactivated_at=at)


def _reword(fault: ToolFault, host: str) -> ToolFault:
    """The fault with a text about webhooks, if the HTTP client's text would not fit."""
    return ToolFault(fault.code, _TEXTS[fault.code].format(host=host)) if fault.code in _TEXTS else fault


def select_next() -> QuerySet[CeWebhookDelivery]:
    """The oldest waiting delivery of each conversation, for each webhook that is on, and all tests."""
    waiting = CeWebhookDelivery.objects.filter(status=OutboxStatus.PENDING)
    earlier = waiting.filter(
        webhook=OuterRef("webhook"), conversation_id=OuterRef("conversation_id"), pk__lt=OuterRef("pk")
    ).exclude(event=TEST)
    is_sent = Q(webhook__is_enabled=True) & ~Exists(earlier) | Q(event=TEST)
    return waiting.filter(is_sent).select_related("webhook")


def _find_circuit(webhook_id: int) -> Circuit:
    return circuits.of(f"webhook {webhook_id}")


outbox = Outbox(
    select_next,
    send_delivery,
    "webhook_id",
    lambda webhook_id: _find_circuit(webhook_id).limit_calls(MOST_AT_ONCE),
    deactivate,
    handed_as="webhooks",
)
wake_sender, wake_here = outbox.wake, outbox.wake_here


def send_deliveries() -> Iterator[Counts]:
    for counts in outbox.send_due():
        for outcome, count in counts.items():
            metrics.WEBHOOK_DELIVERIES.add(outcome, amount=count)
        yield counts


def read_oldest_waiting() -> datetime | None:
    """When the oldest waiting delivery of a webhook that is on was made. Returns None if none waits."""
    waiting = CeWebhookDelivery.objects.filter(status=OutboxStatus.PENDING, webhook__is_enabled=True)
    oldest: datetime | None = waiting.aggregate(oldest=Min("created_at"))["oldest"]
    return oldest


def remove_old_deliveries() -> Iterator[Counts]:
    """Remove deliveries that are older than turns may be, and count them. Does nothing if turns may have any age."""
    before = retention_cutoff()
    if before is None:
        return
    turn_log().turns_removed_before(before)
    old = CeWebhookDelivery.objects.filter(created_at__lt=before).order_by("pk")
    yield from remove_in_batches(old, "deliveries")


JOB = Job(
    "send_webhooks",
    "Send webhooks",
    "Sends the deliveries of webhooks that wait, and tries again those that failed.",
    Every(20),
    send_deliveries,
    waits_outside=True,
)
RETENTION = Job(
    "old_deliveries",
    "Remove old webhook deliveries",
    "Removes deliveries of webhooks that are older than “Retention of turns (days)” in the settings.",
    Nightly(3),
    remove_old_deliveries,
    removes=[Retention(["ce_webhooks.CeWebhookDelivery"], RETENTION_DAYS)],
)


def create_secret() -> str:
    return _PREFIX + base64.b64encode(secrets.token_bytes(_SECRET_BYTES)).decode()


def build_headers(event_id: str, seconds: int, body: str, known_secrets: Iterable[str]) -> Mapping[str, str]:
    """The headers of a message; it is signed with every secret, so that a receiver may know either of two."""
    content = f"{event_id}.{seconds}.{body}".encode()
    signatures = []
    for secret in filter(None, known_secrets):
        digest = hmac.new(base64.b64decode(secret.removeprefix(_PREFIX)), content, hashlib.sha256).digest()
        signatures.append(f"v1,{base64.b64encode(digest).decode()}")
    return {
        "webhook-id": event_id,
        "webhook-timestamp": str(seconds),
        "webhook-signature": " ".join(signatures),
    }
