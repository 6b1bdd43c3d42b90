"""`manage.py jobs`: list background jobs, and run them by hand."""

import getpass
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from convengine.engine.turn.enums import JobStatus
from convengine.server.deployment.exact_command import ExactCommand
from convengine.server.jobs import running
from convengine.server.jobs.models import CeJob, CeJobRun


class Command(ExactCommand):
    """Lists jobs, or runs them now."""

    requires_system_checks = "__all__"
    help = "List background jobs, or run them."

    def add_arguments(self, parser: ArgumentParser) -> None:
        what = parser.add_mutually_exclusive_group(required=True)
        what.add_argument(
            "--list", action="store_true", help="Show the last run, its result and the next run of each job."
        )
        what.add_argument("--once", action="store_true", help="Run the named jobs now, or all of them.")
        what.add_argument("--due", action="store_true", help="Run all jobs that are due, for example from cron.")
        parser.add_argument("names", nargs="*", metavar="job")

    def handle(self, *args: Any, names: list[str], **options: Any) -> None:
        """Raises CommandError for an unknown job, and when one failed."""
        if unknown := [name for name in names if name not in running.all_jobs()]:
            raise CommandError(f"The job {unknown[0]} does not exist. Jobs: {', '.join(running.all_jobs())}.")
        wanted = names or list(running.all_jobs())
        if not options["list"]:
            self._run([name for name in running.due() if name in wanted] if options["due"] else wanted)
            return
        running.create_missing_rows()
        rows = {row.name: row for row in CeJob.objects.select_related("last_run")}
        for name in wanted:
            job, row = running.all_jobs()[name], rows[name]
            self.stdout.write(f"{name:<18} {job.title}, {job.schedule.describe()}")
            self.stdout.write(f"{'':<18} last: {describe_last_run(row.last_run)}; next: {row.due_at:%Y-%m-%d %H:%M:%S}")

    def _run(self, names: list[str]) -> None:
        failed = []
        for name in names:
            record = running.run(name, by=getpass.getuser())
            self.stdout.write(f"{name:<18} {describe_last_run(record) if record else 'runs in another process'}")
            if record and record.status == JobStatus.FAILED:
                failed.append(name)
        if failed:
            raise CommandError(f"Failed: {', '.join(failed)}.")


def describe_last_run(record: CeJobRun | None) -> str:
    """A run in one line: start, result, counts."""
    if record is None:
        return "has not run yet"
    counts = ", ".join(f"{count} {name}" for name, count in record.counts.items()) or "nothing to do"
    error = f", {record.error}" if record.error else ""
    return f"{record.started_at:%Y-%m-%d %H:%M:%S} {record.status}, {counts}{error}"
