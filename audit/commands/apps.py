"""The commands as a Django app."""

from django.apps import AppConfig


class CommandsConfig(AppConfig):
    name = "audit.commands"
    label = "ce_record_commands"
    verbose_name = "Commands of the record"
