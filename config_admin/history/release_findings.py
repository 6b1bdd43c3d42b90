"""What a release does to conversations: the findings of its rows."""

from typing import NamedTuple

from django.http import HttpRequest

from config_admin.editing.context import get_editor_context
from config_admin.editing.links import find_readable_url
from config_admin.health.check import check_touched
from config_admin.health.diagnosis import Diagnosis, RowKey
from config_admin.health.impact import Impact
from config_admin.health.stored_findings import CeHealthAcknowledgement, list_new_findings
from config_admin.releases.diff import RowDifferences

#: How many findings are shown, and how many changed rows are checked at once.
SHOWN, MAX_CHECKED = 20, 50


class ReleaseFinding(NamedTuple):
    """A finding that exists since the release: its impact, its text, and its row."""

    impact: Impact
    message: str
    consequence: str
    url: str


def list_release_findings(request: HttpRequest, config_version: int, by_table: RowDifferences) -> list[ReleaseFinding]:
    """The open findings about the rows of the release in force, or those that a full check dated to the release."""
    snapshot, world = get_editor_context(request)
    changed = [RowKey(table, row.pk) for table, rows in by_table.items() for row in rows if row.after is not None]
    if snapshot.config_version != config_version or len(changed) > MAX_CHECKED:
        return [
            ReleaseFinding(
                Impact(finding.impact),
                finding.message,
                "",
                find_readable_url(request, finding.table_name, finding.row_pk) if finding.row_pk else "",
            )
            for finding in list_new_findings(config_version, SHOWN)
        ]
    marks = {finding.fingerprint(snapshot): finding for finding in check_touched(snapshot, world, changed).findings}
    accepted = set(CeHealthAcknowledgement.objects.filter(pk__in=marks).values_list("pk", flat=True))
    open_findings = [finding for mark, finding in marks.items() if mark not in accepted]
    return [_build_finding(request, finding) for finding in open_findings[:SHOWN]]


def _build_finding(request: HttpRequest, finding: Diagnosis) -> ReleaseFinding:
    url = "" if finding.row is None else find_readable_url(request, finding.table, finding.row)
    return ReleaseFinding(finding.impact, finding.message, finding.consequence, url)
