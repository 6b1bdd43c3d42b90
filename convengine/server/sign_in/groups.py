"""Groups of users who sign in through the provider: they have the mapped groups, and no others."""

from collections.abc import Iterable
from typing import Any

from django.contrib.auth.models import Group, User
from django.db import transaction

from convengine.server.admin_site.sign_in_log import log_access_change
from convengine.server.sign_in.models import CeGroupMapping


def find_groups(names: Iterable[str]) -> list[Group]:
    """The groups here to which groups at the provider are mapped."""
    keys = CeGroupMapping.objects.filter(claim__in=list(names)).values("group")
    return list(Group.objects.filter(pk__in=keys).order_by("name"))


def may_enter(user: User, groups: list[Group]) -> bool:
    """Users need a group. Administrators do not, so that a mistake at the provider does not lock them out."""
    return bool(groups or user.is_superuser)


@transaction.atomic
def set_groups(request: Any, user: User, groups: list[Group]) -> None:
    """Give a user these groups, and log the difference."""
    before = {group.name for group in user.groups.all()}
    after = {group.name for group in groups}
    is_staff = may_enter(user, groups)
    if before == after and user.is_staff == is_staff:
        return
    user.groups.set(groups)
    user.is_staff = is_staff
    user.save(update_fields=["is_staff"])
    changes = [*(f"+{name}" for name in sorted(after - before)), *(f"-{name}" for name in sorted(before - after))]
    log_access_change(request, f"groups from the provider: {' '.join(changes) or 'none'}", user.get_username())
