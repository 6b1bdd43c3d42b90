"""The address of a channel: requests of its provider are verified, read and answered at once."""

import asyncio
import time
from collections.abc import Mapping
from datetime import timedelta
from typing import Any

import structlog
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_http_methods

from convengine.engine.errors import ConvEngineError
from convengine.engine.text.compare import storable
from convengine.engine.tools.fault import ToolFault
from convengine.engine.turn.codec import clean_texts
from convengine.engine.turn.turn import TurnRequest
from convengine.server.channels.contract import (
    LONGEST_NAME,
    Incoming,
    Received,
    RequestRefused,
    Unit,
    are_names,
    fit_name,
)
from convengine.server.channels.details import PARAM, describe_media, join_details
from convengine.server.channels.models import CeChannel
from convengine.server.channels.opt_out import find_fixed_answer
from convengine.server.channels.providers import find_provider, read_secrets
from convengine.server.channels.send import acknowledge, store_receipt
from convengine.server.database.sql import database_time
from convengine.server.deployment import conf
from convengine.server.outgoing.loop import outgoing
from convengine.server.queued.answer import FIXED_ANSWER, outbox
from convengine.server.queued.models import CeQueuedMessage
from convengine.server.queued.queue import is_known, join_message, queue_message
from convengine.server.threads.find_session import Thread
from convengine.server.turns.idempotency import IdempotencyKey

log = structlog.get_logger(__name__)
#: A channel's page says when something came and was refused; this often at most, it is written.
_NOTE_SECONDS = 60.0
_LONGEST_KEY = 128
#: What people send without writing it, and what it is for the engine.
_COMMANDS = {"/start": "hello"}
#: How long the answer to a picture waits for the next one: albums come as one message for each picture.
_FURTHER_MEDIA = timedelta(seconds=3)
_noted: dict[tuple[int, str], float] = {}


@csrf_exempt
@require_http_methods(["GET", "POST"])
def receive(request: HttpRequest, name: str) -> HttpResponse:
    """Take the messages of a request. Nothing of a request that is not from the provider is stored."""
    channel = CeChannel.objects.filter(name=name, is_enabled=True).first()
    if channel is None:
        return _refuse(404, "CHANNEL_UNKNOWN", f"There is no channel {name}, or it is off.")
    try:
        provider, secrets = find_provider(channel), read_secrets(channel)
        headers = {header.lower(): value for header, value in request.headers.items()}
        received = Received(request.method or "", request.GET.dict(), headers, request.body, time.time())
        arrival = provider.receive(received, secrets, channel.settings)
    except RequestRefused as refused:
        _note_refusal(channel, str(refused))
        return _refuse(403, "REQUEST_REFUSED", str(refused))
    except ToolFault as fault:
        log.error("channel not ready", channel=name, reason=fault.message)
        return _refuse(503, fault.code, fault.message)
    try:
        # The answers to older ones are no longer stored, so that they would be answered again.
        oldest = time.time() - conf.get("IDEMPOTENCY_HOURS") * 3600
        for message in sorted(arrival.messages, key=lambda message: message.at or 0):
            if message.at is None or message.at >= oldest:
                take_in(channel, message)
    except ConvEngineError as error:
        # The provider sends it again.
        return _refuse(error.status, error.code, error.message)
    for receipt in arrival.receipts:
        store_receipt(channel, receipt)
    _note(channel, "last_request_at")
    return HttpResponse(arrival.reply, content_type="text/plain")


def take_in(channel: CeChannel, message: Incoming) -> None:
    """Queue a message, once however often it comes. Pictures in a row are one message.

    What is no text gets the channel's answer to attachments. A text that is longer than MAX_MESSAGE_BYTES is cut.
    """
    key = IdempotencyKey.of(channel.owner, fit_name(message.message_id, _LONGEST_KEY), None)
    thread = Thread(channel.workspace_id, channel.name, storable(message.sender))
    if not are_names(thread.remote_jid):
        # The other messages of the request are taken.
        _note_refusal(channel, f"The name of the user, or of the thread, is longer than {LONGEST_NAME} characters.")
        return
    if CeQueuedMessage.objects.filter(message_id=key.call).exists():
        return
    if message.needs_conversation and not is_known(thread):
        return
    fixed_answer = find_fixed_answer(channel, thread.remote_jid, message)
    request = _build_request(channel, message, fixed_answer)
    has_media = message.details.has_media
    pause = _FURTHER_MEDIA if has_media else timedelta()
    if not (has_media and join_message(request, key, thread, fixed_answer, _join_media, pause)):
        queue_message(request, key, "", thread, fixed_answer, may_refuse=False, pause=pause)
        if fixed_answer is None:
            acknowledge(channel, message)
    if has_media:
        outgoing.start(_wake_after(pause))


def _build_request(channel: CeChannel, message: Incoming, fixed_answer: str | None) -> TurnRequest:
    """What the engine gets; with a fixed answer, what is recorded."""
    params = clean_texts({PARAM: message.details.to_param(), "locale": message.locale or channel.locale})
    words = Unit.BYTES.cut(_COMMANDS.get(message.text) or storable(message.text), conf.get("MAX_MESSAGE_BYTES"))
    if not words and fixed_answer is not None:
        words = describe_media(params[PARAM]) or "[attachment]"
    return TurnRequest(
        "",
        words or None,
        {name: value for name, value in params.items() if value},
        channel=channel.name,
        workspace_id=channel.workspace_id,
    )


async def _wake_after(pause: timedelta) -> None:
    await asyncio.sleep(pause.total_seconds())
    outbox.wake()


def _join_media(first: Mapping[str, Any], second: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Join two stored requests that have media into one.

    Returns None if both have words, or if the first has no media.
    """
    details = [request["input_params"].get(PARAM, {}) for request in (first, second)]
    media = [describe_media(known) for known in details]
    has_words = [request["message"] not in (None, known) for request, known in zip((first, second), media, strict=True)]
    if all(has_words) or not media[0]:
        return None
    leading, joined = second if has_words[1] else first, join_details(*details)
    params = {**first["input_params"], **second["input_params"], PARAM: joined}
    is_described = not any(has_words) and FIXED_ANSWER in leading
    return {**leading, "input_params": params, **({"message": describe_media(joined)} if is_described else {})}


def _note_refusal(channel: CeChannel, reason: str) -> None:
    log.warning("request of a channel refused", channel=channel.name, reason=reason)
    _note(channel, "refused_at", refusal=reason[:500])


def _note(channel: CeChannel, column: str, **values: str) -> None:
    """Write the time into a column of the channel, unless that was done a moment ago."""
    key, now = (channel.pk, column), time.monotonic()
    if now - _noted.get(key, -_NOTE_SECONDS) >= _NOTE_SECONDS:
        _noted[key] = now
        CeChannel.objects.filter(pk=channel.pk).update(**{column: database_time()}, **values)


def _refuse(status: int, code: str, message: str) -> HttpResponse:
    return JsonResponse({"errorCode": code, "message": message}, status=status)
