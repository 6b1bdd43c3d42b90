"""The list of the ledger: roots, and what was removed lawfully."""

import json
from functools import cache
from itertools import islice
from typing import Any

from django.apps import apps
from django.contrib import admin
from django.utils.html import format_html_join
from django.utils.safestring import SafeString

from audit.models import CeLedger
from convengine.server.admin_site.read_only import ReadOnlyAdmin
from convengine.server.admin_site.record_columns import (
    ProofColumns,
    conversation_link,
    excerpt_column,
    link,
    value_column,
)
from convengine.server.database.unreadable import UNREADABLE

#: Ends of conversations that the page of a root lists.
MAX_ENDS = 100


@admin.register(CeLedger)
class LedgerAdmin(ProofColumns, ReadOnlyAdmin):
    """Entries of the ledger, newest first."""

    list_display = ("time", "entry", "covers", "by", "reason_beginning", "standing")
    fields = ("time", "entry", "covers", "by", "reason", "hash", "chains", "open_decisions", "validity")
    readonly_fields = fields
    ordering = ("-entry_id",)
    time = value_column("created_at", "time")
    reason_beginning = excerpt_column("reason", "reason")

    @admin.display(description="entry")
    def entry(self, row: CeLedger) -> str:
        return str(row.get_kind_display())

    @admin.display(description="what it covers")
    def covers(self, row: CeLedger) -> str:
        """What an entry is about, in words: undecided rows, removed rows, or what a root lists."""
        if UNREADABLE in (row.count, row.detail):
            return UNREADABLE
        details = _read_details(row)
        if undecided := details.get("undecided"):
            return f"{len(undecided):,} {_name_rows(row.table_name, len(undecided))} to be decided"
        if row.kind != CeLedger.Kind.ROOT:
            return f"{row.count:,} {_name_rows(row.table_name, row.count)}"
        version, tables = details.get("release", (0, ""))[0], details.get("tables", ())
        chains = f"{row.count:,} conversation{'' if row.count == 1 else 's'} that grew since the root before"
        chained = f", and {len(tables)} chained table{'' if len(tables) == 1 else 's'}" if tables else ""
        return f"{chains}, release {version}{chained}"

    @admin.display(description="hash")
    def hash(self, row: CeLedger) -> str:
        """The root, or the hash of the removed ids."""
        return row.root or row.ids_hash

    @admin.display(description="ends of chains")
    def chains(self, row: CeLedger) -> SafeString | str:
        """What a root lists: the newest release, the last entry of each chained table, the first conversations."""
        details, lines = _read_details(row), row.list_ends()
        version, seal = details.get("release", (0, ""))
        tables = [*([("ce_release", version, seal)] if version else []), *details.get("tables", ())]
        ends: list[tuple[Any, ...]] = [(_name_rows(name, 2), "up to", last, digest) for name, last, digest in tables]
        for kind, key, number, digest, _ in map(json.loads, islice(lines, MAX_ENDS)):
            ends.append((conversation_link(key), "turn" if kind == "turns" else "addition", number, digest))
        if len(lines) > MAX_ENDS:
            ends.append(("", "and", len(lines) - MAX_ENDS, "more"))
        return format_html_join("", "<div>{} {} {} <code>{}</code></div>", ends) or "-"

    @admin.display(description="to be decided")
    def open_decisions(self, row: CeLedger) -> SafeString | str:
        """The rows that may be about an erased person, too: somebody must decide."""
        options = _find_options(row.table_name)
        keys = _read_details(row).get("undecided", ())
        rows = ((link(f"{options.app_label}_{options.model_name}_change", key, key),) for key in keys)
        return format_html_join(", ", "{}", rows) or "-"


def _read_details(row: CeLedger) -> dict[str, Any]:
    """The details of an entry; none of a damaged one."""
    try:
        details: Any = row.details
    except (TypeError, ValueError):
        return {}
    return details if isinstance(details, dict) else {}


@cache
def _find_options(table: str) -> Any:
    return next((model._meta for model in apps.get_models() if model._meta.db_table == table), None)


def _name_rows(table: str, count: int) -> str:
    options = _find_options(table)
    return str((options.verbose_name if count == 1 else options.verbose_name_plural) if options else table)
