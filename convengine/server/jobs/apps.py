"""Background jobs, their runs and results."""

from django.apps import AppConfig


class JobsConfig(AppConfig):
    name = "convengine.server.jobs"
    default_auto_field = "django.db.models.BigAutoField"
    label = "ce_jobs"
    verbose_name = "Background jobs"
