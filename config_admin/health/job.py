"""The job that checks each new release, so that Home shows its findings with their age."""

from collections.abc import Iterator

from config_admin.health.check import check_all
from config_admin.health.stored_findings import CeHealthReport, store_findings
from config_admin.releases.active import snapshots
from config_admin.validation.installation import describe_installation
from convengine.engine.turn.job import Counts, Every, Job


def check_release() -> Iterator[Counts]:
    """Check the release in force, unless that happened."""
    snapshot = snapshots.current()
    if CeHealthReport.objects.filter(config_version=snapshot.config_version).exists():
        return
    health = check_all(snapshot, describe_installation())
    store_findings(health, snapshot)
    yield {"findings": len(health.findings)}


JOB = Job(
    "check_health",
    "Check the health of new releases",
    "Runs the health check for a new release and stores the findings, so that Home shows what is new.",
    Every(60),
    check_release,
)
