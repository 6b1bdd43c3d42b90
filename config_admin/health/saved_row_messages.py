"""The health findings of a saved row, shown on the next page."""

from collections.abc import Sequence
from typing import Any

from django.contrib import messages
from django.http import HttpRequest
from django.utils.html import format_html, format_html_join

from config_admin.editing.links import health_url
from config_admin.health.acknowledgement import CeHealthAcknowledgement
from config_admin.health.check import check_touched
from config_admin.health.diagnosis import Diagnosis, RowKey
from config_admin.releases.active import snapshots
from config_admin.validation.codes import HEALTH_CODES
from config_admin.validation.installation import describe_installation
from convengine.engine.text.compare import shorten_line

#: How many findings are shown at once.
TOLD = 3
#: How many findings are looked up among the accepted ones.
MARKED = 1000
#: Findings that the page of the release shows, because the missing row usually comes next.
_OF_RELEASE = frozenset({"STATE_WITHOUT_RESPONSE"})
_SHOWN = HEALTH_CODES.keys() - _OF_RELEASE


def tell_health(request: HttpRequest, saved: Any) -> None:
    """Warn about what the saved row does together with others, without findings that the form has shown."""
    if news := news_of([RowKey(saved._meta.db_table, saved.pk)]):
        lines = format_html_join("", "<li>{}</li>", ((line,) for line in news[:TOLD]))
        text = 'Findings, also listed in <a class="ce-link" href="{}">Health</a>:<ul>{}</ul>'
        messages.warning(request, format_html(text, health_url(), lines))


def news_of(saved: Sequence[RowKey]) -> list[str]:
    """The health findings of saved rows in sentences, without accepted ones."""
    snapshot = snapshots.current()
    findings = check_touched(snapshot, describe_installation(), saved).findings
    marks = {finding.fingerprint(snapshot): finding for finding in findings if finding.code in _SHOWN}
    accepted = (
        set(CeHealthAcknowledgement.objects.filter(pk__in=list(marks)[:MARKED]).values_list("pk", flat=True))
        if marks
        else set()
    )
    return [_describe(finding) for mark, finding in marks.items() if mark not in accepted]


def _describe(finding: Diagnosis) -> str:
    text = finding.witness.text if finding.witness else None
    example = f" For example: “{shorten_line(text, 80)}”." if text and text not in finding.message else ""
    return f"{finding.message} {finding.consequence}{example}".strip()
