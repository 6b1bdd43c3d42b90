"""The state of jobs: when each is due, who runs it, and how its runs ended."""

from django.db import models

from convengine.engine.turn.enums import JobStatus


class CeJobRun(models.Model):
    """One run of a job."""

    id = models.BigAutoField(primary_key=True)
    job_name = models.TextField("job")
    status = models.TextField(choices=JobStatus.choices(), default=JobStatus.RUNNING.value)
    started_at = models.DateTimeField("started")
    finished_at = models.DateTimeField("finished", null=True)
    started_by = models.TextField(help_text="The schedule, or the user who started it.")
    worker = models.TextField(help_text="Host and process that ran it.")
    counts = models.JSONField(default=dict, help_text="Number of processed items so far.")
    error = models.TextField(default="", blank=True)

    class Meta:
        db_table = "ce_job_run"
        verbose_name = "job run"
        indexes = [models.Index(fields=["job_name", "id"], name="ce_job_run_of_a_job")]

    def __str__(self) -> str:
        return f"{self.job_name} {self.started_at:%Y-%m-%d %H:%M}"


class CeJob(models.Model):
    """When a job is due, and who runs it now. The job itself is code (`settings.CONVENGINE["JOBS"]`)."""

    name = models.TextField(primary_key=True)
    due_at = models.DateTimeField("due")
    lease_token = models.UUIDField("lease", null=True)
    lease_expires_at = models.DateTimeField("lease expires", null=True)
    failures = models.IntegerField(default=0, help_text="Number of failures since the last success.")
    last_run = models.ForeignKey(CeJobRun, null=True, on_delete=models.SET_NULL, related_name="+", db_index=False)

    class Meta:
        db_table = "ce_job"
        verbose_name = "background job"
        permissions = [("run_job", "Can run a background job now")]

    def __str__(self) -> str:
        return self.name
