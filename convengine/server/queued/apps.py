"""Queued messages and their page."""

from django.apps import AppConfig


class QueuedConfig(AppConfig):
    name = "convengine.server.queued"
    default_auto_field = "django.db.models.BigAutoField"
    label = "ce_queued"
    verbose_name = "Queued messages"
