"""Around requests that may change rows: one change set, by the request's user, for the reason that the form gives."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.core.exceptions import BadRequest
from django.http import HttpRequest
from django.utils.html import format_html
from django.utils.safestring import SafeString

from config_admin.admin.links import release_url
from config_admin.admin.saving import reasons
from config_admin.releases.change_set import change_set, current, released
from config_admin.releases.models import Origin


@contextmanager
def recorded(request: HttpRequest, origin: Origin = Origin.ADMIN) -> Iterator[None]:
    """One release of what a POST changes, by its user and for its reason.

    Pages ask for the reason before they change anything. Should one ever not, the change is undone: raises BadRequest.
    """
    if request.method != "POST":
        yield
        return
    user: Any = request.user
    with change_set(origin, user if user.is_authenticated else None, reasons.given(request)) as change:
        yield
        if not change.reason and (change.touched or change.touched_tables):
            raise BadRequest(reasons.MISSING)


def told() -> SafeString | str:
    """Which release the request has made so far, as its user is told."""
    change = current()
    if change is None:
        return ""
    released()
    if change.release is None:
        return "Nothing is different, so there is no new release."
    return format_html(
        '<a class="ce-link" href="{}">Release {}</a> is live: the next message of every conversation uses it.',
        release_url(change.release.pk),
        change.release.pk,
    )
