"""`ce_evaluation`: what messages lead to on a configuration. Not configuration: no turn reads it."""

from django.db import models

from convengine.server.jobs.background_runs import BackgroundRun, RunStatus


class CeEvaluation(BackgroundRun):
    """An evaluation of a configuration: a cross-validation of its phrases, or labelled messages of a file."""

    evaluation_id = models.BigAutoField(primary_key=True)
    configuration = models.CharField(max_length=40, help_text="live, release:12 or draft:7.")
    configuration_title = models.CharField(max_length=200, help_text="What it is called on pages.")
    config_version = models.BigIntegerField("release", null=True, help_text="The release, or the one below the draft.")
    file_name = models.CharField(
        "file", max_length=200, blank=True, help_text="The file of the messages; blank for a cross-validation."
    )
    messages = models.JSONField(default=list, help_text="The messages of the file until they are evaluated.")
    status = models.CharField(
        max_length=10, choices=RunStatus.choices, default=RunStatus.PENDING, help_text="How far it is."
    )
    total = models.IntegerField(default=0, help_text="How many messages it decides on.")
    done = models.IntegerField(default=0, help_text="How many are done.")
    measures = models.JSONField(default=dict, help_text="The measures of all messages together.")
    document = models.JSONField(null=True, help_text="All measures, with the messages that were not understood.")
    error = models.TextField(blank=True, help_text="Why it failed.")
    started_by = models.CharField(max_length=150, blank=True, help_text="Who started it.")
    created_at = models.DateTimeField("created", help_text="When it was requested.")
    finished_at = models.DateTimeField("finished", null=True, help_text="When it ended.")
    lease_expires_at = models.DateTimeField(
        "lease expires", null=True, help_text="If the process does not respond by then, the evaluation is lost."
    )

    class Meta:
        db_table = "ce_evaluation"
        verbose_name = "evaluation"
        default_permissions = ()

    def __str__(self) -> str:
        return f"Evaluation {self.pk}"

    @property
    def percent(self) -> int:
        """How far it is."""
        return 100 * self.done // self.total if self.total else 0
