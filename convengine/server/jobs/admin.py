"""Admin pages of background jobs: last and next runs; operators may start one."""

from collections.abc import Mapping
from typing import Any

from django.contrib import admin, messages
from django.contrib.admin.models import CHANGE, LogEntry
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseNotAllowed, HttpResponseRedirect
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.formats import localize
from django.utils.safestring import SafeString
from django.utils.timezone import localtime

from convengine.engine.text.compare import shorten_line
from convengine.engine.turn.job import Job
from convengine.server.admin_site.missing_rights import require_right
from convengine.server.admin_site.pages import page
from convengine.server.admin_site.read_only import ReadOnlyAdmin
from convengine.server.admin_site.record_columns import (
    STATUS_BADGES,
    badge_class,
    badge_column,
    link,
    status_badge,
    status_column,
    text_column,
)
from convengine.server.database.sql import database_time
from convengine.server.deployment import conf
from convengine.server.jobs import running
from convengine.server.jobs.models import CeJob, CeJobRun

PERMISSION = "ce_jobs.run_job"
NEWEST_RUNS = 20
#: Maximum length of a result in a list; the page of a run shows all of it.
BRIEF = 60


@admin.register(CeJob)
class JobAdmin(ReadOnlyAdmin):
    #: Whether all jobs ran is seen on one page.
    list_per_page = 100
    list_display = ("title", "when", "last_status", "last_result", "last_start", "next_due")
    list_select_related = ("last_run",)
    ordering = ("name",)
    fieldsets = (
        (None, {"fields": ("title", "description", "when", "next_due", "runs")}),
        ("Details", {"fields": ("name", "failures", "lease_expires_at")}),
    )
    readonly_fields = ("title", "description", "when", "next_due", "runs")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        """The existing jobs; rows of others are left from an earlier version."""
        if self.has_view_or_change_permission(request):
            running.create_missing_rows()
        jobs: QuerySet[Any] = super().get_queryset(request).filter(name__in=list(running.all_jobs()))
        return jobs

    def change_view(self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: Any = None) -> Any:
        """With the button for users who may start it."""
        context = {"may_run": request.user.has_perm(PERMISSION), **(extra_context or {})}
        return super().change_view(request, object_id, form_url, context)

    @admin.display(description="job")
    def title(self, row: CeJob) -> str:
        return _job(row).title

    @admin.display(description="what it does")
    def description(self, row: CeJob) -> str:
        return _job(row).help

    @admin.display(description="schedule")
    def when(self, row: CeJob) -> str:
        """The schedule in words."""
        return _job(row).schedule.describe()

    @badge_column({**STATUS_BADGES, "NEVER": "default"}, "last run")
    def last_status(self, row: CeJob) -> tuple[str, str]:
        return status_badge(row.last_run.status) if row.last_run else ("NEVER", "has not run yet")

    @admin.display(description="result")
    def last_result(self, row: CeJob) -> str:
        """The counts of its last run, or the error."""
        return shorten_line(result(row.last_run), BRIEF) if row.last_run else "-"

    @admin.display(description="began")
    def last_start(self, row: CeJob) -> Any:
        return row.last_run.started_at if row.last_run else None

    @admin.display(description="next run")
    def next_due(self, row: CeJob) -> str:
        return localize(localtime(row.due_at))

    @admin.display(description="latest runs")
    def runs(self, row: CeJob) -> SafeString:
        newest = CeJobRun.objects.filter(job_name=row.name).order_by("-id")[:NEWEST_RUNS]
        return render_to_string(
            "convengine/job_runs.html",
            {"job": row, "runs": [(run, badge_class(run.status), shorten_line(result(run), BRIEF)) for run in newest]},
        )

    @page("<str:name>/run/")
    def run_view(self, request: HttpRequest, name: str) -> HttpResponse:
        """Make a job due now; the next process that looks runs it. Waiting for it could take long."""
        require_right(request, PERMISSION)
        if request.method != "POST":
            return HttpResponseNotAllowed(["POST"])
        row = self.get_queryset(request).filter(pk=name).first()
        if row is None:
            raise Http404(f"The job {name} does not exist.")
        CeJob.objects.filter(pk=name).update(due_at=database_time())
        user: Any = request.user
        LogEntry.objects.log_actions(user.pk, [row], CHANGE, "The job was started.", single_object=True)
        seconds = conf.get("JOB_TICK_SECONDS")
        text = f"{_job(row).title}: the next worker runs it within about {seconds} seconds."
        self.message_user(request, text, messages.SUCCESS)
        return HttpResponseRedirect(reverse("admin:ce_jobs_cejob_change", args=[name]))


@admin.register(CeJobRun)
class JobRunAdmin(ReadOnlyAdmin):
    """Runs of all jobs, newest first."""

    list_display = ("began", "job_page", "ended", "brief", "finished_at", "started_by")
    ordering = ("-id",)
    fields = ("job_page", "status", "did", "failure", "started_at", "finished_at", "started_by", "worker")
    readonly_fields = ("job_page", "did", "failure")
    ended = status_column()
    failure = text_column("error", "error")

    @admin.display(description="began")
    def began(self, row: CeJobRun) -> Any:
        """Its start, with a link to its page."""
        return row.started_at

    @admin.display(description="job")
    def job_page(self, row: CeJobRun) -> SafeString:
        return link("ce_jobs_cejob_change", row.job_name, row.job_name)

    @admin.display(description="did")
    def brief(self, row: CeJobRun) -> str:
        """Its counts, and the beginning of the error."""
        return shorten_line(result(row), BRIEF)

    @admin.display(description="did")
    def did(self, row: CeJobRun) -> str:
        return format_counts(row.counts)


def result(run: CeJobRun) -> str:
    """What a run did, and the error if it failed."""
    done = format_counts(run.counts) if run.counts or not run.error else ""
    return "; ".join(part for part in (done, run.error) if part)


def format_counts(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{count} {name}" for name, count in counts.items()) or "nothing to do"


def _job(row: CeJob) -> Job:
    return running.all_jobs()[row.name]
