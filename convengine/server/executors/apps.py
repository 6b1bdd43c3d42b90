"""The executors of tools, and their tables: documents, and sent messages."""

from django.apps import AppConfig
from django.db.models.signals import post_migrate


class ExecutorsConfig(AppConfig):
    name = "convengine.server.executors"
    default_auto_field = "django.db.models.BigAutoField"
    label = "ce_executors"
    verbose_name = "Tools"

    def ready(self) -> None:
        """Make the search index of documents after their table."""
        from convengine.server.executors.models import make_search_index

        post_migrate.connect(make_search_index, sender=self)
