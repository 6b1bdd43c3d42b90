"""The findings of the last check, each with its age, and those that are accepted, as tables. No turn reads them."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from django.db import models, transaction
from django.db.models import Case, Count, IntegerField, QuerySet, Subquery, Value, When, Window
from django.utils import timezone

from config_admin.health.impact import Impact
from config_admin.releases.row_history import find_last_versions
from config_admin.releases.working_copy import find_working_copy
from convengine.engine.turn.snapshot import Snapshot


class CeHealthAcknowledgement(models.Model):
    """An accepted finding, named by its rows' content: it is reported again when one of them changes."""

    fingerprint = models.CharField(
        primary_key=True, max_length=32, help_text="Identifies the finding and the content of its rows."
    )
    code = models.TextField(help_text="The type of the finding.")
    reason = models.TextField(help_text="Why the finding is accepted.")
    made_by = models.TextField(help_text="Who accepted it.")
    made_at = models.DateTimeField(default=timezone.now, help_text="When it was accepted.")

    class Meta:
        db_table = "ce_health_acknowledgement"
        default_permissions = ()

    def __str__(self) -> str:
        return f"{self.code} {self.fingerprint[:8]}"


if TYPE_CHECKING:
    # Every process loads the tables of this module; few check the configuration.
    from config_admin.health.background import CheckRun
    from config_admin.health.check import Health
    from config_admin.health.diagnosis import Diagnosis

_BATCH = 500


class CeHealthReport(models.Model):
    """One row: which release was checked last, and when."""

    id = models.SmallIntegerField(primary_key=True, default=1)
    config_version = models.BigIntegerField(help_text="The checked release.")
    checked_at = models.DateTimeField(default=timezone.now, help_text="When it was checked.")

    class Meta:
        db_table = "ce_health_report"
        default_permissions = ()

    def __str__(self) -> str:
        return f"Release {self.config_version}"


class CeHealthFinding(models.Model):
    """A finding of the last check, with the release since which it exists."""

    key = models.CharField(
        primary_key=True, max_length=32, help_text="Identifies the type of the finding, its rows and its column."
    )
    fingerprint = models.CharField(max_length=32, help_text="The same with the content of its rows.")
    code = models.TextField(help_text="The type of the finding.")
    impact = models.CharField(max_length=16, help_text="What it does to conversations.")
    message = models.TextField(help_text="What is wrong.")
    table_name = models.TextField(help_text="The table of its row.")
    row_pk = models.TextField(blank=True, help_text="The key of its row.")
    since_version = models.BigIntegerField(help_text="The release since which it exists.")
    since_at = models.DateTimeField(default=timezone.now, help_text="When it was found first.")

    class Meta:
        db_table = "ce_health_finding"
        default_permissions = ()

    def __str__(self) -> str:
        return f"{self.code} {self.key[:8]}"

    @property
    def label(self) -> str:
        return Impact(self.impact).label


def store_findings(health: "Health", snapshot: Snapshot) -> None:
    """Store the result of a full check; nothing if that of a newer release is stored.

    Findings that are known keep their age. Those that are gone are removed, unless the check skipped something.
    """
    findings = {finding.key: finding for finding in health.findings}
    with transaction.atomic():
        report, created = CeHealthReport.objects.select_for_update().get_or_create(
            pk=1, defaults={"config_version": health.config_version}
        )
        if report.config_version > health.config_version:
            return
        known = dict(CeHealthFinding.objects.values_list("key", "since_version"))
        new = [finding for key, finding in findings.items() if key not in known]
        since = _date_findings(new, 0 if created else report.config_version, health.config_version)
        CeHealthFinding.objects.bulk_create(
            (_build_row(finding, snapshot, known.get(key) or since[key]) for key, finding in findings.items()),
            batch_size=_BATCH,
            update_conflicts=True,
            unique_fields=["key"],
            update_fields=["fingerprint", "code", "impact", "message", "table_name", "row_pk"],
        )
        if not health.left_out:
            gone = [key for key in known if key not in findings]
            for start in range(0, len(gone), _BATCH):
                CeHealthFinding.objects.filter(key__in=gone[start : start + _BATCH]).delete()
        report.config_version, report.checked_at = health.config_version, timezone.now()
        report.save()


def store_run(run: "CheckRun") -> None:
    """Store the findings of a check that ended, once."""
    if run.health is not None and not run.stored and not find_working_copy():
        run.stored = True
        store_findings(run.health, run.snapshot)


def _build_row(finding: "Diagnosis", snapshot: Snapshot, since: int) -> CeHealthFinding:
    """The row to store for a finding that exists since a release."""
    return CeHealthFinding(
        key=finding.key,
        fingerprint=finding.fingerprint(snapshot),
        code=finding.code,
        impact=finding.impact.value,
        message=finding.message,
        table_name=finding.table,
        row_pk="" if finding.row is None else str(finding.row),
        since_version=since,
    )


def _date_findings(findings: "Iterable[Diagnosis]", checked: int, current: int) -> dict[str, int]:
    """The release that caused each new finding: the last one that changed its rows, after the last checked one."""
    last = find_last_versions({(key.table, key.pk) for finding in findings for key in finding.rows})
    changed = {row: version.config_version for row, version in last.items()}
    return {
        finding.key: min(
            max([checked + 1, *(changed.get((key.table, str(key.pk)), 0) for key in finding.rows)]), current
        )
        if finding.rows
        else current
        for finding in findings
    }


def read_ages() -> dict[str, int]:
    """The release since which each stored finding exists, by its key."""
    return dict(CeHealthFinding.objects.values_list("key", "since_version"))


class HealthSummary(NamedTuple):
    """The open findings of the last check, for the first page."""

    #: The checked release; 0 when none was checked.
    config_version: int
    #: How many findings are open.
    total: int
    #: The newest open findings, the worst of a release first.
    newest: Sequence[CeHealthFinding]


def summarise_findings(limit: int) -> HealthSummary:
    """The summary of the stored findings, without the accepted ones. At most two queries."""
    checked = Subquery(CeHealthReport.objects.values("config_version")[:1])
    rows: Any = _list_open().annotate(urgency=_URGENCY, total=Window(Count("key")), checked=checked)
    newest = list(rows.order_by("-since_version", "urgency", "code", "key")[:limit])
    if newest:
        return HealthSummary(newest[0].checked or 0, newest[0].total, newest)
    return HealthSummary(CeHealthReport.objects.values_list("config_version", flat=True).first() or 0, 0, [])


def list_new_findings(config_version: int, limit: int) -> list[CeHealthFinding]:
    """The open findings that exist since a release, the worst first."""
    new = _list_open().filter(since_version=config_version)
    return list(new.annotate(urgency=_URGENCY).order_by("urgency", "code", "key")[:limit])


#: The rank of a row's impact.
_URGENCY = Case(
    *(When(impact=impact.value, then=Value(impact.rank)) for impact in Impact),
    default=Value(len(Impact)),
    output_field=IntegerField(),
)


def _list_open() -> QuerySet[CeHealthFinding]:
    return CeHealthFinding.objects.exclude(fingerprint__in=CeHealthAcknowledgement.objects.values("fingerprint"))
