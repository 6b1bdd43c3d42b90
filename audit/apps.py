"""The record: what every turn did, and why."""

from django.apps import AppConfig


class AuditConfig(AppConfig):
    """Django's view of the app."""

    name = "audit"
    verbose_name = "Audit"
