"""The shell around conversations."""

from django.apps import AppConfig


class SessionsConfig(AppConfig):
    """Django's view of the app; its label is not `sessions`, which Django's own app has."""

    name = "convengine.sessions"
    label = "ce_sessions"
    verbose_name = "Conversations"
