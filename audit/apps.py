"""The record: what every turn did, and why."""

from typing import Any

from django.apps import AppConfig
from django.db.models.signals import post_migrate


def _ensure_partitions(**kwargs: Any) -> None:
    from audit.partitions import ensure

    ensure()


class AuditConfig(AppConfig):
    """Django's view of the app."""

    name = "audit"
    verbose_name = "Audit"

    def ready(self) -> None:
        """Coming partitions are made whenever migrations were looked at: at every start of the server."""
        post_migrate.connect(_ensure_partitions, sender=self)
