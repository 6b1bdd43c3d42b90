"""Who else has a row open: pages report every few seconds and hear about others and about changes.

A page that is silent for a minute does not count. The state is in a table, so it holds for all processes.
"""

import re
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from django.contrib import admin
from django.core.exceptions import BadRequest, PermissionDenied
from django.db.models import Model
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.utils import formats, timezone
from django.views.decorators.csrf import ensure_csrf_cookie
from django.views.decorators.http import require_GET, require_POST

from config_admin.editing.links import row_url
from config_admin.form_save.optimistic_lock import Intruder, SeenVersion, changed_by, digest_of
from config_admin.form_save.presence_row import CePresence, Doing
from config_admin.releases.content import content_of, control_plane
from config_admin.releases.tree import Content

#: After how much silence a page is gone, and after how much it is forgotten.
GONE, FORGOTTEN = timedelta(seconds=60), timedelta(minutes=10)
#: After how much silence the time of the last report is shown.
QUIET = timedelta(seconds=30)
_VISIT = re.compile(r"[\w-]{8,36}")


class OpenRow(NamedTuple):
    """A row, as pages name it."""

    model: type[Model]
    pk: Any

    @property
    def table(self) -> str:
        return self.model._meta.db_table


@require_POST
def report_presence(request: HttpRequest) -> JsonResponse:
    """A page reports that it is open, and what its user does, or (`leaving`) that it closes."""
    user: Any = request.user
    open_row, visit = _read_open_row(request), request.POST.get("visit", "")
    if not _VISIT.fullmatch(visit):
        raise BadRequest("A visit ID needs 8 to 36 letters, digits or hyphens.")
    if "leaving" in request.POST:
        CePresence.objects.filter(pk=visit, user=user).update(seen_at=timezone.now() - GONE)
        return JsonResponse({})
    _note(user, open_row, visit, _doing(request))
    visitors, news = list(others(user, open_row, visit)), _news(request, open_row, request.POST.get("seen", ""))
    return JsonResponse({"others": visitors, "news": news, "history": row_url(open_row.table, open_row.pk, "history")})


def others(user: Any, open_row: OpenRow, visit: str | None = None) -> Iterator[str]:
    """Who has a row open, first come first, except the asking window or its user; one query."""
    now = timezone.now()
    presences = CePresence.objects.filter(table_name=open_row.table, row_pk=str(open_row.pk), seen_at__gt=now - GONE)
    presences = presences.exclude(user=user) if visit is None else presences.exclude(pk=visit)
    for presence in presences.select_related("user").order_by("since"):
        when = f"since {_clock(presence.since)}"
        if now - presence.seen_at > QUIET:
            when += f", last seen {_clock(presence.seen_at, seconds=True)}"
        if presence.user_id == user.pk:
            yield f"You also have this row open in another window, {when}."
        else:
            yield f"{_name(presence.user)} {_WORDS[presence.doing]}, {when}."


_WORDS = {
    Doing.READING.value: "is also reading this row",
    Doing.OPEN.value: "also has this row open",
    Doing.CHANGING.value: "is also changing this row",
}


def _note(user: Any, open_row: OpenRow, visit: str, doing: str) -> None:
    now = timezone.now()
    values = {"table_name": open_row.table, "row_pk": str(open_row.pk), "seen_at": now, "doing": doing}
    if not CePresence.objects.filter(pk=visit, user=user).update(**values):
        CePresence.objects.filter(seen_at__lt=now - FORGOTTEN).delete()
        CePresence.objects.bulk_create([CePresence(visit=visit, user=user, **values)], ignore_conflicts=True)


def _read_open_row(request: HttpRequest) -> OpenRow:
    model = control_plane().get(request.POST.get("table", ""))
    if model is None:
        raise Http404("This row does not exist.")
    if not admin.site.get_model_admin(model).has_view_or_change_permission(request):
        raise PermissionDenied
    return OpenRow(model, request.POST.get("pk", ""))


def _doing(request: HttpRequest) -> str:
    given = request.POST.get("doing", "")
    return given if given in Doing.values else Doing.OPEN.value


class StoredRow(NamedTuple):
    """A row as it is stored now, live or in the draft of the page."""

    #: Null for a deleted row.
    content: Content | None
    #: The person who changed it last in the draft. Null if the change is live.
    change: Intruder | None = None


def _read_stored_row(request: HttpRequest, open_row: OpenRow) -> StoredRow:
    """The row; a page in a draft names on the request how it is read."""
    if read_in_draft := getattr(request, "ce_read_row", None):
        in_draft: StoredRow = read_in_draft(open_row)
        return in_draft
    stored = open_row.model._default_manager.filter(pk=open_row.pk).first()
    return StoredRow(content_of(stored) if stored else None)


def _news(request: HttpRequest, open_row: OpenRow, seen: str) -> str:
    """What happened to the row since its page saw it; blank for nothing, or if the page saw none."""
    if not seen:
        return ""
    stored = _read_stored_row(request, open_row)
    if stored.content is not None and digest_of(stored.content) == SeenVersion.parse(seen).content:
        return ""
    change = stored.change or next(changed_by(open_row.model, open_row.pk, 0), None)
    by = f"{change.who} ({change.when})" if change else "Somebody"
    if stored.content is None:
        return f"{by} deleted this row. Your input is kept. Save to create the row again."
    return (
        f"{by} saved this row while you have it open. Nothing is lost. When you save, both changes are "
        "shown side by side."
    )


def _name(user: Any) -> str:
    return str(user.get_full_name() or user.get_username())


def _clock(moment: datetime, *, seconds: bool = False) -> str:
    return formats.time_format(timezone.localtime(moment), "H:i:s" if seconds else "H:i")


@require_GET
@ensure_csrf_cookie
def check_sign_in(request: HttpRequest) -> HttpResponse:
    """An empty answer with the CSRF token; users who are not signed in get the login page."""
    return HttpResponse(status=204)
