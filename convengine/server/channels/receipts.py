"""Store what providers report about sent messages, and tell the help desk which ones did not arrive."""

from django.db import transaction

from convengine.engine.tools.fault import ToolFault
from convengine.server.channels.contract import LONGEST_NAME, Receipt, fit_name
from convengine.server.channels.models import CeChannel, CeChannelMessage
from convengine.server.channels.providers import find_provider
from convengine.server.database.sql import database_time
from convengine.server.jobs.outbox import OutboxStatus, start_anew
from convengine.server.webhooks.write import store_undelivered_event

#: Receipts may come in any order: none takes the place of a later one.
_ORDER = ("", "sent", "delivered", "read", "failed")


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
