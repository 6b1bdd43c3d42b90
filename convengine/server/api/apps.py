"""The turn API and its keys."""

from django.apps import AppConfig


class ApiConfig(AppConfig):
    name = "convengine.server.api"
    default_auto_field = "django.db.models.BigAutoField"
    label = "ce_api"
    verbose_name = "API"

    def ready(self) -> None:
        from convengine.server.api import cross_origin  # noqa: F401
