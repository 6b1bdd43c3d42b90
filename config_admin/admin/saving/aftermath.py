"""What the health check says of a row that was just saved, told on the page that follows."""

from collections.abc import Sequence
from typing import Any

from django.contrib import messages
from django.http import HttpRequest
from django.utils.html import format_html, format_html_join

from config_admin.admin.places.health_page import health_url
from config_admin.health.check import check_touched
from config_admin.health.codes import HEALTH_CODES
from config_admin.health.diagnosis import RowKey
from config_admin.models import CeHealthAcknowledgement
from config_admin.snapshot.active import snapshots
from config_admin.validation.installation import installed

#: How many findings are told at once.
TOLD = 3
#: How many findings are looked up among those that were accepted.
MARKED = 1000


def tell_health(request: HttpRequest, saved: Any) -> None:
    """Warn of what the saved row does together with others. What the form has asked about is not said again."""
    if told := news_of([RowKey(saved._meta.db_table, saved.pk)]):
        lines = format_html_join("", "<li>{}</li>", ((line,) for line in told[:TOLD]))
        text = 'To look at, among others in <a class="ce-link" href="{}">Health</a>:<ul>{}</ul>'
        messages.warning(request, format_html(text, health_url(), lines))


def news_of(saved: Sequence[RowKey]) -> list[str]:
    """What saved rows do together with others, in sentences, without what was accepted."""
    snapshot = snapshots.current()
    found = check_touched(snapshot, installed(), saved).findings
    marks = {one.fingerprint(snapshot): one for one in found if one.code in HEALTH_CODES}
    accepted = (
        set(CeHealthAcknowledgement.objects.filter(pk__in=list(marks)[:MARKED]).values_list("pk", flat=True))
        if marks
        else set()
    )
    return [f"{one.message} {one.consequence}".strip() for mark, one in marks.items() if mark not in accepted]
