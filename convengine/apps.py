"""The engine as a Django app: it registers checks, and nothing else happens at import."""

from django.apps import AppConfig


class ConvEngineConfig(AppConfig):
    """Django's view of the app."""

    name = "convengine"
    label = "convengine"
    verbose_name = "ConvEngine"

    def ready(self) -> None:
        """Register the system checks."""
        from convengine import checks

        checks.register()
