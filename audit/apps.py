"""The Django app of the record."""

from typing import Any

from django.apps import AppConfig
from django.db import connections
from django.db.models.signals import post_migrate

#: Written once; retention removes their rows, so deleting stays possible.
_SEALED = ("ce_turn_index", "ce_access_log", "ce_chain_cut", "ce_erasure", "ce_ledger", "ce_sealed_state")
#: Written once, too, but retention and erasures empty parts of a row.
_TURNS = "ce_conversation_history"


def _seal(using: str, **kwargs: Any) -> None:
    from audit.record.removals import list_allowed_changes
    from convengine.server.database.sealed_tables import seal_tables

    connection = connections[using]
    existing = set(connection.introspection.table_names())
    seal_tables(connection, [table for table in _SEALED if table in existing], for_ever=False)
    if _TURNS in existing:
        seal_tables(connection, [_TURNS], for_ever=False, unless=list_allowed_changes(connection.vendor))


class AuditConfig(AppConfig):
    name = "audit"
    default_auto_field = "django.db.models.BigAutoField"
    verbose_name = "Audit"

    def ready(self) -> None:
        """Keep the triggers whenever migrations are checked: at every start of the server."""
        post_migrate.connect(_seal, sender=self)
