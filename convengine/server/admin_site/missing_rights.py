"""Which right a user lacks for a page, who has it, and whom to ask."""

from collections.abc import Iterator
from typing import Any

from django.contrib import admin
from django.contrib.auth import get_user_model
from django.contrib.auth.models import Group as UserGroup
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest

from convengine.server.admin_site import layout
from convengine.server.admin_site.rights import GROUPS, describe_groups_with, find_task

#: How many administrators a page names.
NAMED = 3
#: What the pages of a row need, by the end of their name; the others show something.
_ACTIONS = {"add": "add", "delete": "delete", "put_back": "change", "try": "change", "tools": "change"}


class RightMissing(PermissionDenied):
    """The user lacks a right, as `app.codename`."""

    def __init__(self, right: str) -> None:
        super().__init__()
        self.right = right


def require_right(request: HttpRequest, right: str) -> None:
    """Raises RightMissing."""
    user: Any = request.user
    if not user.has_perm(right):
        raise RightMissing(right)


def explain_refusal(request: HttpRequest, exception: Exception) -> Iterator[str]:
    """The missing right, the groups that have it, and the administrators to ask, as sentences."""
    user: Any = request.user
    if isinstance(exception, RightMissing):
        right = exception.right
    else:
        right = layout.find_entry_right(request.path) or _derive_right(request)
        # The user may have it, and the page need another one.
        right = "" if not right or user.has_perm(right) else right
    if right:
        if task := find_task(right):
            yield f"It needs the permission “{task.title}”."
        yield f"Only {describe_groups_with(right)} do this."
    titles = {group.name: group.title for group in GROUPS}
    names = UserGroup.objects.filter(user=user.pk).order_by("name").values_list("name", flat=True)
    groups = ", ".join(titles.get(name, name) for name in names)
    member = f"Your groups: {groups}." if groups else "You are in no group."
    yield f"You are signed in as {user.get_username()}. {member}"
    users: Any = get_user_model()
    administrators = users.objects.filter(is_superuser=True, is_active=True).order_by(users.USERNAME_FIELD)[:NAMED]
    named = ", ".join(each.get_full_name() or each.get_username() for each in administrators)
    yield f"If you need it, ask an administrator: {named}." if named else "If you need it, ask an administrator."


def _derive_right(request: HttpRequest) -> str:
    name = request.resolver_match.url_name if request.resolver_match else None
    for model in admin.site._registry:
        prefix = f"{model._meta.app_label}_{model._meta.model_name}_"
        if name and name.startswith(prefix):
            action = _ACTIONS.get(name.removeprefix(prefix), "change" if request.method == "POST" else "view")
            return f"{model._meta.app_label}.{action}_{model._meta.model_name}"
    return ""
