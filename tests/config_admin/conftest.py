"""Who works in the admin."""

from collections.abc import Callable

import pytest
from django.test import Client

from tests.sign_in import sign_in


@pytest.fixture
def somebody(db: None) -> Callable[..., Client]:
    """A signed-in member of some groups."""
    return sign_in


@pytest.fixture
def ada(somebody: Callable[..., Client]) -> Client:
    """A configuration administrator."""
    return somebody("ada", "config_admin")


@pytest.fixture
def ben(somebody: Callable[..., Client]) -> Client:
    """An analyst."""
    return somebody("ben", "analyst")
