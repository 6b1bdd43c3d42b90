"""The commands as a Django app."""

from django.apps import AppConfig


class CommandsConfig(AppConfig):
    name = "config_admin.commands"
    label = "ce_configuration_commands"
    verbose_name = "Commands of the configuration"
