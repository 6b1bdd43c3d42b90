"""What pages of the record say about releases: who made them, when and why."""

from collections.abc import Collection
from datetime import datetime

from config_admin.editing.links import release_url, undo_url
from config_admin.releases.models import CeGradualRelease, CeRelease, Origin
from convengine.server.interfaces.release_history import GradualPeriod, ReleaseNote


def list_release_notes(numbers: Collection[int]) -> list[ReleaseNote]:
    """What pages say about some releases, in their order; those that do not exist are left out. Two queries."""
    releases = list(CeRelease.objects.filter(pk__in=numbers).order_by("pk").defer("manifest"))
    gradual = {
        row.config_version: GradualPeriod(row.started_at, row.ended_at, row.parent_version)
        for row in CeGradualRelease.objects.filter(config_version__in=[release.pk for release in releases])
    }
    return [_build_note(release, gradual.get(release.pk)) for release in releases]


def list_releases_of_period(since: datetime, until: datetime, limit: int) -> list[ReleaseNote]:
    """The newest releases that people made in a period, in their order; without their gradual periods. One query."""
    releases = CeRelease.objects.filter(created_at__gte=since, created_at__lt=until).exclude(origin=Origin.MIGRATION)
    newest = releases.order_by("-pk").defer("manifest")[:limit]
    return [_build_note(release) for release in reversed(newest)]


def _build_note(release: CeRelease, gradual: GradualPeriod | None = None) -> ReleaseNote:
    return ReleaseNote(
        release.pk,
        release.made_by,
        release.created_at,
        release.reason,
        release_url(release.pk),
        undo_url(release.pk),
        gradual,
    )
