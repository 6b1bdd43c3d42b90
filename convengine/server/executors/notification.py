"""The executor of group NOTIFICATION: an e-mail or a webhook to allowed recipients.

A message is stored before it is sent, and its result afterwards. No database connection is held meanwhile.
"""

from collections.abc import Callable

from django.core.mail import EmailMessage
from django.db import connection as database

from convengine.engine.tools.fault import ToolFault
from convengine.engine.turn.codec import dumps
from convengine.engine.turn.ports import ToolAnswer
from convengine.server.deployment import conf
from convengine.server.executors.http import call_tool
from convengine.server.executors.http_client import idempotency_key
from convengine.server.executors.job import ToolJob
from convengine.server.executors.models import CeNotification, Standing
from convengine.server.extensions.bounded import call_within
from convengine.server.extensions.http import HttpRequest

_EMAIL, _WEBHOOK = "email", "webhook"
_LONGEST_SUBJECT, _LONGEST_TEXT, _MOST_RECIPIENTS = 200, 20_000, 10
_SEND_MS = 15_000


def run(job: ToolJob) -> ToolAnswer:
    """`{status, channel, to, reused}`. Raises ToolFault INVALID_ARGS, RECIPIENT_REFUSED, NOTIFICATION_FAILED.

    Arguments: `channel` email (the default) with `to`, `subject`, `text`; or webhook with `to`, the name of a
    connection, and `data`.
    """
    channel = str(job.args.get("channel") or _EMAIL).strip().lower()
    prepare = {_EMAIL: _prepare_email, _WEBHOOK: _prepare_webhook}.get(channel)
    if prepare is None:
        raise ToolFault("INVALID_ARGS", f"channel must be {_EMAIL} or {_WEBHOOK}, not {channel[:50]}.")
    message, send = prepare(job)
    return _send_once(message, send)


def _send_once(message: CeNotification, send: Callable[[], None]) -> ToolAnswer:
    """Store a message and send it, unless it was sent before. Raises ToolFault NOTIFICATION_FAILED."""
    stored, new = CeNotification.objects.get_or_create(
        key=message.key,
        defaults={
            field.attname: getattr(message, field.attname) for field in message._meta.fields if not field.primary_key
        },
    )
    receipt = {"channel": stored.channel, "to": stored.recipient}
    if not new and stored.status == Standing.SENT:
        return ToolAnswer({"status": stored.status, **receipt, "reused": True})
    if not database.in_atomic_block:
        database.close()
    try:
        send()
    except Exception as error:
        stored.finish(Standing.FAILED, f"{type(error).__name__}: {error}")
        raise ToolFault("NOTIFICATION_FAILED", f"The message to {stored.recipient} was not sent: {error}") from error
    stored.finish(Standing.SENT)
    return ToolAnswer({"status": Standing.SENT.value, **receipt, "reused": False})


def _prepare_email(job: ToolJob) -> tuple[CeNotification, Callable[[], None]]:
    """The row of an e-mail, and what sends it. Raises ToolFault INVALID_ARGS and RECIPIENT_REFUSED."""
    value = job.args.get("to")
    recipients = [str(recipient).strip() for recipient in (value if isinstance(value, list) else [value]) if recipient]
    subject, text = (job.args.get(name) for name in ("subject", "text"))
    if not recipients or len(recipients) > _MOST_RECIPIENTS:
        raise ToolFault("INVALID_ARGS", f"to must be a list of 1 to {_MOST_RECIPIENTS} addresses.")
    if not (isinstance(subject, str) and isinstance(text, str) and subject.strip() and text.strip()):
        raise ToolFault("INVALID_ARGS", "subject and text must be texts.")
    refused = next((recipient for recipient in recipients if not may_write_to(recipient)), None)
    if refused is not None:
        raise ToolFault("RECIPIENT_REFUSED", f"Tools may not write to {refused[:200]}. See CE_NOTIFICATION_RECIPIENTS.")
    subject = " ".join(subject.split())[:_LONGEST_SUBJECT]
    mail = EmailMessage(subject, text[:_LONGEST_TEXT], conf.get("NOTIFICATION_FROM") or None, recipients)

    def send() -> None:
        call_within(_SEND_MS, mail.send)

    return _make_message(job, _EMAIL, ", ".join(recipients), subject, text[:_LONGEST_TEXT]), send


def may_write_to(address: str) -> bool:
    """True when the deployment allows the address or its domain (`CE_NOTIFICATION_RECIPIENTS`).

    An address with a character that could begin another recipient or header is never allowed.
    """
    allowed = {entry.strip().lower() for entry in conf.get("NOTIFICATION_RECIPIENTS")}
    name, _, domain = address.lower().rpartition("@")
    is_unsafe = any(sign in address for sign in "\r\n,;<>\"' \t")
    return not is_unsafe and bool(name) and bool({address.lower(), f"@{domain}"} & allowed)


def _prepare_webhook(job: ToolJob) -> tuple[CeNotification, Callable[[], None]]:
    """The row of a message to a named connection, and what sends it. Raises ToolFault RECIPIENT_REFUSED."""
    name = str(job.args.get("to") or "")
    if name not in conf.get("NOTIFICATION_WEBHOOKS"):
        raise ToolFault("RECIPIENT_REFUSED", f"Tools may not notify {name[:200]!r}. See CE_NOTIFICATION_WEBHOOKS.")
    message = _make_message(job, _WEBHOOK, name, "", dumps(job.args.get("data"))[:_LONGEST_TEXT])
    body = {"conversationId": job.session.conversation_id, "turnNo": job.session.turn_no, "data": job.args.get("data")}
    request = HttpRequest(name, "", "POST", body=body, policy={"retry_non_idempotent": True}, mapping_mode="TEXT")

    def send() -> None:
        call_tool(job.snapshot, job.tool_code, request, {}, message.key)

    return message, send


def _make_message(job: ToolJob, channel: str, recipient: str, subject: str, body: str) -> CeNotification:
    """The row of a message, not stored yet. Its key is the same for every attempt of the turn."""
    return CeNotification(
        key=idempotency_key(job.session.conversation_id, job.session.version, job.tool_code, job.args),
        conversation_id=job.session.conversation_id,
        turn_no=job.session.turn_no,
        tool_code=job.tool_code,
        channel=channel,
        recipient=recipient,
        subject=subject,
        body=body,
    )
