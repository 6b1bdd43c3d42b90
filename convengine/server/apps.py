"""The server as a Django app. It registers checks and does nothing else at import."""

from django.apps import AppConfig


class ConvEngineConfig(AppConfig):
    name = "convengine.server"
    label = "convengine"
    verbose_name = "ConvEngine"

    def ready(self) -> None:
        """Register the system checks."""
        from convengine.server.startup import checks

        checks.register()
