"""The list of accesses to the record, sign-ins and changes of access."""

from typing import Any
from urllib.parse import parse_qsl

from django.apps import apps
from django.contrib import admin
from django.urls import Resolver404, resolve
from django.utils.safestring import SafeString
from django.utils.text import capfirst

from audit.models import CeAccessLog
from audit.seal import read_seal
from convengine.engine.text.compare import shorten_line
from convengine.engine.text.invisible import reveal_invisible
from convengine.server.admin_site.read_only import ByConversation
from convengine.server.admin_site.record_columns import link, value_column

_LABELS = dict(CeAccessLog.Kind.choices)
#: Accesses to rows of a table that the page names.
_OF_A_TABLE = (CeAccessLog.Kind.LIST, CeAccessLog.Kind.ROW)


@admin.register(CeAccessLog)
class AccessLogAdmin(ByConversation):
    """Accesses of users to the record, newest first."""

    is_of_people = False
    list_display = ("time", "reader", "action", "conversation_page", "turn", "search_beginning", "ip_address")
    list_filter = ("kind",)
    search_fields = ("reader", "conversation_id")
    search_help_text = "User name or conversation ID"
    fields = ("reader", "action", "conversation_page", "turn", "search", "address", "path", "created_at")
    readonly_fields = ("action", "conversation_page", "turn")
    ordering = ("-access_id",)
    time = value_column("created_at", "time")
    ip_address = value_column("address", "IP address")

    @admin.display(description="search, filters or details")
    def search_beginning(self, row: CeAccessLog) -> str:
        """The filters of a search or a list by their names, or the details of a sign-in."""
        seal = read_seal(row.seal)
        if seal and seal.cuts:
            return "(erased)"
        return shorten_line(reveal_invisible(describe_filters(row.search)), 120) or "-"

    @admin.display(description="action")
    def action(self, row: CeAccessLog) -> str:
        table = _find_table(row.path) if row.kind in _OF_A_TABLE else None
        if table is None:
            return str(_LABELS.get(row.kind, row.kind))
        is_list = row.kind == CeAccessLog.Kind.LIST
        return f"List of {table.verbose_name_plural}" if is_list else capfirst(str(table.verbose_name))

    @admin.display(description="conversation")
    def conversation_page(self, row: CeAccessLog) -> SafeString:
        return super().conversation_page(row) if row.conversation_id else SafeString("-")

    @admin.display(description="conversation")
    def conversation_name(self, row: CeAccessLog) -> str:
        """Its id, for users who may not open it."""
        return str(row.conversation_id or "-")

    @admin.display(description="turn")
    def turn(self, row: CeAccessLog) -> SafeString | str:
        if row.turn_no is None:
            return "-"
        query = f"?conversation_id={row.conversation_id}&turn_no={row.turn_no}"
        return link("ce_sessions_ceconversationhistory_changelist", row.turn_no, query=query)


def describe_filters(search: str) -> str:
    """A stored search in words: `participant: anna · intent: FEES`; another text stays."""
    pairs = parse_qsl(search) if "=" in search else []
    return " · ".join(f"{_FILTERS.get(name, name)}: {value}" for name, value in pairs) or search


#: Names of filters whose parameters do not say what they are.
_FILTERS = {"q": "words", "o": "order", "p": "page", "at": "page at", "before": "rows before", "export": "exported as"}


def _find_table(path: str) -> Any:
    """The table of a page of the admin. Returns None for other pages."""
    try:
        name = resolve(path).view_name.removeprefix("admin:").rpartition("_")[0]
        app, _, model = name.rpartition("_")
        return apps.get_model(app, model)._meta
    except (LookupError, ValueError, Resolver404):
        return None
