"""Who writes in the tests of threads."""

import pytest

from tests.threads import Participant, travel_desk


@pytest.fixture
def guest(db: None) -> Participant:
    """Somebody at the travel desk."""
    travel_desk()
    return Participant()
