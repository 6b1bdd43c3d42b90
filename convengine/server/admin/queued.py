"""The page of messages whose callers do not wait."""

from collections.abc import Mapping
from typing import Any

from django.contrib import admin

from convengine.server.admin.masking import masked_column
from convengine.server.admin_site.read_only import ByConversation
from convengine.server.admin_site.record_columns import badge_column, excerpt_column, value_column
from convengine.server.jobs.outbox import OutboxStatus
from convengine.server.queued.models import CeQueuedMessage

_BADGES: Mapping[str, str] = {OutboxStatus.PENDING: "info", OutboxStatus.SENT: "success", OutboxStatus.FAILED: "danger"}


@admin.register(CeQueuedMessage)
class QueuedMessageAdmin(ByConversation):
    """Queued messages, newest first."""

    list_display = ("time", "status_label", "conversation_page", "workspace_id", "attempts", "error_start", "ended")
    list_filter = ("status",)
    ordering = ("-id",)
    time = value_column("created_at", "time")
    ended = value_column("sent_at", "ended")
    error_start = excerpt_column("error", "last error", 80)
    fields = (
        *("status", "conversation_page", "message_id", "workspace_id", "content", "stored"),
        *("attempts", "deaths", "error", "next_attempt_at", "created_at", "ended"),
    )
    readonly_fields = ("conversation_page", "content", "stored", "ended")
    content = masked_column("request", "message")
    stored = masked_column("answer", "answer")

    @badge_column(_BADGES, "status")
    def status_label(self, row: Any) -> tuple[str, str]:
        return row.status, str(row.get_status_display())
