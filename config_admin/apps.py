"""The control plane: configuration rows, their editors, their releases."""

from django.apps import AppConfig
from django.db.models.signals import post_migrate


class ConfigAdminConfig(AppConfig):
    """Django's view of the app."""

    name = "config_admin"
    verbose_name = "Configuration"

    def ready(self) -> None:
        """Keep triggers, head and releases in step with migrations."""
        from config_admin.releases.after_migrate import after_migrate

        post_migrate.connect(after_migrate, sender=self)
