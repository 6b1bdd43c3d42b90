"""The executors of tools, and their tables: documents, and sent messages."""

from typing import Any

from django.apps import AppConfig
from django.db import connections
from django.db.models.signals import post_migrate


class ExecutorsConfig(AppConfig):
    name = "convengine.server.executors"
    default_auto_field = "django.db.models.BigAutoField"
    label = "ce_executors"
    verbose_name = "Tools"

    def ready(self) -> None:
        """Make the search index of documents after their table."""
        post_migrate.connect(_ensure_search, sender=self)


def _ensure_search(sender: AppConfig, using: str, **kwargs: Any) -> None:
    """Make the search index after a migration, if it is missing."""
    from convengine.server.executors.search_index import ensure

    ensure(connections[using])
