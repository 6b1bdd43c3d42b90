"""Wrap requests that may change rows in a change set with the request's user and reason."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.core.exceptions import BadRequest
from django.http import HttpRequest
from django.utils.html import format_html
from django.utils.safestring import SafeString

from config_admin.editing import reasons
from config_admin.editing.links import release_url
from config_admin.releases.change_set import change_set, current, get_released_head
from config_admin.releases.models import Origin
from config_admin.releases.working_copy import find_working_copy

UNCHANGED = "There are no differences, so no release was created."


@contextmanager
def record_request(request: HttpRequest, origin: Origin = Origin.ADMIN) -> Iterator[None]:
    """One release for the changes of a POST, with its user and reason.

    Pages ask for the reason first. If one does not, the change is rolled back: raises BadRequest.
    """
    if request.method != "POST":
        yield
        return
    user: Any = request.user
    with change_set(origin, user if user.is_authenticated else None, reasons.read_reason(request)) as change:
        yield
        if not change.reason and (change.touched or change.touched_tables):
            raise BadRequest(reasons.explain_blank_reason(request))


def describe_new_release() -> SafeString | str:
    """The message about what the request stored: the release, the draft, or that nothing changed.

    Blank outside of a change set.
    """
    change = current()
    if change is None:
        return ""
    get_released_head()
    if find_working_copy():
        return describe_saved_draft()
    if change.release is None:
        return UNCHANGED
    return format_html(
        '<a class="ce-link" href="{}">Release {}</a> is active. Every conversation uses it from its next message on.',
        release_url(change.release.pk),
        change.release.pk,
    )


def describe_saved_draft() -> str:
    """The message about changes in the open draft; blank outside of one."""
    copy = find_working_copy()
    if copy is None:
        return ""
    return f"It is saved in the draft “{copy.title}”. Conversations do not use it yet." if copy.changed else UNCHANGED
