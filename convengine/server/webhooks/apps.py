"""Webhooks, their deliveries and their pages."""

from django.apps import AppConfig


class WebhooksConfig(AppConfig):
    name = "convengine.server.webhooks"
    default_auto_field = "django.db.models.BigAutoField"
    label = "ce_webhooks"
    verbose_name = "Webhooks"
