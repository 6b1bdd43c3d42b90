"""What pages of the record say about releases: who made them, when and why, and what they changed."""

from collections.abc import Collection
from datetime import datetime

from config_admin.editing.links import release_url, undo_url
from config_admin.editing.row_diff import first_rows
from config_admin.releases.diff import changes_of
from config_admin.releases.models import CeGradualRelease, CeRelease, Origin
from convengine.server.interfaces.release_history import GradualPeriod, ReleaseChanges, ReleaseNote

#: How many rows of a release are shown in detail, and how many releases per page.
ROWS, RELEASES = 10, 20


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


def between(since: int, until: int, behind: int | None = None) -> tuple[list[ReleaseChanges], int | None]:
    """The releases after `since` up to `until`, newest first, with their changes; and where the next page begins.

    `behind`: only releases before that one.
    """
    wanted = CeRelease.objects.filter(pk__gt=since, pk__lte=until if behind is None else min(until, behind - 1))
    releases = list(wanted.order_by("-pk").defer("manifest")[: RELEASES + 1])
    more = releases[RELEASES - 1].pk if len(releases) > RELEASES else None
    listed = []
    for release in releases[:RELEASES]:
        changed = changes_of(release)
        rows = first_rows(changed, ROWS)
        listed.append(ReleaseChanges(_build_note(release), rows, sum(map(len, changed.values())) - len(rows)))
    return listed, more


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
