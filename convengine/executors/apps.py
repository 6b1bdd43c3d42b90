"""What runs behind tools, and the tables that some of it has: documents, and messages that were sent."""

from typing import Any

from django.apps import AppConfig
from django.db import connections
from django.db.models.signals import post_migrate


class ExecutorsConfig(AppConfig):
    """Django's view of the app."""

    name = "convengine.executors"
    label = "ce_executors"
    verbose_name = "Tools"

    def ready(self) -> None:
        """Documents can be searched as soon as their table is there."""
        post_migrate.connect(_ensure_search, sender=self)


def _ensure_search(sender: AppConfig, using: str, **kwargs: Any) -> None:
    from convengine.executors.search_index import ensure

    ensure(connections[using])
