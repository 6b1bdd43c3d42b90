"""The Django app of conversations."""

from django.apps import AppConfig


class SessionsConfig(AppConfig):
    """Its label is not `sessions`, which Django's own app has."""

    name = "convengine.server.sessions"
    default_auto_field = "django.db.models.BigAutoField"
    label = "ce_sessions"
    verbose_name = "Conversations"
