"""Users of the admin who are signed in."""

from typing import Any

from django.contrib.auth.models import Group, User
from django.test import Client


def sign_in(name: str, *groups: str, **columns: Any) -> Client:
    """A browser in which a new member of the staff is signed in, who is in these groups."""
    user = User.objects.create_user(name, is_staff=True, **columns)
    user.groups.set(Group.objects.filter(name__in=groups))
    client = Client()
    client.force_login(user)
    return client


def sign_in_superuser(name: str = "ada") -> Client:
    """A browser in which a new superuser is signed in."""
    return sign_in(name, is_superuser=True)
