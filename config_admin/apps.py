"""The control plane: configuration rows, their editors, their releases."""

from django.apps import AppConfig


class ConfigAdminConfig(AppConfig):
    """Django's view of the app."""

    name = "config_admin"
    verbose_name = "Configuration"
