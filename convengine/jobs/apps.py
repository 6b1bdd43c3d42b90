"""Background jobs: which there are, when each ran and how it ended."""

from django.apps import AppConfig


class JobsConfig(AppConfig):
    """Django's view of the app."""

    name = "convengine.jobs"
    label = "ce_jobs"
    verbose_name = "Background jobs"
