"""*Start empty*: take the flows of the demonstration away, and everything that came with them."""

from typing import NamedTuple

from django.contrib import messages
from django.db import transaction
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.views.decorators.http import require_POST

from config_admin.editing.confirmation import list_missing_rights
from config_admin.editing.request_change_set import describe_new_release
from config_admin.releases.change_set import change_set
from config_admin.releases.diff import compare_wanted
from config_admin.releases.models import CeRelease, Origin
from config_admin.releases.restore_rows import RestoreRefused
from config_admin.releases.undo import revert_release, wanted_by_revert
from config_admin.test_cases.models import CeTestCase
from convengine.server.admin_site.missing_rights import RightMissing
from convengine.server.deployment import conf

#: The author and the reason of the release that brings the demonstration.
AUTHOR, REASON = "demo", "The demonstration's own rows"


def find_demonstration() -> CeRelease | None:
    """The release that brought the demonstration. Returns None where there was none."""
    return CeRelease.objects.filter(author=AUTHOR, reason=REASON).order_by("pk").first()


class StartEmpty(NamedTuple):
    """What Home offers in a demonstration."""

    #: True for users who may delete all that is left of it.
    is_allowed: bool


def find_start_empty(request: HttpRequest) -> StartEmpty | None:
    """The offer to start empty. Returns None in a draft, and where nothing of a demonstration is left."""
    release = find_demonstration() if conf.get("DEMO") else None
    if release is None or getattr(request, "ce_draft", None):
        return None
    wanted, _ = wanted_by_revert(release.pk)
    return StartEmpty(not list_missing_rights(request, compare_wanted(wanted))) if wanted else None


@require_POST
def start_empty(request: HttpRequest) -> HttpResponse:
    """Undo the release of the demonstration, and delete its tests. Later rows stay. The release can be undone."""
    release, user = find_demonstration(), request.user.get_username()
    offer = find_start_empty(request)
    if release is None or offer is None or not offer.is_allowed:
        raise RightMissing("config_admin.delete_ceintent")
    try:
        with transaction.atomic(), change_set(Origin.REVERT, user, "Start empty, without the demonstration"):
            revert_release(release.pk, author=user, force=True)
            messages.success(request, describe_new_release())
            CeTestCase.objects.filter(owner=AUTHOR).delete()
    except RestoreRefused as refused:
        messages.error(request, f"The demonstration cannot be taken away, because other rows use it: {refused}")
    return HttpResponseRedirect(reverse("admin:index"))
