"""Send messages to users: soon after the answer, in order for each user, and again after faults.

What providers report about them is stored, and the help desk gets to know which ones did not arrive.
"""

import asyncio
import time
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta

import structlog
from django.db import transaction
from django.db.models import Exists, OuterRef, QuerySet

from convengine.engine.tools.fault import ToolFault
from convengine.engine.turn.audit_settings import RETENTION_DAYS
from convengine.engine.turn.codec import load_mended
from convengine.engine.turn.job import Counts, Every, Job, Retention
from convengine.json_value import Json
from convengine.server.channels.contract import LONGEST_NAME, Call, Incoming, Provider, Receipt, fit_name
from convengine.server.channels.models import CeChannel, CeChannelMessage
from convengine.server.channels.providers import find_provider, read_secrets
from convengine.server.database.sql import database_time, remove_in_batches
from convengine.server.deployment import conf
from convengine.server.executors.http_client import HttpCall, circuits, fetch
from convengine.server.executors.http_connections import HttpConnection, HttpTarget, split_address
from convengine.server.executors.http_policy import ONE_ATTEMPT, HttpPolicy
from convengine.server.jobs.outbox import MOST_AT_ONCE, Outbox, OutboxStatus, SendFailed, start_anew
from convengine.server.outgoing.addresses import is_listed
from convengine.server.outgoing.loop import outgoing
from convengine.server.sessions.old_turns import retention_cutoff
from convengine.server.webhooks.write import store_undelivered_event

#: A provider that fails again and again does not hold up the others.
_POLICY = replace(ONE_ATTEMPT, circuit_breaker_enabled=True, circuit_failure_threshold=10, circuit_open_ms=10_000)
_LONGEST_PAUSE = timedelta(days=1)
_ACKNOWLEDGE_SECONDS = 10
#: After this, the message of a process that died is sent by another one: a user waits.
_CLAIM = timedelta(seconds=15)
log = structlog.get_logger(__name__)
#: Receipts may come in any order: none takes the place of a later one.
_ORDER = ("", "sent", "delivered", "read", "failed")


def select_next() -> QuerySet[CeChannelMessage]:
    """The oldest waiting message to each user of each channel that is on."""
    waiting = CeChannelMessage.objects.filter(status=OutboxStatus.PENDING)
    earlier = waiting.filter(channel=OuterRef("channel"), recipient=OuterRef("recipient"), pk__lt=OuterRef("pk"))
    return waiting.filter(~Exists(earlier), channel__is_enabled=True).select_related("channel")


async def send_message(row: CeChannelMessage) -> None:
    """Send a message once. Raises ToolFault; SendFailed, which is one, when the provider said what to do next."""
    channel = row.channel
    provider = find_provider(channel)
    now = time.monotonic()
    at = max(_next_at.get(channel.pk, now), now)
    _next_at[channel.pk] = at + 1 / provider.per_second
    await asyncio.sleep(at - now)
    call = provider.build_call(row.body, row.recipient, read_secrets(channel), channel.settings)
    result = provider.read_result(*await _call(channel, provider, call))
    if result.message_id:
        row.provider_message_id = fit_name(result.message_id, LONGEST_NAME)
        return
    late = find_late_body(row) if result.is_too_late else None
    row.body = late or row.body
    error = ToolFault("PROVIDER_REFUSED", result.error)
    raise SendFailed(error, pause=min(result.pause, _LONGEST_PAUSE), is_final=result.is_final and not late)


def acknowledge(channel: CeChannel, message: Incoming) -> None:
    """Tell the provider that a message was read, and which button. Waits for nothing, and nothing waits for it."""
    provider, secrets = find_provider(channel), read_secrets(channel)
    calls = [provider.acknowledge(message, secrets, channel.settings)]
    if message.pressed_in:
        calls.append(provider.show_choice(message, secrets, channel.settings))
    for call in calls:
        if call is not None:
            outgoing.start(_acknowledge(channel, provider, call))


async def _acknowledge(channel: CeChannel, provider: Provider, call: Call) -> None:
    try:
        async with asyncio.timeout(_ACKNOWLEDGE_SECONDS):
            # Its failures do not count: answers go on.
            await _call(channel, provider, call, ONE_ATTEMPT)
    except (ToolFault, TimeoutError) as error:
        log.info("acknowledgement not sent", channel=channel.name, reason=str(error))


