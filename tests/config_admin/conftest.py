"""Who works in the admin."""

from collections.abc import Callable

import pytest
from django.contrib.auth.models import Group, User
from django.test import Client


@pytest.fixture
def somebody(db: None) -> Callable[..., Client]:
    """A signed-in member of some groups."""

    def sign_in(name: str, *groups: str) -> Client:
        user = User.objects.create_user(name, is_staff=True)
        user.groups.set(Group.objects.filter(name__in=groups))
        client = Client()
        client.force_login(user)
        return client

    return sign_in


@pytest.fixture
def ada(somebody: Callable[..., Client]) -> Client:
    """A configuration administrator."""
    return somebody("ada", "config_admin")


@pytest.fixture
def ben(somebody: Callable[..., Client]) -> Client:
    """An analyst."""
    return somebody("ben", "analyst")
