"""The server as a Django app. It registers checks and does nothing else at import."""

import gc

from django.apps import AppConfig


class ConvEngineConfig(AppConfig):
    name = "convengine.server"
    default_auto_field = "django.db.models.BigAutoField"
    label = "convengine"
    verbose_name = "ConvEngine"

    def ready(self) -> None:
        """Register the checks, find the log, and collect garbage from now on: nearly everything is imported."""
        from convengine.server.deployment.logs import use_project_logging
        from convengine.server.startup import checks

        checks.register()
        use_project_logging()
        if not gc.isenabled():  # by `convengine.cli` or `convengine.wsgi`; other entry points keep their ways
            gc.freeze()
            gc.enable()
