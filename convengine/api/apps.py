"""The turn API and its keys."""

from django.apps import AppConfig


class ApiConfig(AppConfig):
    """Django's view of the app."""

    name = "convengine.api"
    label = "ce_api"
    verbose_name = "API"

    def ready(self) -> None:
        """Let the API's description know its authentication."""
        from convengine.api import schema  # noqa: F401
