"""The commands as a Django app."""

from django.apps import AppConfig


class CommandsConfig(AppConfig):
    name = "convengine.commands"
    label = "ce_commands"
    verbose_name = "Commands"
