"""A caller of the help desk."""

import pytest

from tests.api import Caller
from tests.worlds import desk


@pytest.fixture
def caller() -> Caller:
    desk()
    return Caller()
