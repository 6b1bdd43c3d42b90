"""Send messages to users: soon after the answer, in order for each user, and again after faults."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta

from django.db.models import Exists, OuterRef, QuerySet

from convengine.engine.tools.fault import ToolFault
from convengine.engine.turn.codec import loads
from convengine.engine.turn.job import Counts, Every, Job
from convengine.json_value import Json
from convengine.server.channels.models import CeChannelMessage
from convengine.server.channels.providers import find_provider, read_secrets
from convengine.server.deployment import conf
from convengine.server.executors.http_client import Call as HttpCall
from convengine.server.executors.http_client import circuits, fetch
from convengine.server.executors.http_connections import HttpConnection, split_address
from convengine.server.executors.http_policy import ONE_ATTEMPT
from convengine.server.jobs.outbox import MOST_AT_ONCE, Outbox, OutboxStatus, SendFailed
from convengine.server.sessions.old_turns import ROWS, retention_cutoff

#: A provider that fails again and again does not hold up the others.
_POLICY = replace(ONE_ATTEMPT, circuit_breaker_enabled=True, circuit_failure_threshold=10, circuit_open_ms=10_000)
_LONGEST_PAUSE = timedelta(days=1)


def select_next() -> QuerySet[CeChannelMessage]:
    """The oldest waiting message to each user of each channel that is on."""
    waiting = CeChannelMessage.objects.filter(status=OutboxStatus.PENDING)
    earlier = waiting.filter(channel=OuterRef("channel"), recipient=OuterRef("recipient"), pk__lt=OuterRef("pk"))
    return waiting.filter(~Exists(earlier), channel__is_enabled=True).select_related("channel")


async def send_message(row: CeChannelMessage) -> None:
    """Send a message once. Raises ToolFault; SendFailed, which is one, when the provider said what to do next."""
    channel = row.channel
    provider = find_provider(channel)
    call = provider.build_call(row.body, row.recipient, read_secrets(channel), channel.settings)
    target = HttpConnection(
        "channel", split_address(call.url), private_hosts=frozenset(conf.get("CHANNEL_PRIVATE_HOSTS"))
    ).target(call.url)
    try:
        sent = await fetch(HttpCall(target, "POST", _POLICY, f"channel {channel.pk}", call.headers, body=call.body))
        status, body, retry_after = sent.status, sent.body, ""
    except ToolFault as fault:
        if fault.status is None:
            raise
        status, body, retry_after = fault.status, fault.body, fault.retry_after or ""
    seconds = int(retry_after[:6]) if retry_after.isascii() and retry_after.isdigit() else 0
    outcome = provider.read_outcome(status, _read_json(body), seconds)
    if not outcome.message_id:
        error = ToolFault("PROVIDER_REFUSED", outcome.error)
        raise SendFailed(error, pause=min(outcome.pause, _LONGEST_PAUSE), is_final=outcome.is_final)
    row.provider_message_id = outcome.message_id


def _read_json(body: bytes) -> Json:
    """The JSON of an answer. Returns None for another one."""
    try:
        value: Json = loads(body)
    except ValueError:
        return None
    return value


outbox = Outbox(
    select_next,
    send_message,
    "channel_id",
    lambda channel_id: circuits.of(f"channel {channel_id}").limit_calls(MOST_AT_ONCE),
    handed_as="channel_messages",
)
wake_here = outbox.wake_here


def _work() -> Iterator[Counts]:
    """Send what is due, and remove what is older than turns may be."""
    yield from outbox.send_due()
    before = retention_cutoff()
    if before is not None:
        old = CeChannelMessage.objects.filter(created_at__lt=before).order_by("pk")
        while keys := list(old.values_list("pk", flat=True)[:ROWS]):
            CeChannelMessage.objects.filter(pk__in=keys).delete()
            yield {"removed": len(keys)}


JOB = Job(
    "send_channel_messages",
    "Send messages of channels",
    "Sends the messages of channels that wait, tries again those that failed, and removes old ones.",
    Every(10),
    _work,
    waits_outside=True,
)
