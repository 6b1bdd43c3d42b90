"""The record: what every turn did, and why."""

from typing import Any

from django.apps import AppConfig
from django.db import connections
from django.db.models.signals import post_migrate

#: Written once; their rows leave by retention, so taking them out stays possible.
_SEALED = (
    *("ce_audit", "ce_turn_row", "ce_llm_call_log"),
    *("ce_access_log", "ce_chain_link", "ce_chain_cut", "ce_erasure"),
)


def _ensure_partitions(**kwargs: Any) -> None:
    from audit.partitions import ensure

    ensure()


def _seal(using: str, **kwargs: Any) -> None:
    from convengine.sealed import seal

    connection = connections[using]
    there = set(connection.introspection.table_names())
    seal(connection, [table for table in _SEALED if table in there], for_ever=False)


class AuditConfig(AppConfig):
    """Django's view of the app."""

    name = "audit"
    verbose_name = "Audit"

    def ready(self) -> None:
        """Coming partitions are made whenever migrations were looked at: at every start of the server."""
        post_migrate.connect(_ensure_partitions, sender=self)
        post_migrate.connect(_seal, sender=self)