#: When a channel may send next, in this process; read and written in the loop of outgoing calls alone.
_next_at: dict[int, float] = {}


async def _call(
    channel: CeChannel, provider: Provider, call: Call, policy: HttpPolicy = _POLICY
) -> tuple[int, Json, int]:
    """Make a call. Returns its status, body and the seconds of Retry-After. Raises ToolFault if there is no answer."""
    target = _find_target(provider, call.url)
    try:
        sent = await fetch(HttpCall(target, "POST", policy, f"channel {channel.pk}", call.headers, body=call.body))
        return sent.status, _read_json(sent.body), 0
    except ToolFault as fault:
        if fault.status is None:
            raise
        after = fault.retry_after or ""
        return fault.status, _read_json(fault.body), int(after[:6]) if after.isascii() and after.isdigit() else 0


def _find_target(provider: Provider, url: str) -> HttpTarget:
    """The address of a call. Raises ToolFault for a host that is neither the provider's nor in CE_CHANNEL_HOSTS."""
    # Without its path, so that one connection serves all calls to a host.
    host, allowed = split_address(url)._replace(path="", query="", fragment=""), frozenset(conf.get("CHANNEL_HOSTS"))
    target = HttpConnection("channel", host, private_hosts=allowed).target(url)
    is_own = target.scheme == "https" and target.host in provider.hosts
    if not is_own and not is_listed(target.host, target.port, allowed):
        text = f"{target.host} is no host of {provider.title}. An operator can allow it in CE_CHANNEL_HOSTS."
        raise ToolFault("HOST_REFUSED", text)
    return target


def _read_json(body: bytes) -> Json:
    """The JSON of an answer. Returns None for another one."""
    try:
        value: Json = load_mended(body)
    except ValueError:
        return None
    return value


outbox = Outbox(
    select_next,
    send_message,
    "channel_id",
    lambda channel_id: circuits.of(f"channel {channel_id}").limit_calls(MOST_AT_ONCE),
    lambda row, error: report_failure(row),
    handed_as="channel_messages",
    claim=_CLAIM,
)
wake_here = outbox.wake_here


def _work() -> Iterator[Counts]:
    """Send what is due, and remove what is older than turns may be."""
    yield from outbox.send_due()
    before = retention_cutoff()
    if before is not None:
        old = CeChannelMessage.objects.filter(created_at__lt=before).order_by("created_at")
        yield from remove_in_batches(old, "removed")


JOB = Job(
    "send_channel_messages",
    "Send messages of channels",
    "Sends the messages of channels that wait, tries again those that failed, and removes old ones.",
    Every(10),
    _work,
    waits_outside=True,
    removes=[Retention(["ce_channels.CeChannelMessage"], RETENTION_DAYS)],
)


def store_receipt(channel: CeChannel, receipt: Receipt) -> None:
    """Store what became of a message that was sent. What came too late is sent in its other form, if it has one."""
    name = fit_name(receipt.message_id, LONGEST_NAME)
    rows = CeChannelMessage.objects.filter(channel=channel, provider_message_id=name)
    row = rows.first() if receipt.message_id and receipt.state in _ORDER else None
    if row is None:
        return
    row.error = receipt.error[:1000]
    if receipt.is_too_late and (late := find_late_body(row)):
        rows.update(**start_anew(), provider_message_id="", body=late, error=row.error)
        return
    earlier = _ORDER[: _ORDER.index(receipt.state)]
    values = {"status": OutboxStatus.FAILED, "error": row.error} if receipt.state == "failed" else {}
    with transaction.atomic():
        if rows.filter(receipt__in=earlier).update(receipt=receipt.state, **values) and values:
            report_failure(row)


def find_late_body(row: CeChannelMessage) -> object:
    """Write the message that the provider still accepts. Returns None if there is no other than the stored one."""
    try:
        late = find_provider(row.channel).write_late(row.text, row.channel.settings)
    except ToolFault:
        return None
    return None if late == row.body else late


def report_failure(row: CeChannelMessage) -> None:
    """Tell webhooks that a message did not arrive."""
    if row.conversation_id:
        store_undelivered_event(row.conversation_id, row.channel.workspace_id, row.text, row.error, database_time())
