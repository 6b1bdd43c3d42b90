"""The Django app of the configuration: rows, editors, releases."""

from django.apps import AppConfig
from django.db.models.signals import post_migrate


class ConfigAdminConfig(AppConfig):
    name = "config_admin"
    verbose_name = "Configuration"

    def ready(self) -> None:
        """Update triggers, head and releases after migrations."""
        from config_admin.releases.migrations_release import after_migrate

        post_migrate.connect(after_migrate, sender=self)
