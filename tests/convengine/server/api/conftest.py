"""Who calls in the tests of the API."""

import pytest

from tests.api import Caller
from tests.worlds import create_help_desk


@pytest.fixture
def caller(db: None) -> Caller:
    """A caller of the help desk."""
    create_help_desk()
    return Caller()
