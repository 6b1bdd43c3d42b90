"""A caller of the help desk."""

import pytest

from tests.api import Caller
from tests.worlds import create_help_desk


@pytest.fixture
def caller() -> Caller:
    create_help_desk()
    return Caller()
