"""The access log."""

from collections.abc import Sequence
from typing import ClassVar

from django.db import models
from django.utils import timezone

from audit.models.sealed import AppendOnly, ChainedRow
from convengine.server.database.unreadable import format_minute


class CeAccessLog(ChainedRow, AppendOnly):
    """One access of a user to the record, a sign-in, or a change of what users may do."""

    SEALED: ClassVar[Sequence[str]] = (
        *("created_at", "reader", "kind", "conversation_id", "turn_no", "address", "path"),
    )
    ERASABLE: ClassVar[Sequence[str]] = ("search",)

    class Kind(models.TextChoices):
        """What was opened."""

        CONVERSATION = "CONVERSATION", "Timeline of a conversation"
        TURN = "TURN", "A turn"
        EVENTS = "EVENTS", "Events"
        ROW = "ROW", "A stored row"
        LIST = "LIST", "A list of stored rows"
        WHY = "WHY", "Why a turn went as it did"
        SEARCH = "SEARCH", "Search"
        COMPARE = "COMPARE", "Comparison"
        AS_IT_WAS = "AS_IT_WAS", "A row as it was"
        STREAM = "STREAM", "Live stream"
        REPLAY = "REPLAY", "Replay"
        WHAT_IF = "WHAT_IF", "What if"
        SCENARIO = "SCENARIO", "Scenario file"
        EXPORT = "EXPORT", "Export"
        PRINT = "PRINT", "Printable page"
        EVIDENCE = "EVIDENCE", "Evidence file"
        SIGN_IN = "SIGN_IN", "Sign-in"
        SIGN_IN_REFUSED = "SIGN_IN_REFUSED", "Refused sign-in"
        ACCESS_CHANGED = "ACCESS_CHANGED", "Change of access"

    access_id = models.BigAutoField("id", primary_key=True)
    created_at = models.DateTimeField("time", default=timezone.now)
    reader = models.TextField("user", help_text="The name of the user at that time.")
    kind = models.TextField("action", help_text="What the user opened.")
    conversation_id = models.UUIDField("conversation", null=True, help_text="Empty for a search.")
    turn_no = models.IntegerField("turn", null=True, help_text="Empty for more than one turn.")
    search = models.TextField(default="", blank=True, help_text="The searched text, or how the user signed in.")
    address = models.TextField(default="", blank=True, help_text="Network address of the request.")
    path = models.TextField(default="", blank=True, help_text="Page or endpoint, without its parameters.")

    class Meta:
        db_table = "ce_access_log"
        verbose_name = "access log entry"
        verbose_name_plural = "access log entries"
        indexes = [
            models.Index("conversation_id", models.F("access_id").desc(), name="ce_access_conversation"),
            models.Index("reader", models.F("access_id").desc(), name="ce_access_reader"),
            models.Index("kind", models.F("access_id").desc(), name="ce_access_kind"),
        ]

    def __str__(self) -> str:
        return f"{self.reader}, {format_minute(self.created_at)}"
