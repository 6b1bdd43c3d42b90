"""The Django app of the configuration: rows, editors, releases."""

from django.apps import AppConfig
from django.db.models.signals import post_migrate


class ConfigAdminConfig(AppConfig):
    name = "config_admin"
    default_auto_field = "django.db.models.BigAutoField"
    verbose_name = "Configuration"

    def ready(self) -> None:
        """Describe forms in their words, and update triggers, head and releases after migrations."""
        from config_admin.editing.row_diff import DESCRIBERS
        from config_admin.flows.summary import describe_form_difference
        from config_admin.releases.migrations_release import after_migrate

        DESCRIBERS["ce_output_schema", "json_schema"] = describe_form_difference
        post_migrate.connect(after_migrate, sender=self)

    def requires_draft(self, config_version: int) -> bool:
        """True when changes after this release are made in drafts only."""
        from config_admin.releases.active import snapshots
        from convengine.engine.turn.releases import requires_draft

        return requires_draft(snapshots.at(config_version))
